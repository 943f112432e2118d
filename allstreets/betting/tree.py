"""The public tree of betting, flat and without cards.

N nodes are in depth-first pre-order, each before everything below it, node 0 the root. Cards are
left out: a CHANCE node has one child, the first decision of the next street, whichever card falls.
A tree of the betting before the flop ends with its street: its CHANCE nodes have no child.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Flags, Ints, Longs
from allstreets.betting.table import GRAINS, Player, Street, in_chips, neat

Scalar = TypeVar("Scalar", bound=np.generic)


class NodeKind(IntEnum):
    """The kind of a node."""

    DECISION = 0
    FOLD = 1  # the hand is over, a player folded
    SHOWDOWN = 2  # the betting is over; before the river: all-in, the cards to come are dealt
    CHANCE = 3  # the street is over, the next card is dealt


class ActionKind(IntEnum):
    """The kind of an action, in the order in which actions are listed."""

    FOLD = 0
    CHECK = 1
    CALL = 2
    BET = 3
    RAISE = 4
    ALL_IN = 5  # a bet or a raise of everything; calling an all-in is a CALL


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a player.

    `amount` is the total that he has then put in on this street, so a raise "to" 120: with the
    blind that he has posted, without the ante. It is 0 for a fold, a check and a call.
    """

    kind: ActionKind
    amount: float = 0  # a whole number wherever it is one

    @property
    def is_aggressive(self) -> bool:
        """Whether it is a bet or a raise, all-in or not."""
        return self.kind >= ActionKind.BET


@dataclass(frozen=True, eq=False)
class BettingTree:
    """N nodes in depth-first pre-order; all arrays are read-only.

    The children of node n, in the order of the actions, are
    children[first_child[n] : first_child[n] + child_count[n]].
    """

    pot: float  # chips in the middle at the root: dead money
    stack: float  # chips of each player at the root; before the flop with what he has posted
    kind: Bytes  # [N]: NodeKind
    street: Bytes  # [N]: Street; of a CHANCE node the street that is over
    player: NDArray[np.int8]  # [N]: who acts; at FOLD who folded; otherwise −1
    parent: Ints  # [N]: −1 for the root
    first_child: Ints  # [N]: where in `children` the node's own begin
    child_count: Ints  # [N]
    children: Ints  # [N−1]: nodes, grouped by parent
    # [N,2]: chips put in since the root by OOP, IP; blinds, antes too. Whole numbers unless the
    # game has amounts with decimals.
    invested: NDArray[Any]
    actions: tuple[Action | None, ...]  # [N]: action that led here; None at the root, after CHANCE
    locks: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    """Decisions that are not free: [A] how often each action is taken there, by every hand."""
    hand_locks: Mapping[int, Mapping[int, tuple[float, ...]]] = field(default_factory=dict)
    """The same for some of the 169 hands."""

    @property
    def is_locked(self) -> bool:
        """Whether some decision is not free."""
        return bool(self.locks or self.hand_locks)

    @property
    def node_count(self) -> int:
        """N."""
        return len(self.kind)

    @property
    def grain(self) -> Fraction:
        """The smallest part of a chip that amounts are rounded to."""
        return Fraction(1, GRAINS if self.invested.dtype.kind == "f" else 1)

    @property
    def first_street(self) -> Street:
        """The street of the root."""
        return Street(int(self.street[0]))

    def children_of(self, node: int) -> Ints:
        """The children of a node, in the order of the actions."""
        first = self.first_child[node]
        return self.children[first : first + self.child_count[node]]

    def actions_at(self, node: int) -> tuple[Action, ...]:
        """The actions of the player at a decision, in the order of the children."""
        actions = (self.actions[child] for child in self.children_of(node))
        return tuple(action for action in actions if action is not None)

    def decisions(self, street: Street | None = None) -> list[int]:
        """The decision nodes, in pre-order; of one street, if it is given."""
        chosen = self.kind == NodeKind.DECISION
        if street is not None:
            chosen &= self.street == street
        decisions: list[int] = np.flatnonzero(chosen).tolist()
        return decisions

    def player_at(self, node: int) -> Player:
        """The player who acts at a decision."""
        return Player(int(self.player[node]))

    def pot_at(self, node: int) -> float:
        """All chips in the middle, uncalled bets included."""
        return neat(self.pot + self.invested[node].sum().item())

    def stack_at(self, node: int, player: Player) -> float:
        """The chips that a player has left."""
        return neat(self.stack - self.invested[node, player].item())

    def to_call_at(self, node: int) -> float:
        """The chips that the player at a decision has to call."""
        player, invested = self.player_at(node), self.invested[node]
        return neat((invested[player.opponent] - invested[player]).item())

    def bets_at(self, node: int) -> tuple[float, float]:
        """The chips that OOP and IP have in front of them: put in on this street, no antes."""
        first = next(at for at in self.path_to(node) if self.street[at] == self.street[node])
        before = self.invested[first]
        if self.first_street == Street.PREFLOP:  # antes and blinds are posted at the root
            before = np.full(2, self._ante())
        oop, ip = (neat(put.item()) for put in self.invested[node] - before)
        return oop, ip

    def _ante(self) -> float:
        """The chips that each player posts before the flop besides his blind."""
        for node, action in enumerate(self.actions):
            if action is not None and action.is_aggressive:
                by = self.player_at(int(self.parent[node]))
                return float(self.invested[node, by] - action.amount)
        return 0.0

    def path_to(self, node: int) -> tuple[int, ...]:
        """The nodes from the root to a node, both included."""
        path = [node]
        while path[-1]:
            path.append(int(self.parent[path[-1]]))
        return tuple(reversed(path))

    @cached_property
    def is_terminal(self) -> Flags:
        """[N]: whether the hand is decided here, by a fold or a showdown."""
        return read_only((self.kind == NodeKind.FOLD) | (self.kind == NodeKind.SHOWDOWN))

    def decision_counts(self) -> dict[Street, int]:
        """The number of decisions on each street from the root's on, cards not counted."""
        decisions = self.street[self.kind == NodeKind.DECISION]
        return {
            street: int((decisions == street).sum())
            for street in Street
            if street >= self.first_street
        }


def make_tree(
    pot: int,
    stack: int,
    kind: list[int],
    street: list[int],
    player: list[int],
    parent: list[int],
    invested: list[tuple[int, int]],
    actions: list[Action | None],
    grains: int = 1,
) -> BettingTree:
    """Build a tree from its nodes in pre-order; the lists of children follow from the parents.

    Amounts are in grains, of which a chip has `grains`; the tree's are in chips.
    """
    parents = np.array(parent, np.int32)
    # Siblings are met in the order of their actions, so a stable sort keeps that order.
    children = np.argsort(parents[1:], kind="stable").astype(np.int32) + np.int32(1)
    child_count = np.bincount(parents[1:], minlength=len(parents)).astype(np.int32)
    first_child = np.concatenate([[0], np.cumsum(child_count)[:-1]]).astype(np.int32)
    chips: NDArray[Any] = np.array(invested, np.int64).reshape(-1, 2)
    if grains > 1:
        chips = chips / grains
        actions = [
            Action(action.kind, in_chips(int(action.amount), grains)) if action else None
            for action in actions
        ]
    return BettingTree(
        pot=in_chips(pot, grains),
        stack=in_chips(stack, grains),
        kind=read_only(np.array(kind, np.uint8)),
        street=read_only(np.array(street, np.uint8)),
        player=read_only(np.array(player, np.int8)),
        parent=read_only(parents),
        first_child=read_only(first_child),
        child_count=read_only(child_count),
        children=read_only(children),
        invested=read_only(chips),
        actions=tuple(actions),
    )


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, made read-only."""
    array.flags.writeable = False
    return array


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
        street_player = tree.street[acts], tree.player[acts]
        decisions, actions = np.zeros((2, STREETS, PLAYERS), np.int64)
        np.add.at(decisions, street_player, 1)
        np.add.at(actions, street_player, tree.child_count[acts])
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
        """The number of decisions on each street from the root's on."""
        return {
            street: int(self.decisions[street].sum())
            for street in Street
            if street >= self.first_street
        }
