"""The part of a solution before the flop: strategies and values of every node by hand class."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, require_shape
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    BettingTree,
    NodeKind,
    Player,
    line_text,
    paid_at,
)
from allstreets.cards import HAND_SIZES
from allstreets.games import ClassLock, Strategies
from allstreets.solvers.decision import BB, NOWHERE, Decision, Evs, betting_at
from allstreets.solvers.equity import preflop_class_equity
from allstreets.solvers.hands import Hands
from allstreets.solvers.preflop.cfr import PreflopCfr


@dataclass(frozen=True, eq=False)
class PreflopSolution:
    """Both players' strategies before the flop, and their values."""

    tree: BettingTree
    pairs: Floats  # [169, 169] W: pairs of combos that are dealt
    strategies: Strategies  # decision → [A, 169]
    values: NDArray[np.floating[Any]] | None
    """[2, N, 169]: chips times pairs of combos, both playing so; None: not known."""
    locks: Mapping[int, ClassLock] = field(default_factory=dict)  # by decision

    @classmethod
    def of(cls, preflop: PreflopCfr, leaves: Floats | None) -> "PreflopSolution":
        """The averages of a solver; `leaves` [2, P, 169] are what its pots are worth then."""
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
        return cls(game.tree, game.pairs, average, values, game.locks)

    @classmethod
    def unpack(cls, tree: BettingTree, arrays: dict[str, NDArray[Any]]) -> "PreflopSolution":
        """What `arrays` holds."""
        strategies: Strategies = {}
        row = 0
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
            actions = int(tree.child_count[node])
            strategies[node] = arrays["strategies"][row : row + actions]
            row += actions
        hands = len(HAND_SIZES)
        require_shape(arrays, "strategies", (row, hands))
        require_shape(arrays, "pairs", (hands, hands))
        if "values" in arrays:
            require_shape(arrays, "values", (2, tree.node_count, hands))
        return cls(tree, arrays["pairs"], strategies, arrays.get("values"))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as plain arrays; the strategies of all decisions stand in pre-order."""
        rows = [self.strategies[node] for node in sorted(self.strategies)]
        arrays: dict[str, NDArray[Any]] = {
            "strategies": np.concatenate([np.zeros((0, len(HAND_SIZES))), *rows]),
            "pairs": self.pairs,
        }
        if self.values is not None:
            arrays["values"] = self.values.astype(np.float32)
        return arrays

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
            Hands(None, sizes, reach[one], reach[one] * met[one], float(sizes.sum()))
            for one in Player
        )
        paid = paid_at(tree, tree.pot, node)
        return Decision(
            line=line_text(tree, node, notation=BIG_BLINDS),
            board=(),
            **betting_at(tree, node, BB),
            paid=(BB.amount(paid[0]), BB.amount(paid[1])),
            hands=(oop, ip),
            deal=lambda: float(self.pairs.sum()),
            equate=lambda: preflop_class_equity(self.pairs, reach),
            evaluate=lambda: self._evs(node, (oop, ip), met),
            strategy=self.strategies.get(node, np.zeros((0, len(sizes)))),
            locked=self.locks[node].held if node in self.locks else NOWHERE,
        )

    def _evs(self, node: int, hands: tuple[Hands, Hands], met: Floats) -> Evs:
        """EVs in big blinds; `met` [2, 169] are the other's combos beside each hand."""
        tree = self.tree
        children = tree.children_of(node)
        if self.values is None:
            return Evs.unknown(hands, np.zeros((len(children), len(HAND_SIZES))))
        unit = np.where(met > 0, met, np.nan) * CHIPS_PER_BB
        oop, ip = self.values[:, node] / unit
        player = max(int(tree.player[node]), 0)
        return Evs((oop, ip), self.values[player, children] / unit[player])
