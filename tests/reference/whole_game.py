"""A whole game small enough to be written out, history by history, for the generic code of `cfr`.

A few hands of a few combos, a few flops, the real betting trees. Pairs of combos are found by
looking at every two combos, chips by adding up what was put in. Turn and river are integrated out:
a showdown after the flop pays its expectation, and so does an all-in before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import (
    IP,
    OOP,
    POSTFLOP,
    BettingTree,
    NodeKind,
    PreflopRules,
    Street,
    same_sizes,
)
from allstreets.cards import HAND_COUNT, parse_cards, parse_hand, preflop_equity
from allstreets.cards.flop_sets import named_flops
from allstreets.engines.card_model import DealtPairs
from allstreets.engines.matrix.cards import Stage
from allstreets.engines.matrix.engine import MatrixCards, MatrixEngine
from allstreets.games.whole_game import WholeGame

Array = NDArray[np.float64]
Pair = tuple[int, int]  # hands of OOP and IP

HANDS = {
    "AA": "AcAd AcAh AhAs",
    "AKo": "AcKd AdKc AsKh AhKs",
    "KQs": "KdQd KcQc KsQs",
    "77": "7c7d 7c7h 7d7s 7h7s",
    "T9s": "Tc9c Td9d Th9h Ts9s",
    "72o": "7c2d 7h2s 7d2h",
}
BLOCKING_FLOPS = ("Ks7h2d", "Ts9h3d:2", "As8s7h:0.5")
"""Flops beside which the two players cannot both have a pair of its rank."""
OPEN_FLOPS = ("Ks9h2d", "Ts9h3d:2", "Qs8s6h:0.5")
"""Flops on which every two hands can meet. Where they cannot, slow solvers count exactly nothing
and fast ones a rounding error, which regret matching may turn into a strategy."""
RUNOUTS = 990


@dataclass(frozen=True, eq=False)
class PlainWholeGame:
    """The rules, and the cards of every flop in two spellings: as stages, and pair by pair."""

    rules: WholeGame
    stages: list[tuple[Stage]]
    pairs: list[dict[Pair, int]]  # by flop: pairs of combos that fit, where there are any
    margin: list[dict[Pair, float]]  # by flop: what the first hand wins of the second, all pairs

    @cached_property
    def weights(self) -> list[float]:
        """How often each flop comes, in no particular unit."""
        return [float(weight) for weight in self.rules.flops.weights]

    @cached_property
    def dealt(self) -> dict[Pair, float]:
        """How often each pair of hands is dealt, all flops together."""
        dealt: dict[Pair, float] = {}
        for weight, pairs in zip(self.weights, self.pairs, strict=True):
            for pair, count in pairs.items():
                dealt[pair] = dealt.get(pair, 0.0) + weight * count
        return dealt

    def flop_games(self, threads: int = 1) -> MatrixEngine:
        """The same cards as the unified solver takes them."""
        trees = [(pot.tree, pot.payoffs) for pot in self.rules.pots]
        return MatrixEngine(trees, MatrixCards(self.stages, dealt_by(self.stages)), threads=threads)


def whole_game(
    hands: Sequence[str] = tuple(HANDS),
    flops: Sequence[str] = BLOCKING_FLOPS,
    stack: float = 8,
    raise_cap: int = 2,
    sizes: Sequence[float | str] = (1.0,),
    ante: float = 0.0,
    rake: float = 0.0,
    seed: int = 1,
) -> PlainWholeGame:
    """A game of some hands on some flops; who wins is random, but keeps to what is possible."""
    generator = np.random.default_rng(seed)
    rules = WholeGame(
        PreflopRules.parse(stack, [2.5], raise_cap, ante=ante, rake=rake),
        same_sizes(Street.FLOP, list(sizes), list(sizes)),
        named_flops(list(flops)),
        max_raises=1,
    )
    combos = {
        parse_hand(name): [parse_cards(text) for text in HANDS[name].split()] for name in hands
    }
    stages, all_pairs, all_margins = [], [], []
    for flop in rules.flops.flops:
        live = {
            hand: [cards for cards in members if not set(cards) & set(flop.cards)]
            for hand, members in combos.items()
        }
        pairs = _fitting_pairs(live)
        margins = _margins(pairs, generator)
        stages.append((_stage(live, margins),))
        all_pairs.append(pairs)
        all_margins.append(margins)
    return PlainWholeGame(rules, stages, all_pairs, all_margins)


def dealt_by(stages: Sequence[tuple[Stage]]) -> DealtPairs:
    """The pairs that the stages of some flops deal."""
    combos = np.array([stage.combos for (stage,) in stages])
    held = [stage.cards for (stage,) in stages if stage.cards is not None]
    return DealtPairs(combos, np.array(held) if held else None)


def _fitting_pairs(live: Mapping[int, Sequence[tuple[int, ...]]]) -> dict[Pair, int]:
    pairs: dict[Pair, int] = {}
    for first, firsts in live.items():
        for second, seconds in live.items():
            count = sum(not set(a) & set(b) for a in firsts for b in seconds)
            if count:
                pairs[first, second] = count
    return pairs


def _margins(pairs: Mapping[Pair, int], generator: np.random.Generator) -> dict[Pair, float]:
    """Whole runouts won − lost of a hand by a hand, over 990, as the stage holds them."""
    margins = {}
    for first, second in pairs:
        if first < second:
            most = RUNOUTS * pairs[first, second]
            share = float(np.float32(int(generator.integers(-most, most + 1)) / RUNOUTS))
            margins[first, second], margins[second, first] = share, -share
        elif first == second:
            margins[first, second] = 0.0
    return margins


def _stage(live: Mapping[int, Sequence[tuple[int, ...]]], margins: Mapping[Pair, float]) -> Stage:
    combos, cards = np.zeros(HAND_COUNT), np.zeros((HAND_COUNT, 52))
    for hand, members in live.items():
        combos[hand] = len(members)
        for held in members:
            cards[hand, list(held)] += 1
    margin = np.zeros((HAND_COUNT, HAND_COUNT), np.float32)
    for pair, share in margins.items():
        margin[pair] = share
    return Stage(POSTFLOP, combos, cards, margin)


# Strategies after the flop: (pot, flop, decision) → [A, 169]; before it: decision → [A, 169].
Before = Mapping[int, Array]
After = Mapping[tuple[int, int, int], Array]


@dataclass(frozen=True)
class WrittenOut:
    """`PlainWholeGame` as a `Game`; FIRST is OOP. Without rake only: the generic code is zero-sum.

    With strategies for after the flop nature plays them, and only the betting before it is free.
    """

    game: PlainWholeGame
    after: After | None = None
    name: str = "whole game"
    unit: str = "chips"

    def root(self) -> "History":
        """The state before the deal."""
        return History(self)


@dataclass(frozen=True)
class History:
    """A history: the hands, where the betting stands, and the flop once there is one."""

    written: WrittenOut = field(repr=False)
    hands: Pair | None = None
    node: int = 0  # of the preflop tree, and after the flop of the pot's tree
    pot: int | None = None
    flop: int | None = None

    @property
    def tree(self) -> BettingTree:
        rules = self.written.game.rules
        return rules.tree if self.pot is None else rules.pots[self.pot].tree

    @property
    def is_terminal(self) -> bool:
        return self.hands is not None and bool(self.tree.is_terminal[self.node])

    @property
    def is_chance(self) -> bool:
        if self.hands is None or (self.pot is not None and self.flop is None):
            return True
        free = self.flop is None or self.written.after is None
        return not (free and self.tree.kind[self.node] == NodeKind.DECISION)

    @property
    def player(self) -> int:
        return int(self.tree.player[self.node])

    def chance_outcomes(self) -> Sequence[tuple[str, float]]:
        moves = self._moves()
        total = sum(weight for _, weight in moves)
        return [(str(label), weight / total) for label, weight in moves]

    def _moves(self) -> list[tuple[object, float]]:
        """Nature's moves with their weights; none is impossible."""
        game = self.written.game
        if self.hands is None:
            return list(game.dealt.items())
        if self.flop is None:
            hands = self.hands
            by_flop = zip(game.weights, game.pairs, strict=True)
            weights = [weight * pairs.get(hands, 0) for weight, pairs in by_flop]
            return [(flop, weight) for flop, weight in enumerate(weights) if weight]
        if self.tree.kind[self.node] == NodeKind.CHANCE:
            return [(int(self.tree.children_of(self.node)[0]), 1.0)]
        assert self.written.after is not None
        assert self.pot is not None
        chances = self.written.after[self.pot, self.flop, self.node][:, self.hands[self.player]]
        children = self.tree.children_of(self.node).tolist()
        return [(child, p) for child, p in zip(children, chances.tolist(), strict=True) if p]

    def actions(self) -> Sequence[str]:
        return [f"{action.kind.name} {action.amount}" for action in self.tree.actions_at(self.node)]

    def child(self, index: int) -> "History":
        if not self.is_chance:
            return self._at(int(self.tree.children_of(self.node)[index]))
        label = self._moves()[index][0]
        if self.hands is None:
            assert isinstance(label, tuple)
            return replace(self, hands=label)
        assert isinstance(label, int)
        if self.flop is None:
            return replace(self, flop=label)
        return self._at(label)

    def _at(self, node: int) -> "History":
        """At a node of the same tree, or at the root of the pot that it becomes."""
        if self.pot is None and self.tree.kind[node] == NodeKind.CHANCE:
            pots = [pot.pot.node for pot in self.written.game.rules.pots]
            return replace(self, node=0, pot=pots.index(node))
        return replace(self, node=node)

    def information_set(self) -> str:
        assert self.hands is not None
        return key(self.player, self.hands[self.player], self.pot, self.flop, self.node)

    def utility(self) -> float:
        """OOP's win: the loser loses what he has put in on all streets."""
        assert self.hands is not None
        game, tree = self.written.game, self.tree
        put_in = tree.invested[self.node] + tree.pot / 2
        lost = float(put_in.min())
        if tree.kind[self.node] == NodeKind.FOLD:
            return -lost if tree.player[self.node] == OOP else lost
        if self.flop is None:
            return lost * float(2 * preflop_equity().equity[self.hands] - 1)
        return lost * game.margin[self.flop][self.hands] / game.pairs[self.flop][self.hands]


def key(player: int, hand: int, pot: int | None, flop: int | None, node: int) -> str:
    """The text of an information set."""
    where = "before" if pot is None else f"pot {pot} flop {flop}"
    return f"{'BB' if player == OOP else 'SB'} {hand} {where} node {node}"


def strategy_table(
    game: PlainWholeGame, before: Before, after: After | None = None
) -> dict[str, dict[str, float]]:
    """Strategies as the generic code takes them."""
    table = {}
    places = [(game.rules.tree, None, None, node, rows) for node, rows in before.items()]
    trees = [pot.tree for pot in game.rules.pots]
    below = [
        (trees[pot], pot, flop, node, rows) for (pot, flop, node), rows in (after or {}).items()
    ]
    for tree, pot, flop, node, rows in [*places, *below]:
        player = int(tree.player[node])
        labels = [f"{action.kind.name} {action.amount}" for action in tree.actions_at(node)]
        for hand in {hand for pair in game.dealt for hand in pair}:
            chances = rows[:, hand].tolist()
            table[key(player, hand, pot, flop, node)] = dict(zip(labels, chances, strict=True))
    return table


assert (OOP, IP) == (0, 1)  # FIRST and SECOND of the generic code
