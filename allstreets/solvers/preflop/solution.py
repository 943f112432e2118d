"""The part of a solution before the flop: strategies and values of every node by hand class."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import (
    CHIPS_PER_BB,
    BettingTree,
    NodeKind,
    Player,
    Street,
    preflop_action_label,
    preflop_action_text,
    preflop_line_text,
)
from allstreets.cards import HAND_SIZES
from allstreets.solvers.class_node import NodeEvs, NodeView, chips_at
from allstreets.solvers.preflop.cfr import Floats, PreflopCfr, Strategies
from allstreets.solvers.reached import settled_actions


@dataclass(frozen=True, eq=False)
class PreflopSolution:
    """What both players do before the flop, and what it is worth to them."""

    tree: BettingTree
    pairs: Floats  # [169, 169] W: pairs of combos that are dealt
    strategies: Strategies  # decision → [A, 169]
    values: NDArray[np.floating[Any]] | None
    """[2, N, 169]: chips times pairs of combos, both playing so; None: not known."""

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
        return cls(preflop.game.tree, preflop.game.pairs, average, values)

    @classmethod
    def unpack(cls, tree: BettingTree, arrays: dict[str, NDArray[Any]]) -> "PreflopSolution":
        """What `arrays` holds."""
        strategies: Strategies = {}
        row = 0
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
            actions = int(tree.child_count[node])
            strategies[node] = arrays["strategies"][row : row + actions]
            row += actions
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

    def node(self, node: int) -> NodeView:
        """The decision at a node of the tree."""
        tree, reach = self.tree, self.reach[node]
        player = tree.player_at(node)
        children = tree.children_of(node).tolist()
        return NodeView(
            line=preflop_line_text(tree, node),
            flop=None,
            street=Street.PREFLOP,
            player=player,
            **chips_at(tree, node, player),
            actions=tuple(preflop_action_text(action) for action in tree.actions_at(node)),
            labels=tuple(preflop_action_label(tree, child) for child in children),
            strategy=self.strategies[node],
            reach=reach,
            combos=HAND_SIZES.astype(np.float64),
            weights=reach * self._met(node),
            dealt=float(self.pairs.sum()),
            settled=settled_actions(tree, node),
            evaluate=lambda: self.evs(node),
        )

    def _met(self, node: int) -> Floats:
        """[2, 169]: for each hand the other player's combos beside it that get here."""
        met: Floats = self.reach[node][::-1] @ self.pairs
        return met

    def evs(self, node: int) -> NodeEvs:
        """EVs at a decision, in big blinds."""
        tree = self.tree
        children = tree.children_of(node)
        if self.values is None:
            return NodeEvs.unknown(len(children))
        player = tree.player_at(node)
        met = self._met(node)
        met = np.where(met > 0, met, np.nan) * CHIPS_PER_BB
        return NodeEvs(self.values[:, node] / met, self.values[player, children] / met[player])
