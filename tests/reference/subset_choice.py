"""Choosing things that stand for all, by trying everything."""

from itertools import combinations

import numpy as np

from allstreets.base import Floats


def variance_left(matrix: Floats, weights: Floats, places: list[int]) -> float:
    """The remaining variance of Σ m · f when f is known at some places."""
    aims = matrix @ weights
    inside = matrix[np.ix_(places, places)]
    return float(weights @ aims - aims[places] @ np.linalg.solve(inside, aims[places]))


def greedy(matrix: Floats, weights: Floats, count: int) -> list[int]:
    """One place after the other, each the one that leaves the least variance."""
    chosen: list[int] = []
    for _ in range(count):
        others = [place for place in range(len(matrix)) if place not in chosen]
        chosen.append(
            min(others, key=lambda place: variance_left(matrix, weights, [*chosen, place]))
        )
    return sorted(chosen)


def nonnegative(matrix: Floats, aims: Floats) -> Floats:
    """The w ≥ 0 with the least wᵀ·matrix·w − 2·aims·w, out of every set that may be positive."""
    best, least = np.zeros(len(aims)), 0.0
    for count in range(1, len(aims) + 1):
        for chosen in combinations(range(len(aims)), count):
            places = list(chosen)
            weights = np.zeros(len(aims))
            weights[places] = np.linalg.solve(matrix[np.ix_(places, places)], aims[places])
            found = float(weights @ matrix @ weights - 2 * aims @ weights)
            if weights.min() >= 0 and found < least:
                best, least = weights, found
    return best
