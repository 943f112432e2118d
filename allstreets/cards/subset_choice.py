"""Choosing a few things and their weights so that they stand for all, whatever the things are.

Each of F things has features [D] and a weight m. A function of a thing that is linear in the
features, with independent coefficients and some noise of its own, has the covariance

    K = Φ Φᵀ + NOISE · variance · I

and the sum Σ m_f · function(f) is known best from the K things S and the weights w that leave the
least variance (m − w)ᵀ K (m − w). For given S the best w solves K_SS w = K_S m, and one more thing
lowers the variance by its residual squared over its Schur complement. So:

1. Take the thing that lowers the variance most, until there are enough (greedy).
2. Exchange one for another as long as that lowers it further.
3. Weights must not be negative: solve for them again under that condition.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, Longs

Places = Longs

NOISE = 0.03  # of a thing's own, in variances of the features
LEAST_GAIN = 1e-3  # of the variance that is left: exchanges for less are not worth the time
TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class Choice:
    """K things that stand for all."""

    places: Places  # [K], ascending
    weights: Floats  # [K], positive; their sum is that of all weights


def variance(features: Floats, weights: Floats) -> float:
    """The weighted mean squared distance of features [F, D] from their mean."""
    shares = weights / weights.sum()
    apart = features - shares @ features
    return float(shares @ np.einsum("fd,fd->f", apart, apart))


def covariances(features: Floats, weights: Floats) -> Floats:
    """K [F, F] of things with features [F, D]."""
    found: Floats = features @ features.T
    found[np.diag_indices(len(found))] += NOISE * variance(features, weights)
    return found


def choose(features: Floats, weights: Floats, count: int) -> Choice:
    """`count` of F things and their weights; fewer only where more would weigh nothing."""
    matrix = covariances(features, weights)
    aims = matrix @ weights
    places = exchanged(matrix, aims, weights, greedy(matrix, aims, count))
    found = nonnegative(matrix[np.ix_(places, places)], aims[places])
    places, found = places[found > 0], found[found > 0]
    return Choice(places, found * (weights.sum() / found.sum()))


def remaining_error(features: Floats, weights: Floats, places: Places, chosen: Floats) -> float:
    """How far the chosen things are from all: 0 is the same, 1 as far as one thing at random.

    The distance between the two means of the features, in standard deviations of the features.
    """
    apart = chosen @ features[places] / chosen.sum() - weights @ features / weights.sum()
    return float(np.sqrt(apart @ apart / variance(features, weights)))


def greedy(matrix: Floats, aims: Floats, count: int) -> Places:
    """The places of `count` things, each the one that lowers the variance most when it comes."""
    residuals, left = aims.copy(), matrix.diagonal().copy()
    columns = np.zeros((count, len(matrix)))
    chosen: list[int] = []
    for number in range(count):
        gains = residuals**2 / left
        gains[chosen] = -1.0
        best = int(gains.argmax())
        column = matrix[best] - columns[:number, best] @ columns[:number]
        columns[number] = column / np.sqrt(column[best])
        residuals -= columns[number] * (residuals[best] / np.sqrt(left[best]))
        left = np.maximum(left - columns[number] ** 2, np.finfo(float).tiny)
        chosen.append(best)
    return np.sort(np.array(chosen))


def exchanged(matrix: Floats, aims: Floats, weights: Floats, places: Places) -> Places:
    """The best single exchange, again and again until none lowers the variance noticeably."""
    places, all_of_it = places.copy(), float(weights @ aims)
    while True:
        out, into, gain, known = _best_exchange(matrix, aims, places)
        if gain <= LEAST_GAIN * (all_of_it - known):
            return np.sort(places)
        places[out] = into


def _best_exchange(matrix: Floats, aims: Floats, places: Places) -> tuple[int, int, float, float]:
    """(what goes, what comes, by how much that lowers the variance, by how much all have)."""
    inverse = np.linalg.inv(matrix[np.ix_(places, places)])  # [K, K]
    lines = inverse @ matrix[places]  # [K, F]
    weights = inverse @ aims[places]  # [K]
    own = inverse.diagonal()[:, None]
    # What is left of every thing's aim and variance when one of the chosen has gone, [K, F].
    residuals = aims - weights @ matrix[places] + (weights[:, None] / own) * lines
    left = matrix.diagonal() - np.einsum("kf,kf->f", matrix[places], lines) + lines**2 / own
    gains = residuals**2 / np.maximum(left, TOLERANCE * matrix.diagonal())
    gains[:, places] = 0.0
    gains -= weights[:, None] ** 2 / own
    out, into = divmod(int(gains.argmax()), gains.shape[1])
    return out, into, float(gains[out, into]), float(weights @ aims[places])


def nonnegative(matrix: Floats, aims: Floats) -> Floats:
    """The w ≥ 0 that make wᵀ·matrix·w − 2·aims·w least, by active sets (Lawson and Hanson)."""
    weights = np.zeros(len(aims))
    active = np.zeros(len(aims), np.bool_)
    enough = TOLERANCE * float(np.abs(aims).max(initial=0.0))
    while True:
        slopes = np.where(active, -np.inf, aims - matrix @ weights)
        if active.all() or slopes.max() <= enough:
            return weights
        active[int(slopes.argmax())] = True
        while True:
            wanted = np.zeros_like(weights)
            wanted[active] = np.linalg.solve(matrix[np.ix_(active, active)], aims[active])
            negative = active & (wanted <= 0)
            if not negative.any():
                break
            # As far towards what is wanted as nothing becomes negative; what is 0 then goes.
            steps = weights[negative] / (weights[negative] - wanted[negative])
            weights += steps.min() * (wanted - weights)
            gone = negative & (weights <= TOLERANCE * weights.max())
            active &= ~gone
            weights[~active] = 0.0
        weights = wanted
