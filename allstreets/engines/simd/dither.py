"""Rounding that leaves no trace in a running mean.

A mean stored in 16 bits moves by a fraction of its last digit once many iterations are behind it;
rounded to the nearest number it would not move at all, and its error would grow. Adding a number
between −1/2 and 1/2 before rounding lets it move now and then, as often as it should. Numbers that
walk round the unit interval by the golden ratio fill it evenly over any stretch of iterations, so
the errors cancel sooner than those of random numbers; they follow from the count of half-iterations
alone, so that a resumed run rounds like one that never stopped.
"""

from typing import Any

import numpy as np

from allstreets.base import kernel
from allstreets.engines.simd.vectors import LANES, load, splat, where_positive

GOLDEN = (5**0.5 - 1) / 2
LANE_PHASES = (np.arange(LANES) * GOLDEN % 1.0).astype(np.float32)
HALF = np.float32(0.5)
ONE = np.float32(1.0)
# Just short of ±1/2, so that 32767 and 0, which stand for 1 and 0, stay what they are.
WIDTH = np.float32(0.992)


def dither_phase(step: int) -> float:
    """Where the walk stands at a half-iteration, in 0..1.

    >>> [round(dither_phase(step), 3) for step in (1, 2, 3)]
    [0.618, 0.236, 0.854]
    """
    return step * GOLDEN % 1.0


@kernel
def dither(phase: np.float32) -> Any:
    """What is added to sixteen numbers before they are rounded."""
    place = load(LANE_PHASES, 0) + splat(phase)
    centred = where_positive(place - splat(ONE), place - splat(ONE + HALF), place - splat(HALF))
    return centred * splat(WIDTH)
