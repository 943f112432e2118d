"""Betting trees as engines lay them out: their streets, and the slots of decisions in arrays.

Several trees may be in one list of nodes, so that one pass of the kernels serves them all.
Nothing here needs a kernel: stored solutions are shown without loading any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import BettingTree, NodeKind, Player, Street

Value = TypeVar("Value")
Trees = Sequence[tuple[BettingTree, Floats]]  # and payoffs, by pot


def deal_streets(tree: BettingTree, run_out: bool = False) -> list[Street]:
    """The streets of a tree from the first one to the last on which a card is dealt.

    Where all-ins are `run_out`, cards are dealt up to the river whatever the betting.
    """
    return [
        street
        for street in Street
        if street == tree.first_street
        or (run_out and street > tree.first_street)
        or bool(((tree.kind == NodeKind.CHANCE) & (tree.street == street - 1)).any())
    ]


@dataclass(frozen=True)
class NodeSlots:
    """The slots of a street's decision nodes in the stored arrays of their player."""

    slot: dict[int, int]  # tree node → actions of that player's nodes before it
    number: dict[int, int]  # tree node → that player's nodes before it
    actions: tuple[int, int]  # of all nodes of OOP, IP
    nodes: tuple[int, int]


def node_slots(tree: BettingTree, street: Street) -> NodeSlots:
    """Number the decision nodes of a street in the order of the tree."""
    actions, nodes = [0, 0], [0, 0]
    slot, number = {}, {}
    for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street)).tolist():
        player = int(tree.player[node])
        slot[node], number[node] = actions[player], nodes[player]
        actions[player] += int(tree.child_count[node])
        nodes[player] += 1
    return NodeSlots(slot, number, (actions[0], actions[1]), (nodes[0], nodes[1]))


@dataclass(frozen=True)
class NodeNumbers:
    """The solution at one decision node on one board; H hands of a player there."""

    player: Player
    combos: tuple[Longs, Longs]  # [H] of OOP and IP
    reach: tuple[Floats, Floats]  # [H] of OOP and IP: range weight times own actions so far
    met: tuple[Floats, Floats]  # [H] of OOP and IP: reach of the other's hands that fit beside it
    strategy: Floats  # [A, H] of the player who acts
    action_values: Floats  # [A, H]: his result in chips, relative to half the starting pot
    values: tuple[Floats, Floats]  # [H] of OOP and IP: result when both play on
    equity: tuple[Floats, Floats] | None = None  # [H] of OOP and IP, where it is already known


def side_by_side(trees: Sequence[BettingTree]) -> tuple[BettingTree, tuple[int, ...]]:
    """The nodes of all trees, one tree after the other, and their roots.

    Pot and stack are those of the first tree; those of the others are not used: payoffs are apart.
    """
    if len(trees) == 1:
        return trees[0], (0,)
    counts = [tree.node_count for tree in trees]
    roots = np.concatenate([[0], np.cumsum(counts)])
    edges = np.concatenate([[0], np.cumsum([len(tree.children) for tree in trees])])
    shifted = [
        (
            np.where(tree.parent < 0, -1, tree.parent + root),
            tree.first_child + edge,
            tree.children + root,
        )
        for tree, root, edge in zip(trees, roots, edges, strict=False)
    ]
    parent, first_child, children = (np.concatenate(parts) for parts in zip(*shifted, strict=True))
    joined = BettingTree(
        pot=trees[0].pot,
        stack=trees[0].stack,
        kind=np.concatenate([tree.kind for tree in trees]),
        street=np.concatenate([tree.street for tree in trees]),
        player=np.concatenate([tree.player for tree in trees]),
        parent=parent.astype(np.int32),
        first_child=first_child.astype(np.int32),
        child_count=np.concatenate([tree.child_count for tree in trees]),
        children=children.astype(np.int32),
        invested=np.concatenate([tree.invested for tree in trees]),
        actions=tuple(action for tree in trees for action in tree.actions),
        locks=_moved([tree.locks for tree in trees], roots),
        hand_locks=_moved([tree.hand_locks for tree in trees], roots),
    )
    return joined, tuple(int(root) for root, _ in pairwise(roots.tolist()))


def _moved(by_node: Sequence[Mapping[int, Value]], roots: Longs) -> dict[int, Value]:
    """Merge the trees' mappings by node, for trees that follow each other."""
    return {
        int(root) + node: value
        for here, root in zip(by_node, roots, strict=False)
        for node, value in here.items()
    }
