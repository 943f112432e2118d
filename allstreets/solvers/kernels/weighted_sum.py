"""Sums over flops, by weight."""

from allstreets.base import Floats, Singles, kernel


@kernel
def add_weighted(
    weights: Floats,
    values: Floats | Singles,
    totals: Floats,
) -> None:
    """Add Σ over flops of weights [K] · values [P, K, H] to totals [P, H], flop after flop."""
    for pot in range(values.shape[0]):
        total = totals[pot]
        for flop in range(values.shape[1]):
            weight, row = weights[flop], values[pot, flop]
            for hand in range(len(total)):
                total[hand] += weight * row[hand]
