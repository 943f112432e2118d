"""Shares of flops: all of them, once, for the same time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import Floats
from allstreets.cluster.engine import TOLERATED, rebalanced, split_flops

costs_of = st.lists(st.floats(0.5, 3.0), min_size=1, max_size=40).map(np.array)
speeds_of = st.lists(st.floats(0.5, 8.0), min_size=1, max_size=6).map(np.array)


@given(costs_of, speeds_of)
def test_every_flop_is_in_one_share(costs: Floats, speeds: Floats) -> None:
    shares = split_flops(costs, speeds)
    assert len(shares) == len(speeds)
    assert sorted(np.concatenate(shares).tolist()) == list(range(len(costs)))
    # No share could hand a flop to another and both be done sooner than it is now.
    times = np.array([costs[share].sum() for share in shares]) / speeds
    slowest = int(np.argmax(times))
    least = costs[shares[slowest]].min(initial=np.inf)
    for worker in range(len(speeds)):
        if worker != slowest:
            assert times[worker] + least / speeds[worker] >= times[slowest] - 1e-9


def test_a_slow_machine_gets_fewer_and_dear_flops_weigh_more() -> None:
    slow, fast = split_flops(np.ones(30), np.array([1.0, 2.0]))
    assert (len(slow), len(fast)) == (10, 20)
    shares = split_flops(np.array([9.0] + [1.0] * 9), np.ones(2))
    assert sorted(len(share) for share in shares) == [1, 9]


def test_flops_that_are_kept_stay() -> None:
    kept = [np.array([0, 1, 2]), np.array([], np.int64), np.array([6])]
    shares = split_flops(np.ones(8), np.ones(3), kept)
    for before, after in zip(kept, shares, strict=True):
        assert set(before.tolist()) <= set(after.tolist())
    assert sorted(len(share) for share in shares) == [2, 3, 3]


@given(costs_of, speeds_of)
def test_balancing_only_helps(costs: Floats, speeds: Floats) -> None:
    shares = split_flops(costs, np.ones(len(speeds)))  # before anybody knew the speeds
    found = rebalanced(costs, speeds, shares)
    times = [
        np.array([costs[s].sum() for s in some]) / speeds for some in (shares, found or shares)
    ]
    if found is None:
        assert times[0].max() <= TOLERATED * costs.sum() / speeds.sum() + 1e-9
        return
    assert sorted(np.concatenate(found).tolist()) == list(range(len(costs)))
    assert times[1].max() <= times[0].max()


def test_good_shares_stay_as_they_are() -> None:
    assert rebalanced(np.ones(20), np.ones(2), split_flops(np.ones(20), np.ones(2))) is None
    found = rebalanced(np.ones(20), np.array([1.0, 3.0]), split_flops(np.ones(20), np.ones(2)))
    assert found is not None
    assert [len(share) for share in found] == [5, 15]
