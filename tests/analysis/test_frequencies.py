"""Changes that reach frequencies, against general programs for linear and convex problems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls

from allstreets.analysis.flop_locks import evenly_rounded
from allstreets.base import Floats
from allstreets.engines import TWO_BYTES, decode, encode
from allstreets.games import frequencies
from allstreets.games.frequencies import changed_strategy, cheapest_change, smallest_change

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


def loss_of(changed: Floats, strategy: Floats, evs: Floats, weights: Floats) -> float:
    """The EV that a change costs over the whole range."""
    return float(((strategy - changed) * evs).sum(axis=0) @ weights / weights.sum())


def slow_greedy(
    strategy: Floats, evs: Floats, weights: Floats, action: int, least: float
) -> Floats:
    """The hands that lose least by an action take it first, one part after another."""
    changed, shares = strategy.copy(), weights / weights.sum()
    others = [other for other in range(len(strategy)) if other != action]
    parts = [
        (max(evs[other, hand] - evs[action, hand], 0.0), -weights[hand], other, hand)
        for other in others
        for hand in range(len(weights))
    ]
    for _, _, other, hand in sorted(parts):
        missing = least - float(changed[action] @ shares)
        moved = min(changed[other, hand], max(missing, 0.0) / shares[hand])
        changed[other, hand] -= moved
        changed[action, hand] += moved
    return changed


def least_loss(
    strategy: Floats, evs: Floats, weights: Floats, least: Floats, most: Floats
) -> float:
    """The least cost of moves [A, A, H] that meet the bounds, by linear programming."""
    actions, hands = strategy.shape
    shares = weights / weights.sum()
    costs = shares * np.maximum(evs[:, None] - evs[None], 0.0)
    stays = np.kron(np.eye(actions), np.ones((1, actions)))
    leave = np.kron(stays, np.eye(hands))  # [A·H, A·A·H]: each part goes somewhere
    taken = np.kron(np.tile(np.eye(actions), actions), shares)  # [A, A·A·H]
    program = linprog(
        costs.ravel(),
        np.vstack([taken, -taken]),
        np.concatenate([most, -least]),
        leave,
        strategy.ravel(),
    )
    assert program.success
    return float(program.fun)


@st.composite
def changes(draw: st.DrawFn) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """(strategy, EVs, weights, least, most) of a few hands, some alike, some that play purely."""
    dice = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    actions, hands = draw(st.integers(2, 4)), draw(st.integers(1, 9))
    strategy = dice.dirichlet([0.3] * actions, size=hands).T
    strategy = np.round(strategy, draw(st.sampled_from([0, 2, 9])))
    strategy[0] += 1 - strategy.sum(axis=0)
    strategy = np.abs(strategy) / np.abs(strategy).sum(axis=0)
    evs = np.round(dice.normal(size=(actions, hands)) * 3, draw(st.sampled_from([0, 6])))
    weights = dice.random(hands) + 0.01
    goal = dice.dirichlet([0.7] * actions)
    slack = draw(st.sampled_from([0.0, 0.05, 0.3]))
    bound = dice.random(actions) < 0.7
    least = np.where(bound, np.maximum(goal - slack, 0.0), 0.0)
    most = np.where(bound, np.minimum(goal + slack, 1.0), 1.0)
    return strategy, evs, weights, least, most


@given(changes())
def test_the_cheapest_change_loses_least(
    drawn: tuple[Floats, Floats, Floats, Floats, Floats],
) -> None:
    """As a linear program has it, and no more than hands that move in equal parts."""
    strategy, evs, weights, least, most = drawn
    changed = cheapest_change(strategy, evs, weights, least, most)
    shares = weights / weights.sum()
    met = changed @ shares
    assert (met >= least - 1e-9).all()
    assert (met <= most + 1e-9).all()
    assert changed.min() >= 0
    np.testing.assert_allclose(changed.sum(axis=0), 1, atol=1e-9)
    # Against EVs that the strategy maximises, moves cost what they lose.
    best = np.where(strategy > 0, np.where(strategy > 0, evs, -np.inf).max(axis=0), evs)
    best = np.minimum(best, np.where(strategy > 0, best, -np.inf).max(axis=0))
    changed = cheapest_change(strategy, best, weights, least, most)
    lost = loss_of(changed, strategy, best, weights)
    assert lost == pytest.approx(least_loss(strategy, best, weights, least, most), abs=1e-7)
    equal = smallest_change(strategy, weights, least, most)
    assert lost <= loss_of(equal, strategy, best, weights) + 1e-7


@given(changes(), st.floats(0, 1))
def test_hands_that_lose_least_move_first(
    drawn: tuple[Floats, Floats, Floats, Floats, Floats], least: float
) -> None:
    strategy, evs, weights, none, _ = drawn
    low, high = np.zeros_like(none), np.ones_like(none)
    low[1] = least
    # No hand gains by it, and no two lose the same.
    evs = evs - np.linspace(0, 1e-3, evs.size).reshape(evs.shape) ** 2
    evs[1] -= 30
    fast = cheapest_change(strategy, evs, weights, low, high)
    slow = slow_greedy(strategy, evs, weights, 1, least)
    np.testing.assert_allclose(fast[1], slow[1], atol=1e-7)


def test_hands_that_lose_the_same_go_by_their_reach() -> None:
    strategy, evs = np.array([[0.0, 0, 0], [1, 1, 1]]), np.array([[0.0, 0, 0], [1, 1, 1]])
    bounds = np.array([0.5, 0.0]), np.ones(2)
    changed = cheapest_change(strategy, evs, np.array([1.0, 5.0, 4.0]), *bounds)
    np.testing.assert_allclose(changed[0], [0, 1, 0])


def test_what_hands_move_to_must_be_known() -> None:
    """Else they move in equal parts."""
    dice = np.random.default_rng(3)
    strategy, weights = dice.dirichlet([0.5] * 3, size=6).T, dice.random(6)
    evs = dice.normal(size=(3, 6))
    evs[2] = np.nan
    low, high = np.array([0.0, 0.0, 0.7]), np.ones(3)
    equal = smallest_change(strategy, weights, low, high)
    np.testing.assert_array_equal(changed_strategy(strategy, evs, weights, low, high), equal)
    low = np.array([0.7, 0.0, 0.0])
    known = changed_strategy(strategy, evs, weights, low, high)
    assert known[0] @ weights / weights.sum() == pytest.approx(0.7)
    assert np.abs(known - smallest_change(strategy, weights, low, high)).max() > 0.1


def test_hands_without_evs_move_by_themselves() -> None:
    """A flop that play hardly reaches does not make the hands of all others move alike."""
    dice = np.random.default_rng(4)
    strategy, weights = dice.dirichlet([0.5] * 2, size=9).T, dice.random(9)
    evs = np.stack([np.zeros(9), dice.normal(size=9)])
    blind = np.arange(9) < 3
    evs[:, blind] = np.nan
    weights[8], evs[1, 8] = 0.0, np.nan  # it meets no hand
    low, high = np.array([0.8, 0.0]), np.ones(2)
    changed = changed_strategy(strategy, evs, weights, low, high)
    sighted = cheapest_change(strategy[:, ~blind], evs[:, ~blind], weights[~blind], low, high)
    np.testing.assert_array_equal(changed[:, ~blind], sighted)
    equal = smallest_change(strategy[:, blind], weights[blind], low, high)
    np.testing.assert_array_equal(changed[:, blind], equal)
    for part in (blind, ~blind):
        assert changed[0, part] @ weights[part] / weights[part].sum() == pytest.approx(0.8)


def test_many_hands_move_in_groups_that_lose_about_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the same frequencies, for little more than one by one."""
    dice = np.random.default_rng(5)
    strategy, weights = dice.dirichlet([0.3] * 3, size=400).T, dice.random(400)
    evs = dice.normal(size=(3, 400))
    evs[strategy > 0] = evs.max()
    goal = np.array([0.15, 0.25, 0.6])
    monkeypatch.setattr(frequencies, "MOST_PARTS", 100_000)
    exact = cheapest_change(strategy, evs, weights, goal, goal)
    monkeypatch.setattr(frequencies, "MOST_PARTS", 10)
    grouped = cheapest_change(strategy, evs, weights, goal, goal)
    for changed in (exact, grouped):
        np.testing.assert_allclose(changed @ weights / weights.sum(), goal, atol=1e-9)
        np.testing.assert_allclose(changed.sum(axis=0), 1)
    least, most = (loss_of(changed, strategy, evs, weights) for changed in (exact, grouped))
    assert least == pytest.approx(least_loss(strategy, evs, weights, goal, goal), abs=1e-7)
    assert least <= most + 1e-9
    assert most <= least + 0.05 * loss_of(
        smallest_change(strategy, weights, goal, goal), strategy, evs, weights
    )


def test_hands_that_never_get_there_move_with_those_that_lose_as_much() -> None:
    strategy, weights = np.array([[0.0] * 4, [1.0] * 4]), np.array([1.0, 1.0, 0.0, 0.0])
    evs = np.array([[0.0] * 4, [1.0, 3.0, 0.5, 2.0]])
    changed = cheapest_change(strategy, evs, weights, np.array([0.5, 0.0]), np.ones(2))
    np.testing.assert_allclose(changed[0], [1, 0, 1, 0])
