"""k-means of hands that are described by sixteen numbers each, in a fixed order of sums.

Points stand in `blocks` [N / 16, 16, 16]: sixteen of them, one per lane, by dimension; what fills
the last block up weighs nothing. The kernels for GPUs (`kernels/cuda/groups.cu`) add the same
numbers in the same order and round them alike: the same points and draws give the same clusters
there, bit for bit. So a sum over points is one by lane, from the first block to the last, and then
one over the lanes; and multiply-adds are fused where `fma` says so, and nowhere else.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.exact_layout import Floats
from allstreets.kernels.jit import inner_kernel, kernel
from allstreets.kernels.simd import fma, load, splat, store, where_positive

DIMENSIONS = 16
LANES = 16
FAR = np.float32(1e30)
"""Farther than any squared distance between points."""


@inner_kernel
def come_closer(
    blocks: Floats,
    weights: Floats,
    point: int,
    nearest: Floats,
    out: Floats,
    sums: Floats,
) -> None:
    """Squared distances to the nearest centre when `point` is one too, and their sums by lane."""
    at = point // LANES * DIMENSIONS * LANES + point % LANES
    mass = splat(np.float32(0.0))
    for block in range(len(weights) // LANES):
        away = splat(np.float32(0.0))
        for d in range(DIMENSIONS):
            step = load(blocks, (block * DIMENSIONS + d) * LANES) - splat(blocks[at + d * LANES])
            away = fma(step, step, away)
        before = load(nearest, block * LANES)
        now = where_positive(before - away, away, before)
        store(out, block * LANES, now)
        mass = mass + load(weights, block * LANES) * now
    store(sums, 0, mass)


@inner_kernel
def whole_sum(sums: Floats) -> np.float32:
    """Of all lanes."""
    whole = np.float32(0.0)
    for lane in range(LANES):
        whole += sums[lane]
    return whole


@inner_kernel
def drawn(weights: Floats, nearest: Floats, sums: Floats, wanted: np.float32) -> int:
    """The point at which the running sum of weight × distance², lane after lane, exceeds `wanted`.

    A sum that rounding keeps below it ends with the last point that adds anything.
    """
    chosen, below = 0, np.float32(0.0)
    lane, found = 0, 0
    while lane < LANES:
        if sums[lane] > np.float32(0.0):
            found = lane
            if below + sums[lane] > wanted:
                break
            below += sums[lane]
        lane += 1
    if lane == LANES:
        wanted = FAR  # and so the last of the last lane
    chosen = found
    for point in range(found, len(weights), LANES):
        mass = weights[point] * nearest[point]
        if mass > np.float32(0.0):
            chosen = point
            below += mass
            if below > wanted:
                break
    return chosen


@inner_kernel
def seed_centres(blocks: Floats, weights: Floats, draws: Floats, centres: Floats) -> None:
    """k-means++: every one of `centres` [K, 16] becomes a point, drawn by weight × distance².

    The distance is that to the nearest centre so far; the first draw goes by weight alone. For each
    centre as many candidates are drawn as a row of `draws` [K, …] has numbers in [0, 1), and the
    one is taken that leaves the least Σ weight × distance². If there are fewer different points
    than centres, some centres are the same.
    """
    nearest = np.ones(len(weights), np.float32)
    sums = np.zeros(LANES, np.float32)
    for point in range(len(weights)):
        sums[point % LANES] += weights[point]
    tried, tried_sums = np.empty_like(nearest), np.empty_like(sums)
    best, best_sums = np.empty_like(nearest), np.empty_like(sums)
    for number in range(len(draws)):
        whole = whole_sum(sums)
        least, chosen = np.float32(np.inf), 0
        points = np.zeros(draws.shape[1], np.int64)
        for candidate in range(draws.shape[1]):
            points[candidate] = drawn(weights, nearest, sums, draws[number, candidate] * whole)
        if number == 0:
            nearest[:] = FAR
        for point in points:
            come_closer(blocks, weights, point, nearest, tried, tried_sums)
            left = whole_sum(tried_sums)
            if left < least:
                tried, best = best, tried
                tried_sums, best_sums = best_sums, tried_sums
                least, chosen = left, point
        nearest, best = best, nearest
        sums, best_sums = best_sums, sums
        for d in range(DIMENSIONS):
            at = (chosen // LANES * DIMENSIONS + d) * LANES + chosen % LANES
            centres[number, d] = blocks[at]


@inner_kernel
def find_nearest(blocks: Floats, centres: Floats, labels: Floats) -> None:
    """The nearest centre of every point, the first of equals, into `labels` [N].

    Half the squared distance is |c|² / 2 − x · c, but for what all centres share. Labels are small
    whole numbers as floats, since they travel in the lanes of the distances.
    """
    half = np.zeros(len(centres), np.float32)
    for number in range(len(centres)):
        size = np.float32(0.0)
        for d in range(DIMENSIONS):
            size += centres[number, d] * centres[number, d]
        half[number] = np.float32(0.5) * size
    turned = (-centres).reshape(-1)
    for block in range(len(labels) // LANES):
        nearest = splat(FAR)
        label = splat(np.float32(0.0))
        for number in range(len(half)):
            away = splat(half[number])
            for d in range(DIMENSIONS):
                point = load(blocks, (block * DIMENSIONS + d) * LANES)
                away = fma(point, splat(turned[number * DIMENSIONS + d]), away)
            closer = nearest - away
            nearest = where_positive(closer, away, nearest)
            label = where_positive(closer, splat(np.float32(number)), label)
        store(labels, block * LANES, label)


@inner_kernel
def move_centres(
    blocks: Floats, weights: Floats, points: int, labels: Floats, centres: Floats
) -> None:
    """Every centre goes to the mean of its points.

    A centre without points goes to the point that adds most to the sum of squared distances, each
    to another one.
    """
    sums = np.zeros((len(centres), DIMENSIONS), np.float32)
    mass = np.zeros(len(centres), np.float32)
    for point in range(points):
        own = np.int64(labels[point])
        mass[own] += weights[point]
        at = point // LANES * DIMENSIONS * LANES + point % LANES
        for d in range(DIMENSIONS):
            sums[own, d] += weights[point] * blocks[at + d * LANES]
    left = np.zeros(0, np.float32)
    for number in range(len(centres)):
        if mass[number] == np.float32(0.0):
            left = np.zeros(points, np.float32)
    for point in range(len(left)):
        at = point // LANES * DIMENSIONS * LANES + point % LANES
        away = np.float32(0.0)
        for d in range(DIMENSIONS):
            step = blocks[at + d * LANES] - centres[np.int64(labels[point]), d]
            away += step * step
        left[point] = weights[point] * away
    for number in range(len(centres)):
        if mass[number] > np.float32(0.0):
            for d in range(DIMENSIONS):
                centres[number, d] = sums[number, d] / mass[number]
        else:
            worst = np.argmax(left)
            left[worst] = 0.0
            at = worst // LANES * DIMENSIONS * LANES + worst % LANES
            for d in range(DIMENSIONS):
                centres[number, d] = blocks[at + d * LANES]


@kernel
def cluster(
    blocks: Floats,
    weights: Floats,
    points: int,
    draws: Floats,
    rounds: int,
    centres: Floats,
    labels: Floats,
) -> None:
    """Seeds, and so many rounds of Lloyd's, or until no point changes its centre.

    `labels` [N] are the centres that the points chose in the last round, `centres` [K, 16] where
    these went then. The first `points` of N are real.
    """
    seed_centres(blocks, weights, draws, centres)
    before = np.full(len(labels), np.float32(-1.0))
    for _ in range(rounds):
        find_nearest(blocks, centres, labels)
        if np.array_equal(labels, before):
            break
        before[:] = labels
        move_centres(blocks, weights, points, labels, centres)
