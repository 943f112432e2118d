"""The way down at a decision node, which exact and matrix games share."""

import numpy as np

from allstreets.kernels.jit import kernel
from allstreets.kernels.matrix_layout import Floats
from allstreets.kernels.simd import TINY, fma, load, maximum, splat, store, where_positive

ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@kernel
def split_reach(
    reach: Floats, row: int, child: int, stored: Floats, slot: int, actions: int, hands: int
) -> None:
    """Reach rows of one node's actions: the node's reach times the strategy.

    `stored` holds regrets (to be matched) or an average strategy (to be normalised, since it is a
    sum or rounded to 16 bits): of both the strategy is the positive parts divided by their sum, and
    even where there are none.
    """
    zero = splat(ZERO)
    uniform, tiny = splat(ONE / np.float32(actions)), splat(TINY)
    for block in range(0, hands, 16):
        base = slot + block * actions
        total = zero
        for a in range(actions):
            total = total + maximum(load(stored, base + 16 * a), zero)
        here = load(reach, row * hands + block)
        scale = where_positive(total - tiny, here / total, zero)
        even = where_positive(total - tiny, zero, here * uniform)
        for a in range(actions):
            part = fma(maximum(load(stored, base + 16 * a), zero), scale, even)
            store(reach, (child + a) * hands + block, part)
