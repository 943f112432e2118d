"""Sums of outer products: what pairs of hands win, added up over the ends of a game."""

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.jit import kernel

Floats = NDArray[np.float64]


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
