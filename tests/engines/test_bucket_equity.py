"""Net shares of buckets: meetings on the river counted one by one, and cards dealt from there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from reference import buckets as naive_buckets

from allstreets.cards import COMBO_CARDS, parse_cards
from allstreets.engines.matrix.bucket_features import (
    FlopBoards,
    PairTotals,
    dealt_on,
    flop_boards,
    river_net,
    river_totals,
)

FLOP = parse_cards("8s 8h 3d")


@pytest.fixture(scope="module")
def boards() -> FlopBoards:
    return flop_boards(FLOP)


def random_river_buckets(boards: FlopBoards, count: int) -> NDArray[np.int16]:
    numbers = np.random.default_rng(3).integers(0, count, boards.points.shape)
    return np.where(boards.points >= 0, numbers, -1).astype(np.int16)


@pytest.mark.parametrize("runout", ["8d 2c", "5h 4h"])
def test_river_meetings_agree_with_counting_pair_by_pair(boards: FlopBoards, runout: str) -> None:
    buckets = random_river_buckets(boards, 7)
    board = boards.board_of[parse_cards(runout)]
    totals = river_totals(boards.strengths[[board]], buckets[[board]], 7)
    by_combo = {
        (int(high), int(low)): int(bucket)
        for (high, low), bucket in zip(COMBO_CARDS, buckets[board], strict=True)
    }
    meetings, margin = naive_buckets.river_meetings((*FLOP, *parse_cards(runout)), by_combo)
    for own in range(7):
        for other in range(7):
            assert totals.meetings[own, other] == meetings[own, other]
            assert totals.margin[own, other] == margin[own, other]


def test_river_meetings_add_up_over_boards(boards: FlopBoards) -> None:
    buckets = random_river_buckets(boards, 5)
    parts = [
        river_totals(boards.strengths[part], buckets[part], 5)
        for part in (slice(0, 300), slice(300, 1176))
    ]
    whole = river_totals(boards.strengths, buckets, 5)
    assert np.array_equal(whole.margin, parts[0].margin + parts[1].margin)
    assert np.array_equal(whole.meetings, parts[0].meetings + parts[1].meetings)


def test_river_meetings_of_a_bucket_hold_all_its_points(boards: FlopBoards) -> None:
    """Won − lost + met = 2 a win and 1 a tie: what the features count in another way."""
    buckets = random_river_buckets(boards, 6)
    totals = river_totals(boards.strengths, buckets, 6)
    live = buckets >= 0
    points = np.bincount(buckets[live], boards.points[live])
    assert (totals.margin + totals.meetings).sum(axis=1).tolist() == points.tolist()
    assert totals.meetings.sum(axis=1).tolist() == (990 * np.bincount(buckets[live])).tolist()


def test_totals_are_symmetric_and_antisymmetric(boards: FlopBoards) -> None:
    totals = river_totals(boards.strengths, random_river_buckets(boards, 3), 3)
    assert np.array_equal(totals.meetings, totals.meetings.T)
    assert np.array_equal(totals.margin, -totals.margin.T)
    assert (abs(totals.margin) <= totals.meetings).all()


def test_buckets_that_never_meet_are_compared_by_their_equity() -> None:
    meetings = np.array([[0, 4, 0], [4, 2, 0], [0, 0, 0]])
    margin = np.array([[0, -3, 0], [3, 0, 0], [0, 0, 0]])
    net = river_net(PairTotals(meetings, margin))
    assert net.tolist() == [[0, -0.75, -1], [0.75, 0, -1], [1, 1, 0]]


def test_each_player_is_dealt_his_own_next_bucket() -> None:
    moves = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
    next_net = np.array([[0.0, -0.5, -1.0], [0.5, 0.0, -0.8], [1.0, 0.8, 0.0]])
    # 0.5 · (0.25 · −0.5 + 0.75 · −1) + 0.5 · (0.25 · 0 + 0.75 · −0.8)
    assert dealt_on(moves, next_net) == pytest.approx(np.array([[0, -0.7375], [0.7375, 0]]))


@given(
    arrays.arrays(np.float64, (4, 6), elements=st.sampled_from([0.0, 0.125, 0.3, 1.0])),
    arrays.arrays(np.float64, (6, 6), elements=st.floats(-0.02, 0.02)),
)
def test_dealing_on_is_a_product_of_matrices(
    moves: NDArray[np.float64], numbers: NDArray[np.float64]
) -> None:
    net = numbers - numbers.T
    found = dealt_on(moves, net)
    assert found == pytest.approx(moves @ net @ moves.T, abs=1e-12)
    assert np.array_equal(found, -found.T)
