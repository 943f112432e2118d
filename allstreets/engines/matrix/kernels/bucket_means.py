"""k-means, sixteen points at a time, and the best intervals of a line.

Points stand in `blocks` [N / 16, D, 16], one per lane, padded with points of weight 0. Every sum
runs in a fixed order: the same points and draws give the same clusters.
"""

import numpy as np

from allstreets.base import Floats, Ints, Singles, inner_kernel, kernel
from allstreets.engines.simd.vectors import fma, load, splat, store, where_positive

BLOCK = 16
FAR = np.float32(1e30)
"""Farther than any squared distance between points."""


@inner_kernel
def come_closer(
    blocks: Singles,
    weights: Floats,
    candidate: Singles,
    nearest: Singles,
    out: Singles,
    mass: Floats,
) -> None:
    """Squared distances to the nearest centre when there is one more, and their running sum."""
    block_count, dimensions, _ = blocks.shape
    flat = blocks.reshape(-1)
    whole = 0.0
    for block in range(block_count):
        first = block * BLOCK
        away = splat(np.float32(0.0))
        for d in range(dimensions):
            step = load(flat, first * dimensions + d * BLOCK) - splat(candidate[d])
            away = fma(step, step, away)
        before = load(nearest, first)
        store(out, first, where_positive(before - away, away, before))
        for point in range(first, first + BLOCK):
            whole += weights[point] * out[point]
            mass[point] = whole


@kernel
def seed_centres(
    blocks: Singles,
    weights: Floats,
    draws: Floats,
    centres: Singles,
) -> None:
    """k-means++: every row of `centres` [K, D] becomes a point, drawn by weight × distance².

    The distance is that to the nearest centre so far; the first draw is by weight alone. For each
    centre a row of `draws` [K, C] gives numbers in [0, 1) that draw candidates, and the candidate
    that leaves the least Σ weight × distance² is taken. `weights` [N] are those of the padded
    points. There must be at least K different points.
    """
    point_count = len(weights)
    # The current state, and what each candidate would make of it; the best one's is swapped in.
    nearest = np.full(point_count, FAR, np.float32)
    mass = np.cumsum(weights * nearest)  # of all points up to this one
    tried_nearest, tried_mass = np.empty_like(nearest), np.empty_like(mass)
    best_nearest, best_mass = np.empty_like(nearest), np.empty_like(mass)
    for number in range(len(centres)):
        whole = mass[-1]
        # A draw just below 1 may be rounded up to the whole: the last point with any mass then.
        last = np.searchsorted(mass, whole, side="left")
        best_mass[-1] = np.inf
        for draw in draws[number]:
            point = min(np.searchsorted(mass, draw * whole, side="right"), last)
            candidate = blocks[point // BLOCK, :, point % BLOCK]
            come_closer(blocks, weights, candidate, nearest, tried_nearest, tried_mass)
            if tried_mass[-1] < best_mass[-1]:
                tried_nearest, best_nearest = best_nearest, tried_nearest
                tried_mass, best_mass = best_mass, tried_mass
                for d in range(len(candidate)):
                    centres[number, d] = candidate[d]
        nearest, best_nearest = best_nearest, nearest
        mass, best_mass = best_mass, mass


@inner_kernel
def find_nearest(
    blocks: Singles,
    centres: Singles,
    labels: Singles,
    distances: Singles,
) -> None:
    """The nearest centre of every point, the first of equals, into `labels` [N], and how far it is.

    Labels are small whole numbers as floats, since they travel in the lanes of the distances.
    """
    block_count, dimensions, _ = blocks.shape
    flat = blocks.reshape(-1)
    for block in range(block_count):
        start = block * dimensions * BLOCK
        nearest = splat(FAR)
        label = splat(np.float32(0.0))
        for number in range(len(centres)):
            centre = centres[number]
            away = splat(np.float32(0.0))
            for d in range(dimensions):
                step = load(flat, start + d * BLOCK) - splat(centre[d])
                away = fma(step, step, away)
            closer = nearest - away
            nearest = where_positive(closer, away, nearest)
            label = where_positive(closer, splat(np.float32(number)), label)
        store(labels, block * BLOCK, label)
        store(distances, block * BLOCK, nearest)


@inner_kernel
def move_centres(
    blocks: Singles,
    weights: Floats,
    labels: Singles,
    distances: Singles,
    centres: Singles,
) -> None:
    """Every centre goes to the mean of its points.

    A centre without points goes to the point that adds most to the sum of squared distances, each
    to another one; `distances` of these points become 0.
    """
    _, dimensions, _ = blocks.shape
    sums = np.zeros(centres.shape, np.float64)
    mass = np.zeros(len(centres), np.float64)
    for point in range(len(weights)):
        own = np.int64(labels[point])
        weight = weights[point]
        mass[own] += weight
        for d in range(dimensions):
            sums[own, d] += weight * blocks[point // BLOCK, d, point % BLOCK]
    for number in range(len(centres)):
        if mass[number] > 0.0:
            for d in range(dimensions):
                centres[number, d] = sums[number, d] / mass[number]
        else:
            worst = np.argmax(weights * distances)
            distances[worst] = 0.0
            for d in range(dimensions):
                centres[number, d] = blocks[worst // BLOCK, d, worst % BLOCK]


@kernel
def lloyd(
    blocks: Singles,
    weights: Floats,
    centres: Singles,
    limit: int,
    labels: Singles,
) -> int:
    """Lloyd's rounds until no point changes its centre, `limit` at most; how many there were.

    `labels` [N] are the centres that the points chose in the last round.
    """
    before = np.full(len(labels), np.float32(-1.0))
    distances = np.empty(len(labels), np.float32)
    for done in range(limit):
        find_nearest(blocks, centres, labels, distances)
        changed = False
        for point in range(len(labels)):
            changed |= labels[point] != before[point]
            before[point] = labels[point]
        if not changed:
            return done + 1
        move_centres(blocks, weights, labels, distances, centres)
    return limit


@kernel
def cut_line(values: Floats, weights: Floats, starts: Ints) -> None:
    """The K intervals of a line of rising values [V] with the least Σ weight × distance² to means.

    `starts` [K] gets the first value of each interval. The best cost of the first i values in k
    intervals is the least, over the start j of the last interval, of the cost of j values in k − 1
    intervals plus that of the last. The best j never falls when i or k grows (Knuth 1971, Yao
    1980), so it is enough to search between the answers for k − 1 and for i + 1: some V · (V + K)
    steps in all.
    """
    count, size = len(starts), len(values)
    mass = np.zeros(size + 1, np.float64)
    first = np.zeros(size + 1, np.float64)
    second = np.zeros(size + 1, np.float64)
    for i in range(size):
        mass[i + 1] = mass[i] + weights[i]
        first[i + 1] = first[i] + weights[i] * values[i]
        second[i + 1] = second[i] + weights[i] * values[i] * values[i]
    best = np.empty(size + 1, np.float64)  # of the first i values, in the intervals so far
    start = np.zeros((count, size + 1), np.int32)  # of the last of these intervals
    best[0] = 0.0
    for i in range(1, size + 1):
        best[i] = second[i] - first[i] * first[i] / mass[i]
    for k in range(1, count):
        above = size - 1
        # Falling i, so that best[j] for j < i is still that of k − 1 intervals.
        for i in range(size, k, -1):
            least = np.inf
            lowest = max(k, start[k - 1, i])
            chosen = lowest
            for j in range(lowest, max(lowest, min(above, i - 1)) + 1):
                part = first[i] - first[j]
                cost = best[j] + (second[i] - second[j]) - part * part / (mass[i] - mass[j])
                if cost < least:
                    least = cost
                    chosen = j
            best[i] = least
            start[k, i] = chosen
            above = chosen
    end = size
    for k in range(count - 1, -1, -1):
        starts[k] = start[k, end]
        end = start[k, end]
