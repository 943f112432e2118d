"""Sums of outer products: what pairs of hands win, added up over the ends of a game."""

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.jit import kernel

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


@kernel
def add_outer_products(own: Floats, other: Floats, factors: Floats, sums: Floats) -> None:
    """sums [R, C] += Σ over t of factors[t] · own[t, R] ⊗ other[t, C]."""
    for row in range(sums.shape[0]):
        target = sums[row]
        for end in range(len(factors)):
            weight = factors[end] * own[end, row]
            if weight != 0.0:
                line = other[end]
                for column in range(len(target)):
                    target[column] += weight * line[column]


@kernel
def reach_of_ends(
    parent: Longs,
    player: Longs,
    actions: Longs,
    first_row: Longs,
    ends: Longs,
    shares: Floats,
    own: Floats,
    other: Floats,
) -> None:
    """Fill own [T, H] and other [T, H]: both players' reach at the ends of a tree, in pre-order.

    `parent`, `player` (0 is own; −1 where nobody acts), `actions` and `first_row` are by node [N];
    `shares` [S, H] are the rows of all decisions' actions, in proportion to how often they are
    played; where all are 0 they are played evenly. `ends` [T] are nodes.
    """
    hands = shares.shape[1]
    depth, met = np.zeros(len(parent), np.int64), np.zeros(len(parent), np.int64)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    # In pre-order a node's parent is the last node met that lies a level above it.
    levels = np.ones((depth.max() + 1, 2, hands))
    found = 0
    for node in range(len(parent)):
        here = levels[depth[node]]
        if node > 0:
            above = parent[node]
            here[:] = levels[depth[above]]
            if player[above] >= 0:
                acts, first, count = here[player[above]], first_row[above], actions[above]
                row = shares[first + met[above]]  # its actions are met one after the other
                met[above] += 1
                for hand in range(hands):
                    total = 0.0
                    for action in range(count):
                        total += shares[first + action, hand]
                    acts[hand] *= row[hand] / total if total > 0.0 else 1.0 / count
        if found < len(ends) and ends[found] == node:
            own[found], other[found] = here[0], here[1]
            found += 1
