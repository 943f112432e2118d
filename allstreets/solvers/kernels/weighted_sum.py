"""Sums over flops, by weight."""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import kernel


@kernel
def add_weighted(
    weights: NDArray[np.float64],
    values: NDArray[np.float64] | NDArray[np.float32],
    totals: NDArray[np.float64],
) -> None:
    """Add Σ over flops of weights [K] · values [P, K, H] to totals [P, H], flop after flop."""
    for pot in range(values.shape[0]):
        total = totals[pot]
        for flop in range(values.shape[1]):
            weight, row = weights[flop], values[pot, flop]
            for hand in range(len(total)):
                total[hand] += weight * row[hand]
