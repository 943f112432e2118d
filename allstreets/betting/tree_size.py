"""How large a betting tree is, street by street: all that an estimate needs."""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Longs
from allstreets.betting.table import Player, Street
from allstreets.betting.tree import BettingTree, NodeKind, read_only

STREETS, PLAYERS, KINDS = len(Street), len(Player), len(NodeKind)


@dataclass(frozen=True, eq=False)
class TreeSize:
    """Nodes and actions of a tree, cards not counted; all arrays are read-only."""

    first_street: Street
    nodes: Longs  # [street, NodeKind]; a CHANCE node counts for the street that is over
    decisions: Longs  # [street, player]
    actions: Longs  # [street, player]: of all these decisions

    def __post_init__(self) -> None:
        for counts in (self.nodes, self.decisions, self.actions):
            read_only(counts)

    @classmethod
    def of(cls, tree: BettingTree) -> "TreeSize":
        """The size of a tree that has been built."""
        nodes = np.zeros((STREETS, KINDS), np.int64)
        np.add.at(nodes, (tree.street, tree.kind), 1)
        acts = tree.kind == NodeKind.DECISION
        place = tree.street[acts], tree.player[acts]
        decisions, actions = np.zeros((2, STREETS, PLAYERS), np.int64)
        np.add.at(decisions, place, 1)
        np.add.at(actions, place, tree.child_count[acts])
        return cls(tree.first_street, nodes, decisions, actions)

    @property
    def node_count(self) -> int:
        """All nodes."""
        return int(self.nodes.sum())

    @property
    def decision_count(self) -> int:
        """All decisions."""
        return int(self.decisions.sum())

    @property
    def slots(self) -> int:
        """The actions of all decisions."""
        return int(self.actions.sum())

    @property
    def dealt_streets(self) -> list[Street]:
        """The streets from the first one to the last on which a card is dealt."""
        return [
            street
            for street in Street
            if street == self.first_street
            or (street > self.first_street and self.nodes[street - 1, NodeKind.CHANCE] > 0)
        ]

    def decision_counts(self) -> dict[Street, int]:
        """How many decisions there are on each street from the root's on."""
        return {
            street: int(self.decisions[street].sum())
            for street in Street
            if street >= self.first_street
        }
