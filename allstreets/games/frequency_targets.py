"""The strategy nearest to a given one that takes its actions as often as bounds say.

Of all strategies q whose actions a are taken with a frequency Σ_h w_h·q_ah between least_a and
most_a (weights w of the hands, sum 1), the one with the least weighted squared change
Σ_h w_h·Σ_a (q_ah − p_ah)². The Lagrangian splits by hand: at prices λ_a of the actions, each hand
plays the point of the simplex nearest to p_h − λ. An action's frequency falls as its price rises,
so one bound is one bisection. Several are met in turns, each with the others' prices held: the
dual is smooth and concave but for kinks at λ_a = 0, so this ascends to its maximum.
"""

import numpy as np

from allstreets.base import Floats

STEPS = 50  # of a bisection
ROUNDS = 2_000
CLOSE = 1e-11  # of frequencies


def smallest_change(strategy: Floats, weights: Floats, least: Floats, most: Floats) -> Floats:
    """[A, H]: the strategy nearest to `strategy` [A, H] within `least` and `most` [A].

    `weights` [H] are those of the hands. Bounds that some strategy meets are assumed.
    """
    # What the others must have cannot be taken; an action that is never taken has no finite price.
    possible = np.minimum(most, 1 - (least.sum() - least)) > CLOSE
    changed = np.zeros_like(strategy)
    changed[possible] = _priced(
        strategy[possible], weights / weights.sum(), least[possible], most[possible]
    )
    return changed


def _priced(strategy: Floats, shares: Floats, least: Floats, most: Floats) -> Floats:
    """The same where every action can be taken; `shares` [H] sum to 1."""
    bound = np.flatnonzero((least > 0) | (most < 1))
    prices = np.zeros(len(strategy))
    for _ in range(ROUNDS):
        before = prices.copy()
        for action in bound.tolist():
            prices[action] = _price(strategy, shares, prices, action, least, most)
        met = _nearest(strategy - prices[:, None]) @ shares
        gap = np.maximum(least - met, met - most)[bound].max(initial=0.0)
        if len(bound) <= 1 or (gap < CLOSE and np.abs(prices - before).max() < CLOSE):
            break
    return _nearest(strategy - prices[:, None])


def _price(
    strategy: Floats, shares: Floats, prices: Floats, action: int, least: Floats, most: Floats
) -> float:
    """The price nearest to 0 at which an action is taken as often as its bounds say."""
    points = strategy - prices[:, None]

    def frequency(price: float) -> float:
        points[action] = strategy[action] - price
        return float(_nearest(points)[action] @ shares)

    free = frequency(0.0)
    if least[action] <= free <= most[action]:
        return 0.0
    # Beyond it every hand takes the action, or none does, whatever the others cost.
    edge = 2.0 + float(np.abs(prices).max())
    low, high = (0.0, edge) if free > most[action] else (-edge, 0.0)
    goal = most[action] if free > most[action] else least[action]
    for _ in range(STEPS):
        middle = (low + high) / 2
        if frequency(middle) > goal:
            low = middle
        else:
            high = middle
    return high if free > goal else low


def _nearest(points: Floats) -> Floats:
    """[A, H]: for each column the nearest point of the simplex: what is above a level is kept."""
    ordered = -np.sort(-points, axis=0)
    counts = np.arange(1, len(points) + 1)[:, None]
    levels = (np.cumsum(ordered, axis=0) - 1) / counts
    kept = (ordered > levels).sum(axis=0)
    level = np.take_along_axis(levels, kept[None] - 1, axis=0)
    nearest: Floats = np.maximum(points - level, 0.0)
    return nearest
