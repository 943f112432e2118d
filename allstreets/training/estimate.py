"""Estimates for a running job: speed and remaining time."""

import math
from collections.abc import Sequence

import numpy as np

WINDOW = 10  # checks that an estimate looks back
MIN_POINTS = 3  # a slope through two points is no trend
MAX_SECONDS = 10 * 365 * 86_400.0  # an estimate beyond ten years says nothing


def speed(points: Sequence[tuple[int, float]]) -> float | None:
    """Iterations per second over the latest of `points` (iteration, second); `None` = too early.

    The time of checks and checkpoints is part of it, since the user waits for them too.

    >>> speed([(0, 0.0), (100, 2.0), (200, 4.0)])
    50.0
    """
    recent = points[-WINDOW - 1 :]
    if len(recent) < 2:
        return None
    iterations, seconds = recent[-1][0] - recent[0][0], recent[-1][1] - recent[0][1]
    return iterations / seconds if iterations > 0 and seconds > 0 else None


def time_to_total(iteration: int, total: int | None, rate: float | None) -> float | None:
    """Seconds until `total` iterations are done."""
    if total is None or rate is None:
        return None
    return max(total - iteration, 0) / rate


def time_to_target(
    curve: Sequence[tuple[int, float]], target: float | None, rate: float | None
) -> float | None:
    """Seconds until the exploitability is `target`, if the curve goes on as lately.

    CFR's exploitability falls like a power of the iterations, a straight line on log-log paper.
    The line is fitted by least squares to the last checks, `curve` = (iteration, exploitability),
    and followed to the target. `None` when there are too few checks, when it does not fall, or
    when the answer lies beyond reason. The true curve jumps: take it as an order of magnitude.
    """
    if target is None or rate is None:
        return None
    points = [(x, y) for x, y in curve if x > 0 and y > 0][-WINDOW:]
    if len(points) < MIN_POINTS:
        return None
    log_x, log_y = np.log(np.array(points, dtype=np.float64)).T
    centred = log_x - log_x.mean()
    slope = float(centred @ log_y / (centred @ centred))
    if slope >= 0:
        return None
    exponent = (math.log(target) - float(log_y.mean())) / slope + float(log_x.mean())
    now = points[-1][0]
    if exponent > math.log(now + MAX_SECONDS * rate):
        return None
    return max(math.exp(exponent) - now, 0.0) / rate
