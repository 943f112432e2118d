"""Things that stand for all: every step against trying everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import subset_choice as slow

from allstreets.base import Floats
from allstreets.cards.flop_choice import (
    LEAST_GAIN,
    choose,
    covariances,
    exchanged,
    greedy,
    nonnegative,
    remaining_error,
    variance,
)


def things(seed: int, count: int = 12, features: int = 4) -> tuple[Floats, Floats]:
    """Features and weights."""
    rng = np.random.default_rng(seed)
    return rng.normal(1.0, 1.0, (count, features)), rng.integers(1, 5, count).astype(np.float64)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_greedy_takes_what_leaves_the_least_variance(seed: int, count: int) -> None:
    features, weights = things(seed)
    matrix = covariances(features, weights)
    found = greedy(matrix, matrix @ weights, count)
    assert found.tolist() == slow.greedy(matrix, weights, count)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_no_single_exchange_would_help(seed: int, count: int) -> None:
    features, weights = things(seed)
    matrix = covariances(features, weights)
    aims = matrix @ weights
    first = greedy(matrix, aims, count)
    found = exchanged(matrix, aims, weights, first).tolist()
    reached = slow.variance_left(matrix, weights, found)
    assert reached <= slow.variance_left(matrix, weights, first.tolist()) * (1 + 1e-9)
    for out in found:
        for into in set(range(len(weights))) - set(found):
            other = [into if place == out else place for place in found]
            left = slow.variance_left(matrix, weights, other)
            assert left >= reached * (1 - LEAST_GAIN) - 1e-9


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 7))
def test_weights_that_are_not_negative(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(count, count + 2))
    matrix, aims = root @ root.T + 0.01 * np.eye(count), rng.normal(size=count)
    found = nonnegative(matrix, aims)
    assert found.min() >= 0
    np.testing.assert_allclose(found, slow.nonnegative(matrix, aims), atol=1e-7)


def test_nothing_positive_helps() -> None:
    assert nonnegative(np.eye(3), np.array([-1.0, -2.0, 0.0])).tolist() == [0, 0, 0]


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 8))
def test_what_is_chosen_weighs_as_much_as_all(seed: int, count: int) -> None:
    features, weights = things(seed, count=30)
    found = choose(features, weights, count)
    assert found.weights.sum() == pytest.approx(weights.sum(), rel=1e-12)
    assert found.weights.min() > 0
    assert len(found.places) <= count
    assert (np.diff(found.places) > 0).all()


def test_all_things_are_no_distance_from_themselves() -> None:
    features, weights = things(3)
    every = np.arange(len(weights))
    assert remaining_error(features, weights, every, weights) == pytest.approx(0, abs=1e-12)
    apart = [remaining_error(features, weights, every[k : k + 1], np.ones(1)) for k in every]
    mean = float(np.sqrt(np.average(np.square(apart), weights=weights)))
    assert mean == pytest.approx(1)  # one at random
    assert variance(features, weights) > 0


def test_more_things_stand_for_all_better() -> None:
    features, weights = things(5, count=60, features=20)
    errors = []
    for count in (5, 10, 20, 40):
        found = choose(features, weights, count)
        errors.append(remaining_error(features, weights, found.places, found.weights))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.1 < errors[0]
