"""The roots above the flops of a solution: the betting before the flop.

`PreflopStrategies` holds strategies and values of every node by hand class. `PreflopRoots` are the
nodes of that tree; stack-to-pot ratios of flops that were solved one by one are in `flops`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, require_shape
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    BettingTree,
    NodeKind,
    Player,
    PreflopRules,
    WholeLine,
    flop_pots,
    line_text,
    paid_at,
    parse_line,
    payoffs,
)
from allstreets.cards import HAND_SIZES, preflop_class_equity
from allstreets.engines import CardModel
from allstreets.games import ClassLock, PreflopGame, Strategies, largest_one
from allstreets.solutions.decision import BB, NOWHERE, Decision, Evs, Hands, Unit, betting_at
from allstreets.solutions.records import OWN_GAME, Certificate, MadeSimple

if TYPE_CHECKING:
    from allstreets.solvers import PreflopCfr


@dataclass(frozen=True, eq=False)
class PreflopWorth:
    """The worth of play before the flop, and the pairs of combos that it is counted over."""

    pairs: Floats  # [169, 169] W: pairs of combos that are dealt
    values: NDArray[np.floating[Any]] | None = None
    """[2, N, 169]: chips times pairs of combos, both playing so; None: not known."""


@dataclass(frozen=True, eq=False)
class PreflopStrategies:
    """Both players' strategies before the flop, and their values when they are asked for."""

    tree: BettingTree
    strategies: Strategies  # decision → [A, 169]
    worth: Callable[[], PreflopWorth]
    locks: Mapping[int, ClassLock] = field(default_factory=dict)  # by decision
    ranges: NDArray[np.floating[Any]] | None = None
    """[2, P, 169]: those to solve flops for; None: those that get to the pots."""

    @classmethod
    def known(
        cls,
        tree: BettingTree,
        pairs: Floats,
        strategies: Strategies,
        values: NDArray[np.floating[Any]] | None,
        locks: Mapping[int, ClassLock] | None = None,
        ranges: NDArray[np.floating[Any]] | None = None,
    ) -> "PreflopStrategies":
        """Strategies over `pairs`, with their `values` if there are any."""
        found = PreflopWorth(pairs, values)
        return cls(tree, strategies, lambda: found, locks or {}, ranges)

    @classmethod
    def of(
        cls, preflop: "PreflopCfr", leaves: Floats | None, ranges: Floats | None = None
    ) -> "PreflopStrategies":
        """The averages of a solver; `leaves` [2, P, 169] are the values of its pots."""
        average = preflop.average()
        values = None
        if leaves is not None:
            values = np.stack(
                [
                    preflop.values(player, leaves[player], best=False, strategies=average)
                    for player in Player
                ]
            )
        game = preflop.game
        return cls.known(game.tree, game.pairs, average, values, game.locks, ranges)

    @classmethod
    def unpack(
        cls,
        tree: BettingTree,
        arrays: dict[str, NDArray[Any]],
        game: Callable[[], PreflopGame] | None = None,
    ) -> "PreflopStrategies":
        """Read what `arrays` wrote; for `compact` arrays the `game` computes the rest."""
        strategies: Strategies = {}
        row = 0
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
            actions = int(tree.child_count[node])
            strategies[node] = arrays["strategies"][row : row + actions]
            row += actions
        hands, pots = len(HAND_SIZES), len(flop_pots(tree))
        require_shape(arrays, "strategies", (row, hands))
        ranges = arrays.get("ranges")
        if ranges is not None:
            require_shape(arrays, "ranges", (2, pots, hands))
        if "pots" in arrays and game is not None:
            require_shape(arrays, "pots", (2, pots, hands))
            whole = {node: each.astype(np.float64) for node, each in strategies.items()}
            leaves = arrays["pots"].astype(np.float64)
            worth = cache(partial(_worth, game, whole, leaves))
            return cls(tree, whole, worth, ranges=ranges)
        require_shape(arrays, "pairs", (hands, hands))
        if "values" in arrays:
            require_shape(arrays, "values", (2, tree.node_count, hands))
        values = arrays.get("values")
        return cls.known(tree, arrays["pairs"], strategies, values, ranges=ranges)

    @property
    def pairs(self) -> Floats:
        """[169, 169] W: pairs of combos that are dealt."""
        return self.worth().pairs

    @property
    def values(self) -> NDArray[np.floating[Any]] | None:
        """[2, N, 169]: chips times pairs of combos, both playing so; None: not known."""
        return self.worth().values

    def arrays(self, *, compact: bool = False) -> dict[str, NDArray[Any]]:
        """Everything as plain arrays; the strategies of all decisions are in pre-order.

        `compact` arrays take a tenth of that: strategies in 32 bits, and only the values of the
        pots. Pairs and other values follow from the game.
        """
        rows = [self.strategies[node] for node in sorted(self.strategies)]
        strategies = np.concatenate([np.zeros((0, len(HAND_SIZES))), *rows])
        arrays: dict[str, NDArray[Any]] = {}
        if not compact or self.values is None:
            arrays |= {"strategies": strategies, "pairs": self.pairs}
            if self.values is not None:
                arrays["values"] = self.values.astype(np.float32)
        else:
            nodes = [pot.node for pot in flop_pots(self.tree)]
            pots = self.values[:, nodes].astype(np.float32)
            arrays |= {"strategies": strategies.astype(np.float32), "pots": pots}
        if self.ranges is not None:
            arrays["ranges"] = self.ranges.astype(np.float32)
        return arrays

    @cached_property
    def pot_reach(self) -> Floats:
        """[2, P, 169]: both players' reach at the pots that see a flop."""
        nodes = [pot.node for pot in flop_pots(self.tree)]
        return self.reach[nodes].transpose(1, 0, 2)

    @cached_property
    def pot_ranges(self) -> Floats:
        """[2, P, 169]: the ranges to solve flops of each pot for, the largest weight 1."""
        if self.ranges is not None:
            return self.ranges.astype(np.float64)
        return largest_one(self.pot_reach)

    @cached_property
    def reach(self) -> Floats:
        """[N, 2, 169]: both players' chance of playing to each node, by hand."""
        tree = self.tree
        reach = np.ones((tree.node_count, 2, len(HAND_SIZES)))
        for node in sorted(self.strategies):
            children = tree.children_of(node)
            reach[children] = reach[node]
            reach[children, tree.player[node]] *= self.strategies[node]
        return reach

    def node(self, node: int) -> Decision:
        """A node of the tree: a decision, the deal of a flop, or the end of a hand."""
        tree, reach = self.tree, self.reach[node]
        met: Floats = reach[::-1] @ self.pairs  # [2, 169]: the other's combos beside each hand
        sizes = HAND_SIZES.astype(np.float64)
        oop, ip = (
            Hands(None, sizes, reach[player], reach[player] * met[player], float(sizes.sum()))
            for player in Player
        )
        chips = paid_at(tree, tree.pot, node)
        paid = BB.amount(chips[0]), BB.amount(chips[1])
        actor = tree.player_at(node) if tree.kind[node] == NodeKind.DECISION else None
        return Decision(
            line=line_text(tree, node, notation=BIG_BLINDS),
            board=(),
            **betting_at(tree, node, BB),
            paid=paid,
            hands=(oop, ip),
            deal=lambda: float(self.pairs.sum()),
            equate=lambda: preflop_class_equity(self.pairs, reach),
            evaluate=lambda: self._results(node, (oop, ip), met).plus(paid, actor),
            strategy=self.strategies.get(node, np.zeros((0, len(sizes)))),
            locked=self.locks[node].held if node in self.locks else NOWHERE,
        )

    def _results(self, node: int, hands: tuple[Hands, Hands], met: Floats) -> Evs:
        """Results of the whole hand in bb; `met` [2, 169]: opposing combos beside each hand."""
        tree = self.tree
        children = tree.children_of(node)
        if self.values is None:
            return Evs.unknown(hands, np.zeros((len(children), len(HAND_SIZES))))
        unit = np.where(met > 0, met, np.nan) * CHIPS_PER_BB
        oop, ip = self.values[:, node] / unit
        player = max(int(tree.player[node]), 0)
        return Evs((oop, ip), self.values[player, children] / unit[player])


def _worth(game: Callable[[], PreflopGame], strategies: Strategies, leaves: Floats) -> PreflopWorth:
    """The worth of strategies in a game whose pots have the values `leaves` [2, P, 169]."""
    dealt = game()
    values = [
        dealt.values(player, leaves[player], best=False, strategies=strategies) for player in Player
    ]
    return PreflopWorth(dealt.pairs, np.stack(values))


@dataclass(frozen=True)
class SolutionFacts:
    """The figures of a solution as a whole, in mbb/hand; None = not known."""

    iterations: int
    algorithm: str
    exploitability: float | None  # of the whole game
    preflop_exploitability: float | None = None  # best response before the flop only
    values: tuple[float, float] | None = None  # of the game for OOP (big blind) and IP
    cards: CardModel | None = None  # None: no flops are played
    memory: str | None = None  # where regrets lived: resident, memmap, values
    seed: int = 1
    seconds: float = 0.0
    config: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[Mapping[str, Any], ...] = ()
    name: str | None = None
    description: str | None = None
    certificate: Certificate | None = None  # what it is worth with real cards
    simplified: MadeSimple | None = None  # the source, if it was made simple

    @property
    def judged(self) -> str:
        """The best response that found the exploitability: "in its own game"."""
        return OWN_GAME if self.simplified is None else self.simplified.judged


class Roots(ABC):
    """Roots above the flops: each is a number, and leads to a pot that sees a flop."""

    unit: Unit  # of amounts and EVs, with the names of the seats
    knows_ranges = True  # whether there are ranges before the flop is dealt

    @property
    def settings(self) -> Sequence[str]:
        """The labels of all roots, where one of them is picked before play begins; else none."""
        return ()

    @abstractmethod
    def tree(self, root: int) -> BettingTree:
        """The tree that a root is a node of."""

    @abstractmethod
    def payoffs(self, root: int) -> Floats:
        """[N, 2, 3]: its results where a hand ends, in chips."""

    @abstractmethod
    def read(self, text: str) -> int:
        """The root that the first part of a line names."""

    @abstractmethod
    def text(self, root: int) -> str:
        """The canonical text of a root."""

    @abstractmethod
    def decision(self, root: int) -> Decision:
        """Both ranges at a root, and the strategy where a player acts."""

    @abstractmethod
    def reach(self, root: int) -> Floats:
        """[2, 169]: both players' reach at a root."""

    def of_line(self, parts: WholeLine[int]) -> int:
        """The root of a line that was taken apart."""
        return parts.root

    def with_root(self, line: str) -> str:
        """A line whose first part is a root, though it may be left out."""
        return line

    def at_ratio(self, line: str, spr: float | None) -> str:
        """A line at a stack-to-pot ratio, where roots are ratios."""
        del spr
        return line


class PreflopRoots(Roots):
    """The nodes of the betting before the flop."""

    unit = BB

    def __init__(self, rules: PreflopRules, strategies: PreflopStrategies) -> None:
        self.rules, self.strategies = rules, strategies

    def tree(self, root: int = 0) -> BettingTree:
        """The betting before the flop."""
        del root
        return self.strategies.tree

    @cached_property
    def _payoffs(self) -> Floats:
        return payoffs(self.strategies.tree, self.rules)

    def payoffs(self, root: int = 0) -> Floats:
        """[N, 2, 3]: results where a hand ends before the flop."""
        del root
        return self._payoffs

    def read(self, text: str) -> int:
        """The node that words lead to."""
        return parse_line(self.strategies.tree, text, notation=BIG_BLINDS).node

    def text(self, root: int) -> str:
        """The line to a node."""
        return line_text(self.strategies.tree, root, notation=BIG_BLINDS)

    def decision(self, root: int) -> Decision:
        """A node by hand class."""
        return self.strategies.node(root)

    def reach(self, root: int) -> Floats:
        """[2, 169]: the reach of both players' play before the flop."""
        return np.asarray(self.strategies.reach[root], np.float64)
