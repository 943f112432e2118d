"""The classes game solved exactly by recursion, and the sampled game's steps by plain loops."""

import math
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from reference import kernels as naive

from allstreets.base import Floats
from allstreets.betting import BettingTree, NodeKind, Outcome, Player
from allstreets.cards import COMBO_CARDS, HAND_OF_COMBO, matchups
from allstreets.cfr import IterationWeights

Cards = tuple[int, ...]
Table = dict[tuple[int, int], NDArray[np.float32]]  # (node, class) → a number an action

GOLDEN = 0.6180339887498949


def combos_beside(flop: Cards) -> list[tuple[int, int, Cards]]:
    """(class, number, cards) of every combo that shares no card with the flop, in order."""
    combos = [
        (int(HAND_OF_COMBO[number]), number, tuple(cards))
        for number, cards in enumerate(COMBO_CARDS.tolist())
        if not set(cards) & set(flop)
    ]
    return sorted(combos)


class ExactClasses:
    """The game by hand classes: pairs of combos counted one by one, runouts enumerated.

    `hands` are the classes that either player may hold; pairs with others are not looked at.
    """

    def __init__(
        self, tree: BettingTree, payoffs: Floats, flop: Cards, hands: list[int] | None = None
    ) -> None:
        self.tree, self.payoffs = tree, payoffs
        rows = combos_beside(flop)
        columns = [combo for combo in rows if hands is None or combo[0] in hands]
        counted = matchups(
            flop, np.array([c[1] for c in rows]), np.array([c[1] for c in columns]), threads=1
        )
        held = [np.zeros((len(combos), 52)) for combos in (rows, columns)]  # who holds which card
        for holds, combos in zip(held, (rows, columns), strict=True):
            for place, (_, _, cards) in enumerate(combos):
                holds[place, list(cards)] = 1.0
        fits = (held[0] @ held[1].T == 0).astype(np.float64)
        runouts = counted.runouts
        share = (2.0 * counted.wins + counted.ties - runouts) / runouts * fits
        by_row, by_column = np.zeros((169, len(rows))), np.zeros((len(columns), 169))
        by_row[[c[0] for c in rows], range(len(rows))] = 1.0
        by_column[range(len(columns)), [d[0] for d in columns]] = 1.0
        self.pairs: Floats = by_row @ fits @ by_column  # [169, 169] W
        self.margin: Floats = by_row @ share @ by_column  # [169, 169]
        self.strategy = {
            node: np.full((int(tree.child_count[node]), 169), 1.0 / tree.child_count[node])
            for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist()
        }

    def set_average(self, node: int, strategy: Floats) -> None:
        """Play `strategy` [A, 169] at a node from now on."""
        assert strategy.shape == self.strategy[node].shape
        self.strategy[node] = strategy

    def best_response(self, player: Player, other: Floats) -> Floats:
        """[169] values of the best response."""
        return self.values(player, other, best=True)

    def evaluate(self, player: Player, other: Floats) -> Floats:
        """[169] values when both play their strategies."""
        return self.values(player, other, best=False)

    def values(
        self,
        player: Player,
        other: Floats,
        *,
        best: bool,
        regrets: dict[int, Floats] | None = None,
    ) -> Floats:
        """[169] values of the player; his counterfactual regrets go into `regrets`, if given."""
        tree, payoffs = self.tree, self.payoffs

        def below(node: int, reach: Floats) -> Floats:
            children = tree.children_of(node).tolist()
            if tree.kind[node] == NodeKind.FOLD:
                return np.asarray(payoffs[node, player, Outcome.WIN] * (self.pairs @ reach))
            if tree.kind[node] == NodeKind.SHOWDOWN:
                win, tie, lose = payoffs[node, player]
                even = (win + lose) / 2
                assert tie == even
                margin = (win - lose) / 2 * (self.margin @ reach)
                return np.asarray(margin + even * (self.pairs @ reach))
            if tree.kind[node] == NodeKind.CHANCE:
                return below(children[0], reach)
            strategy = self.strategy[node]
            if tree.player[node] != player:
                parts = [below(c, reach * strategy[a]) for a, c in enumerate(children)]
                return np.asarray(np.sum(parts, axis=0))
            actions = np.array([below(child, reach) for child in children])
            value = actions.max(axis=0) if best else (strategy * actions).sum(axis=0)
            if regrets is not None:
                regrets[node] = actions - value
            return np.asarray(value)

        return below(0, other)

    def exploitability(self, reach: tuple[Floats, Floats]) -> float:
        """Mean of both players' best-response gains, in chips."""
        gains = []
        for player in Player:
            own, other = reach[player], reach[player.opponent]
            gains.append(own @ (self.best_response(player, other) - self.evaluate(player, other)))
        return float(sum(gains) / 2 / (reach[0] @ self.pairs @ reach[1]))


class NaiveDeal(NamedTuple):
    """Two combos, turn and river, who wins."""

    hand: int
    other_hand: int
    combos: tuple[int, int]
    runout: Cards
    outcome: int


def first_above(sums: list[float], position: float) -> int:
    """The first place at which a sum is above `position`."""
    return next(place for place, reached in enumerate(sums) if reached > position)


def naive_deals(
    flop: Cards, own: Floats, other: Floats, count: int, random: Iterator[float]
) -> tuple[list[NaiveDeal], float]:
    """The deals, and Σ own · other over pairs that fit; weights are by class."""
    combos = combos_beside(flop)
    deck = [card for card in range(52) if card not in flop]
    weights = [float(other[combo[0]]) for combo in combos]
    sums = list(accumulate(weights))

    held = [place for place, weight in enumerate(weights) if weight]

    def fitting(cards: Cards) -> list[int]:
        return [place for place in held if not set(cards) & set(combos[place][2])]

    met = [sum(weights[place] for place in fitting(cards)) for _, _, cards in combos]
    own_sums = list(accumulate(own[c[0]] * m for c, m in zip(combos, met, strict=True)))
    deals: list[NaiveDeal] = []
    offset, number = next(random), next(random)
    for i in range(count):
        hand, mine, cards = combos[first_above(own_sums, (i + offset) * own_sums[-1] / count)]
        number = (number + GOLDEN) % 1
        drawn = combos[first_above(sums, number * sums[-1])]
        for _ in range(64):
            if set(drawn[2]) & set(cards):
                drawn = combos[first_above(sums, next(random) * sums[-1])]
        if set(drawn[2]) & set(cards):
            fits = fitting(cards)
            fit_sums = list(accumulate(weights[place] for place in fits))
            drawn = combos[fits[first_above(fit_sums, next(random) * fit_sums[-1])]]
        runout: list[int] = []
        while len(runout) < 2:
            card = deck[int(next(random) * 49)]
            if card not in (*cards, *drawn[2], *runout):
                runout.append(card)
        better = naive.showdown(cards, drawn[2], (*flop, *runout))
        outcome = {1: Outcome.WIN, 0: Outcome.TIE, -1: Outcome.LOSE}[better]
        deals.append(NaiveDeal(hand, drawn[0], (mine, drawn[1]), tuple(runout), outcome))
    return deals, own_sums[-1]


class NaiveSampled:
    """Steps of the sampled game; regrets and sums by (node, class).

    They are single precision here too: regrets that cancel would leave other remainders, and regret
    matching makes strategies of those.
    """

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Floats,
        flop: Cards,
        deals: int,
        random: Iterator[float],
    ) -> None:
        self.tree, self.payoffs, self.flop, self.deals = tree, payoffs, flop, deals
        self.random = random
        decisions = np.flatnonzero(tree.kind == NodeKind.DECISION).tolist()
        sets = [(node, hand) for node in decisions for hand in range(169)]
        self.own_way = {node: self.way(node) for node in decisions}
        counts = {node: int(tree.child_count[node]) for node in decisions}
        self.regrets = {key: np.zeros(counts[key[0]], np.float32) for key in sets}
        self.sums = {key: np.zeros(counts[key[0]], np.float32) for key in sets}

    def strategy(self, node: int, hand: int) -> NDArray[np.float32]:
        """Regret matching."""
        one = np.float32(1)
        positive = np.maximum(self.regrets[node, hand], np.float32(0))
        total = np.float32(sum(positive, np.float32(0)))
        if total > 0:
            return np.asarray(positive * (one / total))
        return np.full(len(positive), one / np.float32(len(positive)))

    def step(
        self,
        player: Player,
        own: Floats,
        other: Floats,
        now: IterationWeights,
        threshold: float | None = None,
    ) -> Floats:
        """One half-iteration."""
        mine = [key for key in self.regrets if self.tree.player[key[0]] == player]
        strategy = {key: self.strategy(*key) for key in self.regrets}
        for node, hand in mine:
            reach = own[hand] * math.prod(
                float(strategy[above, hand][action]) for above, action in self.own_way[node]
            )
            reach += own.max() / 100
            self.sums[node, hand] *= np.float32(now.average)
            self.sums[node, hand] += np.float32(now.weight * reach) * strategy[node, hand]
            regrets = self.regrets[node, hand]
            regrets *= np.where(regrets > 0, now.positive, now.negative).astype(np.float32)
        drawn = own + 0.1 * own.max()
        deals, pairs = naive_deals(self.flop, drawn, other, self.deals, self.random)
        values = np.zeros(169)
        for one in deals:
            weight = pairs / (self.deals * drawn[one.hand])
            values[one.hand] += weight * self.walk(player, one, strategy, weight, threshold)
        if now.floor > -np.inf:
            for key in mine:
                self.regrets[key] = np.maximum(self.regrets[key], np.float32(now.floor))
        return values

    def way(self, node: int) -> list[tuple[int, int]]:
        """The nodes and actions on the way to a node at which its player was to act."""
        return [
            (above, self.tree.children_of(above).tolist().index(below))
            for above, below in pairwise(self.tree.path_to(node))
            if self.tree.player[above] == self.tree.player[node]
        ]

    def walk(
        self,
        player: Player,
        one: NaiveDeal,
        strategy: Table,
        weight: float,
        threshold: float | None,
    ) -> float:
        """The value of the root; the regrets of all own nodes on the way are updated.

        The other's actions are drawn level by level, own nodes one after the other.
        """
        tree = self.tree
        results = self.payoffs[:, player, one.outcome]

        def ends(node: int) -> bool:
            return bool(tree.is_terminal[tree.children_of(node)].all())

        def follow(node: int) -> int:
            """The next own node, end, or node of the other after which all ends."""
            while True:
                if tree.kind[node] == NodeKind.CHANCE:
                    node = int(tree.children_of(node)[0])
                elif tree.kind[node] == NodeKind.DECISION and tree.player[node] != player:
                    if ends(node):
                        return node
                    chances = strategy[node, one.other_hand]
                    number = next(self.random)
                    action = sum(number >= total for total in accumulate(chances.tolist()[:-1]))
                    node = int(tree.children_of(node)[action])
                else:
                    return node

        def skipped(node: int, action: int) -> bool:
            key = (node, one.hand)
            unplayed = strategy[key][action] == 0
            return threshold is not None and bool(
                unplayed and self.regrets[key][action] < threshold
            )

        root = follow(0)
        below: dict[int, list[int | None]] = {}
        waiting = [root]
        while waiting:
            node = waiting.pop(0)
            if tree.kind[node] == NodeKind.DECISION and tree.player[node] == player:
                below[node] = [
                    None if skipped(node, action) else follow(child)
                    for action, child in enumerate(tree.children_of(node).tolist())
                ]
                waiting += [child for child in below[node] if child is not None]

        def value_of(node: int) -> float:
            if node in below:
                chances = strategy[node, one.hand].tolist()
                values = [0.0 if child is None else value_of(child) for child in below[node]]
                value = float(sum(p * v for p, v in zip(chances, values, strict=True)))
                for action, child in enumerate(below[node]):
                    if child is not None:
                        gain = weight * (values[action] - value)
                        self.regrets[node, one.hand][action] += np.float32(gain)
                return value
            if tree.kind[node] == NodeKind.DECISION:
                return float(strategy[node, one.other_hand] @ results[tree.children_of(node)])
            return float(results[node])

        return value_of(root)
