"""Ranges as curves: hands sorted by equity, the weakest first."""

import numpy as np

from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.solutions import Decision

STEPS = 199
"""Of a curve at most: with two points each and none lost, some 400 points."""

Points = list[tuple[float, float]]


def equity_curve(scene: Decision, player: Player) -> Points:
    """A step curve from x = 0 to x = 1; its area is the range's equity.

    Hands that lie within the same 199th of the range become one step at their mean.
    """
    weights, equity = scene.hands[player].weights, scene.equity(player)
    live = (weights > 0) & np.isfinite(equity)
    if not live.any():
        return []
    order = np.argsort(equity[live], kind="stable")
    heights, widths = equity[live][order], weights[live][order]
    widths = widths / widths.sum()
    if len(heights) > STEPS:
        heights, widths = _gathered(heights, widths)
    ends = np.concatenate([[0.0], np.cumsum(widths)])
    ends[-1] = 1.0
    points: Points = []
    for height, start, end in zip(
        heights.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True
    ):
        points += [(start, height), (end, height)]
    return points


def _gathered(heights: Floats, widths: Floats) -> tuple[Floats, Floats]:
    middles = np.cumsum(widths) - widths / 2
    places = np.minimum((middles * STEPS).astype(np.int64), STEPS - 1)
    totals = np.bincount(places, widths, minlength=STEPS).astype(np.float64)
    sums = np.bincount(places, widths * heights, minlength=STEPS)
    full = totals > 0
    return sums[full] / totals[full], totals[full]
