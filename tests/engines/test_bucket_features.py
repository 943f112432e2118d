"""Points and spreads of equity against counting with another program's evaluator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import buckets as naive_buckets

from allstreets.base import InputError
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    COMBO_PERMUTATIONS,
    combo_index,
    combo_strengths,
    live_combos,
    parse_cards,
    parse_combo,
)
from allstreets.engines.matrix.bucket_features import (
    FLOP_RUNOUTS,
    TURN_RUNOUTS,
    FlopBoards,
    flop_boards,
    flop_features,
    mean_equity,
    river_points,
    turn_features,
)
from allstreets.engines.matrix.kernels.bucket_rivers import CELL_WIDTH, CELLS, MOST_POINTS

FLOP = parse_cards("Ts 9s 4h")


@pytest.fixture(scope="module")
def boards() -> FlopBoards:
    return flop_boards(FLOP)


@settings(max_examples=25)
@given(st.permutations(range(52)))
def test_points_on_any_board_agree_with_another_program(deck: list[int]) -> None:
    board, combo = deck[:5], deck[5:7]
    found = river_points(combo_strengths([board]))[0]
    assert found[combo_index(*combo)] == naive_buckets.points(combo, board)
    blocked = combo_index(deck[0], deck[7])
    assert found[blocked] == -1


def test_boards_cover_every_turn_and_river_once(boards: FlopBoards) -> None:
    assert boards.points.shape == (1176, 1326)
    assert ((boards.points >= 0).sum(axis=1) == 1081).all()
    for turn in boards.deck:
        assert len(boards.after_turn(turn)) == 48
    # Beside a combo, the two players' points on a board are all points there are.
    assert boards.points[boards.points >= 0].sum(dtype=np.int64) == 1176 * 1081 * MOST_POINTS // 2
    river = parse_cards("2c Kd")
    board = boards.board_of[river]
    assert board == boards.board_of[river[::-1]]
    expected = combo_strengths([(*FLOP, *river)])[0]
    assert np.array_equal(boards.strengths[board], expected)


@pytest.mark.parametrize(
    ("turn", "combo"), [("2c", "AsKs"), ("Qd", "JcJd"), ("4s", "7h2d"), ("As", "Tc9c")]
)
def test_spread_on_the_turn_agrees_with_another_program(
    boards: FlopBoards, turn: str, combo: str
) -> None:
    (card,) = parse_cards(turn)
    cards = parse_cards(combo)
    found = [
        naive_buckets.points(cards, board) for board in naive_buckets.runouts(cards, (*FLOP, card))
    ]
    assert len(found) == TURN_RUNOUTS
    row = turn_features(boards)[card, parse_combo(combo)]
    assert row.tolist() == naive_buckets.spread(found, CELLS, CELL_WIDTH)
    assert mean_equity(row, TURN_RUNOUTS) == pytest.approx(np.mean(found) / MOST_POINTS)


@pytest.mark.long
def test_spread_on_the_flop_agrees_with_another_program(boards: FlopBoards) -> None:
    """Long: every runout by a slow program."""
    cards = parse_cards("8s7d")
    found = [naive_buckets.points(cards, board) for board in naive_buckets.runouts(cards, FLOP)]
    assert len(found) == FLOP_RUNOUTS
    row = flop_features(boards)[parse_combo("8s7d")]
    assert row.tolist() == naive_buckets.spread(found, CELLS, CELL_WIDTH)
    assert mean_equity(row, FLOP_RUNOUTS) == pytest.approx(np.mean(found) / MOST_POINTS)


def test_the_flop_is_the_sum_of_its_turns(boards: FlopBoards) -> None:
    # Each complete board is dealt in two orders.
    assert np.array_equal(turn_features(boards).sum(axis=0), 2 * flop_features(boards))


def test_combos_that_collide_have_no_features(boards: FlopBoards) -> None:
    blocked = ~live_combos(FLOP)
    assert not flop_features(boards)[blocked].any()
    turns = turn_features(boards)
    assert not turns[:, blocked].any()
    assert not turns[list(FLOP)].any()
    (king,) = parse_cards("Kd")
    held = np.isin(COMBO_CARDS, [king]).any(axis=1)
    assert not turns[king][held].any()
    assert turns[king][~held & ~blocked].any(axis=1).all()


def test_made_hands_and_draws_of_like_equity_are_told_apart(boards: FlopBoards) -> None:
    features = flop_features(boards)
    draw, pair = features[parse_combo("8s7s")], features[parse_combo("9c6d")]
    equities = mean_equity(np.stack([draw, pair]), FLOP_RUNOUTS)
    assert abs(equities[0] - equities[1]) < 0.02
    share = np.stack([draw, pair]) / (FLOP_RUNOUTS * CELL_WIDTH)
    # The draw ends weak or very strong, the pair in the middle.
    assert share[0, 8] > share[1, 8] + 0.25
    assert share[0, 26] < share[1, 26] - 0.25
    assert (np.diff(share, axis=1) >= 0).all()
    assert share.max() <= 1.0


@pytest.mark.parametrize("renaming", [5, 16, 23])
def test_renamed_suits_have_the_same_features(boards: FlopBoards, renaming: int) -> None:
    renamed = flop_boards(CARD_PERMUTATIONS[renaming][list(FLOP)].tolist())
    combos = COMBO_PERMUTATIONS[renaming]
    assert np.array_equal(flop_features(renamed)[combos], flop_features(boards))
    cards = CARD_PERMUTATIONS[renaming]
    assert np.array_equal(turn_features(renamed)[cards][:, combos], turn_features(boards))


@pytest.mark.parametrize("flop", [(1, 2), (1, 2, 2), (1, 2, 52), (-1, 2, 3)])
def test_what_is_no_flop_is_refused(flop: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="3 different cards"):
        flop_boards(flop)
