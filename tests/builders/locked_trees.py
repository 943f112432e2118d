"""Trees with decisions that are not free."""

from dataclasses import replace

import numpy as np

from allstreets.betting import BettingTree


def with_locks(tree: BettingTree, every: int) -> BettingTree:
    """The tree with a lock at every so many decisions; every second of them to one action."""
    locks = {}
    for place, node in enumerate(tree.decisions()[::every]):
        actions = int(tree.child_count[node])
        mixed = np.arange(1, actions + 1) / (actions * (actions + 1) / 2)
        chances = np.eye(actions)[-1] if place % 2 else mixed
        locks[node] = tuple(chances.tolist())
    return replace(tree, locks=locks)
