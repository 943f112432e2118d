"""A spot solved by loops: combos, cards and showdowns one by one, regrets in dictionaries.

Shares with the real solver only the betting tree, the payoffs and the discount schedule.
"""

from collections import defaultdict
from functools import cache

import numpy as np
from numpy.typing import NDArray
from reference import kernels as naive

from allstreets.betting import BettingTree, NodeKind
from allstreets.cards import COMBO_CARDS
from allstreets.cfr import Schedule

Weights = dict[int, float]  # combo → reach or value
Key = tuple[int, tuple[int, ...], int]  # node, board, combo
Numbers = dict[Key, NDArray[np.float64]]
ActionValues = dict[int, NDArray[np.float64]]  # combo → value of each action


@cache
def strength(combo: int, board: tuple[int, ...]) -> tuple[int, ...]:
    """The best five cards of a combo on a river."""
    return naive.hand_key([*COMBO_CARDS[combo].tolist(), *board])


@cache
def clashes(combo: int, cards: tuple[int, ...]) -> bool:
    """Whether a combo holds one of the cards."""
    return bool(set(COMBO_CARDS[combo].tolist()) & set(cards))


class NaiveSpot:
    """Vector CFR for a whole range at a time, every step spelled out."""

    every = 64  # iterations in which every strategy enters the average; later every second does

    def __init__(
        self,
        tree: BettingTree,
        payoffs: NDArray[np.float64],
        board: tuple[int, ...],
        ranges: tuple[Weights, Weights],
        schedule: Schedule,
        tremble: float = 0.0,
    ) -> None:
        self.tree, self.payoffs, self.board, self.ranges = tree, payoffs, board, ranges
        self.schedule, self.tremble = schedule, tremble
        self.regrets: Numbers = {}
        self.averages: Numbers = {}
        self.weights, self.waiting = [0.0, 0.0], [0.0, 0.0]

    def matched(
        self, stored: Numbers, node: int, board: tuple[int, ...], combo: int
    ) -> NDArray[np.float64]:
        """The strategy behind regrets or behind an average."""
        actions = len(self.tree.children_of(node))
        positive = np.maximum(stored.get((node, board, combo), np.zeros(actions)), 0)
        total = positive.sum()
        return positive / total if total > 0 else np.full(actions, 1 / actions)

    def step(self, player: int, iteration: int) -> Weights:
        """One half-iteration."""
        now = self.schedule.at(iteration)
        self.weights[player] = self.weights[player] * now.average + now.weight
        self.waiting[player] = self.waiting[player] * now.average + now.weight
        share = 0.0
        if iteration <= self.every or iteration % 2 == 0:
            share, self.waiting[player] = self.waiting[player] / self.weights[player], 0.0
        other = dict(self.ranges[1 - player])

        def update(node: int, board: tuple[int, ...], below: ActionValues) -> Weights:
            found = {}
            for combo, values in below.items():
                key = (node, board, combo)
                strategy = self.matched(self.regrets, *key)
                value = float(strategy @ values)
                regrets = self.regrets.get(key, np.zeros(len(values)))
                kept = np.where(regrets > 0, regrets * now.positive, regrets * now.negative)
                new = kept + values - value
                self.regrets[key] = np.maximum(new, now.floor)
                mean = self.averages.get(key, np.zeros(len(values)))
                self.averages[key] = mean + (strategy - mean) * share
                found[combo] = float(self.between(strategy, key, now.ahead) @ values)
            return found

        return self.walk(0, self.board, player, other, self.regrets, update)

    def between(self, played: NDArray[np.float64], key: Key, ahead: float) -> NDArray[np.float64]:
        """The played strategy, moved towards that of the new regrets if one is positive."""
        if not (self.regrets[key] > 0).any():
            return played
        return (1 - ahead) * played + ahead * NaiveSpot.matched(self, self.regrets, *key)

    def best_response(self, player: int) -> Weights:
        """Values of the best response to the other's average strategy."""
        return self.walk(
            0, self.board, player, dict(self.ranges[1 - player]), self.averages,
            lambda *_, below: {c: float(values.max()) for c, values in below.items()},
        )  # fmt: skip

    def evaluate(self, player: int) -> Weights:
        """Values when both play their averages."""
        return self.walk(
            0, self.board, player, dict(self.ranges[1 - player]), self.averages,
            lambda node, board, below: {
                c: float(self.matched(self.averages, node, board, c) @ values)
                for c, values in below.items()
            },
        )  # fmt: skip

    def walk(self, node, board, player, other, stored, decide) -> Weights:  # type: ignore[no-untyped-def]
        """Counterfactual values of the player's hands below a node."""
        tree, kind = self.tree, self.tree.kind[node]
        mine = [combo for combo in self.ranges[player] if not clashes(combo, board)]
        if kind == NodeKind.FOLD:
            result = float(self.payoffs[node, player, 0])
            return {c: result * self.met(c, other) for c in mine}
        if kind == NodeKind.SHOWDOWN:
            return self.showdown(node, board, player, mine, other)
        if kind == NodeKind.CHANCE:
            child = int(tree.children_of(node)[0])
            return self.deal(
                board, mine, other, lambda b, o: self.walk(child, b, player, o, stored, decide)
            )
        children = tree.children_of(node).tolist()
        if tree.player[node] == player:
            below = [self.walk(c, board, player, other, stored, decide) for c in children]
            by_combo = {c: np.array([v[c] for v in below]) for c in mine}
            found: Weights = decide(node, board, below=by_combo)
            return found
        total: Weights = defaultdict(float)
        chances = {c: self.matched(stored, node, board, c) for c in other}
        if stored is self.regrets:  # no trembles where strategies are evaluated
            least, rest = self.tremble, 1 - len(children) * self.tremble
            chances = {c: rest * chance + least for c, chance in chances.items()}
        for place, child in enumerate(children):
            reach = {c: r * chances[c][place] for c, r in other.items()}
            for combo, value in self.walk(child, board, player, reach, stored, decide).items():
                total[combo] += value
        return dict(total)

    def met(self, combo: int, other: Weights) -> float:
        """Reach of the hands that fit beside a combo."""
        cards = tuple(COMBO_CARDS[combo].tolist())
        return sum(reach for c, reach in other.items() if not clashes(c, cards))

    def deal(self, board, mine, other, below) -> Weights:  # type: ignore[no-untyped-def]
        """Every next card, each as likely as the others once both hands are known."""
        total = dict.fromkeys(mine, 0.0)
        for card in range(52):
            if card in board:
                continue
            live = {c: r for c, r in other.items() if not clashes(c, (card,))}
            for combo, value in below((*board, card), live).items():
                total[combo] += value / (48 - len(board))
        return total

    def showdown(self, node, board, player, mine, other) -> Weights:  # type: ignore[no-untyped-def]
        """Compare all pairs, after dealing what is left to deal."""
        if len(board) < 5:
            return self.deal(
                board, mine, other,
                lambda b, o: self.showdown(
                    node, b, player, [c for c in mine if not clashes(c, b)], o
                ),
            )  # fmt: skip
        win, tie, lose = self.payoffs[node, player].tolist()
        values = {}
        for combo in mine:
            cards = tuple(COMBO_CARDS[combo].tolist())
            own, value = strength(combo, board), 0.0
            for against, reach in other.items():
                if not clashes(against, cards):
                    his = strength(against, board)
                    value += reach * (win if own > his else lose if own < his else tie)
            values[combo] = value
        return values
