"""k-means and intervals: fixed points, reproducibility, and the best of all partitions."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from reference import buckets as naive_buckets

from allstreets.engines.matrix.buckets import best_intervals, distinct_rows, k_means
from allstreets.engines.matrix.kernels.bucket_means import BLOCK, lloyd, seed_centres

ROWS = arrays.arrays(
    np.int32,
    st.tuples(st.integers(1, 60), st.integers(1, 5)),
    elements=st.integers(0, 12),
)


def many_rows(seed: int = 3) -> NDArray[np.int32]:
    """Points around forty places, many of them equal."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 3000, (40, 7))
    rows = places[rng.integers(0, 40, 4000)] + rng.integers(0, 60, (4000, 7))
    return np.concatenate([rows, rows[:1500]]).astype(np.int32)


def mean_square(rows: NDArray[np.int32], labels: NDArray[np.int64]) -> float:
    total = 0.0
    for label in set(labels.tolist()):
        part = rows[labels == label].astype(float)
        total += ((part - part.mean(axis=0)) ** 2).sum()
    return total / len(rows)


@given(ROWS)
def test_distinct_rows_are_those_of_numpy(rows: NDArray[np.int32]) -> None:
    points, point_of, sizes = distinct_rows(rows)
    expected = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    assert np.array_equal(points, expected[0])
    assert np.array_equal(point_of, expected[1])
    assert np.array_equal(sizes, expected[2])


@settings(max_examples=60)
@given(ROWS, st.integers(1, 20), st.integers(0, 2**32))
def test_clusters_are_a_fixed_point(rows: NDArray[np.int32], count: int, seed: int) -> None:
    clusters = k_means(rows, count, seed)
    different = len({tuple(row) for row in rows.tolist()})
    assert clusters.count == min(count, different)
    assert sorted(set(clusters.labels.tolist())) == list(range(clusters.count))
    for number, centre in enumerate(clusters.centres):
        assert centre == pytest.approx(rows[clusters.labels == number].mean(axis=0))
    away = ((rows[:, None] - clusters.centres) ** 2).sum(axis=2)
    own = away[np.arange(len(rows)), clusters.labels]
    # Single precision decides between centres that are as good as equally far.
    assert (own <= away.min(axis=1) * (1 + 1e-5) + 1e-4).all()
    assert clusters.spread == pytest.approx(mean_square(rows, clusters.labels), abs=1e-9)


@settings(max_examples=40)
@given(ROWS, st.integers(1, 12), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    rows: NDArray[np.int32], count: int, random: Random
) -> None:
    order = random.sample(range(len(rows)), len(rows))
    straight, shuffled = k_means(rows, count, 1), k_means(rows[order], count, 1)
    assert np.array_equal(straight.labels[order], shuffled.labels)
    assert np.array_equal(straight.centres, shuffled.centres)


def in_blocks(points: NDArray[np.int32]) -> NDArray[np.float32]:
    """[N / 16, D, 16], the last point repeated."""
    blocks = np.zeros((-(-len(points) // BLOCK), points.shape[1], BLOCK), np.float32)
    for place in range(len(blocks) * BLOCK):
        blocks[place // BLOCK, :, place % BLOCK] = points[min(place, len(points) - 1)]
    return blocks


def padded_weights(weights: list[int]) -> NDArray[np.float64]:
    return np.array(weights + [0] * (-len(weights) % BLOCK), np.float64)


@settings(max_examples=60)
@given(ROWS, st.randoms(use_true_random=False))
def test_seeds_are_drawn_by_weight_and_distance(rows: NDArray[np.int32], random: Random) -> None:
    points = np.unique(rows, axis=0)
    weights = [random.randint(1, 9) for _ in points]
    count = random.randint(1, len(points))
    # Draws that lie on no edge between two points, whose masses are whole numbers.
    draws = [[random.random() for _ in range(3)] for _ in range(count)]
    centres = np.empty((count, points.shape[1]), np.float32)
    seed_centres(in_blocks(points), padded_weights(weights), np.array(draws), centres)
    expected = naive_buckets.chosen_seeds(points.tolist(), weights, draws)
    assert centres.tolist() == expected


def test_a_draw_of_almost_one_takes_the_last_point_that_can_be_drawn() -> None:
    points = np.arange(20, dtype=np.int32)[:, None]
    weights = [1] * 18 + [0, 0]
    centres = np.empty((1, 1), np.float32)
    highest = np.full((1, 1), np.nextafter(1.0, 0.0))
    seed_centres(in_blocks(points), padded_weights(weights), highest, centres)
    assert centres.tolist() == [[17.0]]


def test_a_centre_without_points_goes_to_the_point_that_is_worst_off() -> None:
    points = np.arange(10, dtype=np.int32)[:, None]
    centres = np.array([[0.0], [1.0], [500.0]], np.float32)
    labels = np.empty(BLOCK, np.float32)
    one_round = centres.copy()
    lloyd(in_blocks(points), padded_weights([1] * 10), one_round, 1, labels)
    # 1 .. 9 went to the second centre, whose mean is 5, and 9 was the farthest from it.
    assert one_round[:, 0].tolist() == [0.0, 5.0, 9.0]
    rounds = lloyd(in_blocks(points), padded_weights([1] * 10), centres, 100, labels)
    assert rounds < 100
    assert sorted(set(labels[:10].tolist())) == [0.0, 1.0, 2.0]


def test_as_many_clusters_as_points_leave_no_spread() -> None:
    rows = many_rows()
    different = len(np.unique(rows, axis=0))
    clusters = k_means(rows, different + 100, seed=1)
    assert (clusters.count, clusters.spread) == (different, 0.0)


def test_a_seed_gives_the_same_clusters_and_another_seed_others() -> None:
    rows = many_rows()
    first, again, other = (k_means(rows, 100, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.labels, other.labels)
    assert other.spread == pytest.approx(first.spread, rel=0.1)


def test_more_clusters_spread_less() -> None:
    rows = many_rows()
    spreads = [k_means(rows, count, seed=5).spread for count in (1, 5, 20, 40, 80, 200, 600)]
    assert all(after < before for before, after in pairwise(spreads))
    # Forty places are found, or nearly: what is left is the noise around them, and a few missed.
    noise = 7 * (60**2 - 1) / 12
    assert noise * 0.9 < spreads[3] < noise * 3
    assert spreads[0] == pytest.approx(((rows - rows.mean(axis=0)) ** 2).sum() / len(rows))


def test_equal_rows_weigh_as_often_as_they_occur() -> None:
    rows = np.array([[0]] * 9 + [[1]] + [[10]], np.int32)
    clusters = k_means(rows, 2, seed=0)
    assert sorted(clusters.centres[:, 0].tolist()) == [0.1, 10.0]


def test_few_rounds_leave_no_empty_cluster() -> None:
    rows = many_rows()
    for rounds in (1, 2, 3):
        clusters = k_means(rows, 300, seed=9, rounds=rounds)
        assert np.bincount(clusters.labels).min() > 0
        assert clusters.count <= 300


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=11).filter(any),
    st.integers(1, 8),
)
def test_intervals_are_the_best_of_all(weights: list[int], count: int) -> None:
    labels = best_intervals(np.array(weights), count)
    occurring = [value for value, weight in enumerate(weights) if weight]
    assert labels[occurring].max() + 1 == min(count, len(occurring))
    assert (np.diff(labels) >= 0).all()
    assert set(labels.tolist()) == set(labels[occurring].tolist())
    rows = np.repeat(np.arange(len(weights)), weights)
    found = mean_square(rows[:, None].astype(np.int32), labels[rows]) * len(rows)
    assert found == pytest.approx(naive_buckets.least_spread(weights, count), abs=1e-7)


def test_intervals_of_many_values_beat_k_means() -> None:
    rng = np.random.default_rng(8)
    weights = rng.integers(0, 90, 1981) * (rng.random(1981) < 0.8)
    rows = np.repeat(np.arange(1981, dtype=np.int32), weights)
    for count in (2, 50, 300):
        labels = best_intervals(weights, count)
        assert labels.max() + 1 == count
        clusters = k_means(rows[:, None], count, seed=1)
        assert mean_square(rows[:, None], labels[rows]) <= clusters.spread * (1 + 1e-9)
