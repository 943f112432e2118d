"""Several betting trees in one list of nodes, so that one pass of the kernels serves them all."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import BettingTree

Told = TypeVar("Told")
Trees = Sequence[tuple[BettingTree, Floats]]  # and payoffs, by pot


def side_by_side(trees: Sequence[BettingTree]) -> tuple[BettingTree, tuple[int, ...]]:
    """The nodes of all trees, one tree after the other, and their roots.

    Pot and stack are those of the first: of the others nobody asks, since payoffs stand apart.
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


def _moved(by_node: Sequence[Mapping[int, Told]], roots: Longs) -> dict[int, Told]:
    """What trees say of their nodes, where these stand behind each other."""
    return {
        int(root) + node: told
        for here, root in zip(by_node, roots, strict=False)
        for node, told in here.items()
    }
