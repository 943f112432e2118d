"""Strategies as whole numbers: sums rounded to one or two bytes."""

import numpy as np

from allstreets.kernels.jit import kernel
from allstreets.kernels.matrix_layout import Floats, Longs
from allstreets.kernels.simd import LANES


@kernel
def round_shares(sums: Floats, starts: Longs, actions: Longs, blocks: int, largest: int) -> None:
    """Round the sums [node][hand / 16][action][16] of some nodes to whole numbers, in place.

    A hand's largest sum becomes `largest`, the others keep their proportion to it. `starts` and
    `actions` [nodes] say where a node's sums begin and how many actions it has.
    """
    for node in range(len(starts)):
        count = actions[node]
        for block in range(blocks):
            first = starts[node] + block * count * LANES
            for place in range(first, first + LANES):
                most = np.float64(0.0)
                for action in range(count):
                    most = max(most, np.float64(sums[place + action * LANES]))
                if most > 0.0:
                    for action in range(count):
                        share = np.float64(sums[place + action * LANES]) / most
                        sums[place + action * LANES] = np.float32(np.rint(share * largest))
