"""The smallest change that reaches frequencies, against a general program for convex problems."""

import numpy as np
import pytest
from scipy.optimize import nnls

from allstreets.analysis.flop_locks import evenly_rounded
from allstreets.base import Floats
from allstreets.engines import TWO_BYTES, decode, encode
from allstreets.games.frequencies import smallest_change

NONE, ALL = 0.0, 1.0


def slow_change(strategy: Floats, weights: Floats, least: Floats, most: Floats) -> Floats:
    """The same as least squares over numbers that are not negative, which knows no prices.

    Sums to 1 and bounds, by numbers that fill the gaps, are rows of so much weight that they hold.
    """
    actions, hands = strategy.shape
    shares, heavy = weights / weights.sum(), 1e4
    size, same = actions * hands, np.eye(actions)
    by_hand = np.hstack([np.tile(np.eye(hands), actions), np.zeros((hands, 2 * actions))])
    taken = np.kron(same, shares)
    above = np.hstack([taken, -same, np.zeros((actions, actions))])
    below = np.hstack([taken, np.zeros((actions, actions)), same])
    scale = np.sqrt(np.tile(shares, actions))
    near = np.hstack([np.diag(scale), np.zeros((size, 2 * actions))])
    left = np.vstack([near, heavy * by_hand, heavy * above, heavy * below])
    right = np.concatenate(
        [scale * strategy.ravel(), heavy * np.ones(hands), heavy * least, heavy * most]
    )
    found: Floats = nnls(left, right)[0][:size].reshape(actions, hands)
    return found


@pytest.mark.parametrize(
    ("least", "most"),
    [
        ([NONE, NONE, NONE], [ALL, 0.1, ALL]),  # at most
        ([NONE, 0.7, NONE], [ALL, ALL, ALL]),  # at least
        ([NONE, 0.2, 0.5], [ALL, 0.2, ALL]),  # two bounds of both kinds
        ([0.15, 0.6, 0.25], [0.15, 0.6, 0.25]),  # all of them
        ([0.5, NONE, 0.5], [0.5, NONE, 0.5]),  # never
    ],
)
def test_the_change_is_the_smallest(least: list[float], most: list[float]) -> None:
    dice = np.random.default_rng(7)
    strategy = dice.dirichlet([0.4] * 3, size=9).T
    weights = dice.random(9) * 5
    low, high = np.array(least), np.array(most)
    fast = smallest_change(strategy, weights, low, high)
    np.testing.assert_allclose(fast, slow_change(strategy, weights, low, high), atol=2e-5)
    frequencies = fast @ weights / weights.sum()
    assert (frequencies >= low - 1e-8).all()
    assert (frequencies <= high + 1e-8).all()
    np.testing.assert_allclose(fast.sum(axis=0), 1)


def test_what_is_within_its_bounds_stays_as_it_is() -> None:
    strategy = np.array([[0.25, 1.0], [0.75, 0.0]])
    bounds = np.array([0.0, 0.0]), np.array([1.0, 0.5])
    np.testing.assert_array_equal(smallest_change(strategy, np.ones(2), *bounds), strategy)


def test_rounding_leaves_the_frequencies() -> None:
    """And hands that play alike, actions that are never taken, and every hand to within a step."""
    dice = np.random.default_rng(11)
    wanted = dice.dirichlet([1.0] * 3, size=200).T
    wanted[:, :20] = wanted[:, [20]]
    wanted[:, 20:60] = np.array([[1.0], [0.0], [0.0]])
    weights, alike = dice.random(200), np.maximum(np.arange(200), 20)

    def stored(chances: Floats) -> Floats:
        return decode(encode(chances, TWO_BYTES))

    played = evenly_rounded(wanted, weights, alike, stored)
    shares = weights / weights.sum()
    assert np.abs((stored(wanted) - wanted) @ shares).max() > 1e-7
    np.testing.assert_allclose(played @ shares, wanted @ shares, rtol=1e-9)
    np.testing.assert_array_equal(stored(played), played)
    np.testing.assert_array_equal(played[:, :20], played[:, [0] * 20])
    np.testing.assert_array_equal(played[:, 21:60], wanted[:, 21:60])
    np.testing.assert_allclose(played, wanted, atol=1e-4)
