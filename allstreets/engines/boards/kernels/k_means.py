"""k-means of hands that are described by sixteen numbers each, in a fixed order of sums.

Points stand in `blocks` [N / 16, 16, 16]: sixteen of them, one per lane, by dimension; what fills
the last block up weighs nothing. The kernels for GPUs (`kernels/bucketing.cu`) add the same
numbers in the same order and round them alike: the same points and draws give the same clusters
there, bit for bit. So a sum over points is one by lane, from the first block to the last, and then
one over the lanes; and multiply-adds are fused where `fma` says so, and nowhere else.

Neighbours are close to each other, hands in order of strength above all. So each block has a *ball*
around it, and only centres that may be the nearest of one of its points are tried: of 64, a
twentieth. Skipping the others changes no result.
"""

import numpy as np

from allstreets.base import Singles, inner_kernel, kernel
from allstreets.engines.simd.vectors import (
    LANES,
    fma,
    load,
    maximum,
    splat,
    store,
    total,
    transpose_from,
    where_positive,
)

DIMENSIONS = 16
FAR = np.float32(1e30)
"""Farther than any squared distance between points."""


@inner_kernel
def highest(numbers: Singles) -> np.float32:
    """The largest of sixteen numbers."""
    most: np.float32 = numbers[0]
    for lane in range(1, LANES):
        most = max(most, numbers[lane])
    return most


@inner_kernel
def enclose(blocks: Singles, balls: Singles, radii: Singles) -> np.float32:
    """A ball around each block: centres as `blocks` has points, and radii.

    What comes back is what rounding may do to the squared distance of a point and a centre, which
    `find_nearest` has from products: they are as large as the largest point.
    """
    buffer = np.zeros(LANES, np.float32)
    largest = splat(np.float32(0.0))
    for block in range(len(blocks) // (DIMENSIONS * LANES)):
        middle = block // LANES * DIMENSIONS * LANES + block % LANES
        away = splat(np.float32(0.0))
        size = splat(np.float32(0.0))
        for d in range(DIMENSIONS):
            here = load(blocks, (block * DIMENSIONS + d) * LANES)
            mean = total(here) / np.float32(LANES)
            balls[middle + d * LANES] = mean
            step = here - splat(mean)
            away = fma(step, step, away)
            size = fma(here, here, size)
        store(buffer, 0, away)
        radii[block] = np.sqrt(highest(buffer))
        largest = maximum(largest, size)
    store(buffer, 0, largest)
    return np.float32(1e-5) * highest(buffer)


@inner_kernel
def away_from(blocks: Singles, spot: Singles, out: Singles) -> None:
    """The squared distance of every point from a spot [16]."""
    for block in range(len(out) // LANES):
        away = splat(np.float32(0.0))
        for d in range(DIMENSIONS):
            step = load(blocks, (block * DIMENSIONS + d) * LANES) - splat(spot[d])
            away = fma(step, step, away)
        store(out, block * LANES, away)


@inner_kernel
def farthest(least: np.float32, radius: np.float32, slack: np.float32) -> np.float32:
    """Squared: how far from a ball a centre may be to be the nearest of one of its points.

    `least` is the squared distance of the nearest centre; `slack` is that of `enclose`.
    """
    nearest = np.sqrt(least) + radius  # that centre is this near to all of its points
    limit = np.sqrt(nearest * nearest + slack) + radius
    squared: np.float32 = np.float32(1.0001) * limit * limit
    return squared


@inner_kernel
def come_closer(
    blocks: Singles,
    weights: Singles,
    spot: Singles,
    balls_away: Singles,
    limits: Singles,
    nearest: Singles,
    out: Singles,
    sums: Singles,
) -> None:
    """Squared distances to the nearest centre once `spot` [16] is a centre, and their sums by lane.

    Balls that are farther from it than their limit stay as they are.
    """
    mass = splat(np.float32(0.0))
    for block in range(len(weights) // LANES):
        now = load(nearest, block * LANES)
        if balls_away[block] <= limits[block]:
            away = splat(np.float32(0.0))
            for d in range(DIMENSIONS):
                step = load(blocks, (block * DIMENSIONS + d) * LANES) - splat(spot[d])
                away = fma(step, step, away)
            now = where_positive(now - away, away, now)
        store(out, block * LANES, now)
        mass = mass + load(weights, block * LANES) * now
    store(sums, 0, mass)


@inner_kernel
def whole_sum(sums: Singles) -> np.float32:
    """The sum over all lanes."""
    whole = np.float32(0.0)
    for lane in range(LANES):
        whole += sums[lane]
    return whole


@inner_kernel
def drawn(weights: Singles, nearest: Singles, sums: Singles, wanted: np.float32) -> int:
    """The point at which the running sum of weight × distance², lane after lane, exceeds `wanted`.

    A sum that rounding keeps below it ends with the last point that adds anything.
    """
    chosen, below = 0, np.float32(0.0)
    lane, drawn_point = 0, 0
    while lane < LANES:
        if sums[lane] > np.float32(0.0):
            drawn_point = lane
            if below + sums[lane] > wanted:
                break
            below += sums[lane]
        lane += 1
    if lane == LANES:
        wanted = FAR  # and so the last of the last lane
    chosen = drawn_point
    for point in range(drawn_point, len(weights), LANES):
        mass = weights[point] * nearest[point]
        if mass > np.float32(0.0):
            chosen = point
            below += mass
            if below > wanted:
                break
    return chosen


@inner_kernel
def seed_centres(
    blocks: Singles,
    weights: Singles,
    balls: Singles,
    radii: Singles,
    slack: np.float32,
    draws: Singles,
    centres: Singles,
) -> None:
    """k-means++: every one of `centres` [K, 16] becomes a point, drawn by weight × distance².

    The distance is that to the nearest centre so far; the first draw is by weight alone. For each
    centre a row of `draws` [K, …] gives numbers in [0, 1) that draw candidates, and the candidate
    that leaves the least Σ weight × distance² is taken. If there are fewer different points than
    centres, some centres are the same.
    """
    candidates = draws.shape[1]
    nearest = np.ones(len(weights), np.float32)
    sums = np.zeros(LANES, np.float32)
    for point in range(len(weights)):
        sums[point % LANES] += weights[point]
    tried, tried_sums = np.empty_like(nearest), np.empty_like(sums)
    best, best_sums = np.empty_like(nearest), np.empty_like(sums)
    least, limits = np.full(len(radii), FAR), np.full(len(radii), FAR)
    spots = np.zeros((candidates, DIMENSIONS), np.float32)
    away = np.zeros((candidates, len(radii)), np.float32)
    for number in range(len(draws)):
        whole = whole_sum(sums)
        for candidate in range(candidates):
            point = drawn(weights, nearest, sums, draws[number, candidate] * whole)
            for d in range(DIMENSIONS):
                at = (point // LANES * DIMENSIONS + d) * LANES + point % LANES
                spots[candidate, d] = blocks[at]
            away_from(balls, spots[candidate], away[candidate])
        if number == 0:
            nearest[:] = FAR
        left, chosen = np.float32(np.inf), 0
        for candidate in range(candidates):
            come_closer(
                blocks,
                weights,
                spots[candidate],
                away[candidate],
                limits,
                nearest,
                tried,
                tried_sums,
            )
            whole = whole_sum(tried_sums)
            if whole < left:
                tried, best = best, tried
                tried_sums, best_sums = best_sums, tried_sums
                left, chosen = whole, candidate
        nearest, best = best, nearest
        sums, best_sums = best_sums, sums
        for d in range(DIMENSIONS):
            centres[number, d] = spots[chosen, d]
        for ball in range(len(radii)):
            if away[chosen, ball] < least[ball]:
                least[ball] = away[chosen, ball]
                limits[ball] = farthest(least[ball], radii[ball], slack)


@inner_kernel
def find_nearest(
    blocks: Singles,
    balls: Singles,
    radii: Singles,
    slack: np.float32,
    centres: Singles,
    labels: Singles,
) -> None:
    """The nearest centre of every real point, the first of equals, into `labels` [N].

    Half the squared distance is |c|² / 2 − x · c, except for a term that all centres share. Labels
    are small whole numbers as floats, since they travel in the lanes of the distances.
    """
    half = np.zeros(len(centres), np.float32)
    away = np.zeros((len(centres), len(radii)), np.float32)
    for number in range(len(centres)):
        size = np.float32(0.0)
        for d in range(DIMENSIONS):
            size += centres[number, d] * centres[number, d]
        half[number] = np.float32(0.5) * size
        away_from(balls, centres[number], away[number])
    turned = (-centres).reshape(-1)
    near = np.zeros(len(centres) + 1, np.int64)
    for block in range(len(labels) // LANES):
        least = away[0, block]
        for number in range(1, len(centres)):
            least = min(least, away[number, block])
        limit, count = farthest(least, radii[block], slack), 0
        for number in range(len(centres)):
            near[count] = number
            count += away[number, block] <= limit
        nearest = splat(FAR)
        label = splat(np.float32(0.0))
        for place in range(count):
            number = near[place]
            score = splat(half[number])
            for d in range(DIMENSIONS):
                point = load(blocks, (block * DIMENSIONS + d) * LANES)
                score = fma(point, splat(turned[number * DIMENSIONS + d]), score)
            closer = nearest - score
            nearest = where_positive(closer, score, nearest)
            label = where_positive(closer, splat(np.float32(number)), label)
        store(labels, block * LANES, label)


@inner_kernel
def move_centres(rows: Singles, weights: Singles, labels: Singles, centres: Singles) -> None:
    """Every centre goes to the mean of its points, the first of `rows` [N, 16].

    A centre without points goes to the point that adds most to the sum of squared distances, each
    to another one.
    """
    sums = np.zeros(len(centres) * DIMENSIONS, np.float32)
    mass = np.zeros(len(centres), np.float32)
    for point in range(len(labels)):
        own = np.int64(labels[point])
        mass[own] += weights[point]
        added = splat(weights[point]) * load(rows, point * DIMENSIONS)
        store(sums, own * DIMENSIONS, load(sums, own * DIMENSIONS) + added)
    left = np.zeros(0, np.float32)
    for number in range(len(centres)):
        if mass[number] == np.float32(0.0):
            left = np.zeros(len(labels), np.float32)
    for point in range(len(left)):
        away = np.float32(0.0)
        for d in range(DIMENSIONS):
            step = rows[point * DIMENSIONS + d] - centres[np.int64(labels[point]), d]
            away += step * step
        left[point] = weights[point] * away
    for number in range(len(centres)):
        if mass[number] > np.float32(0.0):
            for d in range(DIMENSIONS):
                centres[number, d] = sums[number * DIMENSIONS + d] / mass[number]
        else:
            worst = int(np.argmax(left))
            left[worst] = 0.0
            for d in range(DIMENSIONS):
                centres[number, d] = rows[worst * DIMENSIONS + d]


@kernel
def cluster(
    blocks: Singles,
    weights: Singles,
    points: int,
    draws: Singles,
    rounds: int,
    centres: Singles,
    labels: Singles,
) -> None:
    """Seed, then rounds of Lloyd's, at most `rounds`, until no point changes its centre.

    `labels` [N] are the centres that the points chose in the last round, `centres` [K, 16] where
    these went then. The first `points` of N are real.
    """
    padded = -(-len(weights) // (LANES * LANES)) * LANES
    balls, radii = np.zeros(padded * DIMENSIONS, np.float32), np.zeros(padded, np.float32)
    slack = enclose(blocks, balls, radii)
    seed_centres(blocks, weights, balls, radii, slack, draws, centres)
    rows, every = np.empty_like(blocks), np.arange(len(weights))
    for first in range(0, len(weights), LANES):
        at = first * DIMENSIONS
        transpose_from(blocks, every, first, DIMENSIONS, 0, rows, at, DIMENSIONS)
    before = np.full(points, np.float32(-1.0))
    for _ in range(rounds):
        find_nearest(blocks, balls, radii, slack, centres, labels)
        changed = False
        for point in range(points):
            changed |= labels[point] != before[point]
            before[point] = labels[point]
        if not changed:
            break
        move_centres(rows, weights, labels[:points], centres)
