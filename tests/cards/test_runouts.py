"""Runouts that are the same: the representative must play exactly like the card it stands for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_PERMUTATIONS,
    Range,
    combo_strengths,
    parse_board,
    parse_card,
    runouts,
)
from allstreets.cards.isomorphism import Runouts

SYMMETRIC = Range.parse("22+,A2s+,KTo+").weights
NO_HEARTS_FLUSH = Range.parse("AsKs,AdKd,AcKc,QQ").weights


def check_runouts(
    found: Runouts, weights: list[np.ndarray[tuple[int], np.dtype[np.float64]]]
) -> None:
    """Every card is on the board or maps, hands and all, onto its representative."""
    for card in range(52):
        representative = int(found.representative[card])
        if card in found.board:
            assert representative == -1
            continue
        assert representative in found.representatives
        number = int(found.permutation[card])
        assert CARD_PERMUTATIONS[number, card] == representative
        board = {int(CARD_PERMUTATIONS[number, other]) for other in found.board}
        assert board == set(found.board)
        for w in weights:
            assert np.array_equal(w[COMBO_PERMUTATIONS[number]], w)
    assert sum(found.multiplicities) == 52 - len(found.board)
    for representative in found.representatives:
        assert found.representative[representative] == representative
        assert found.permutation[representative] == 0


@pytest.mark.parametrize(
    ("board", "classes"),
    [
        ("AsKh7d", 49),  # rainbow: every suit plays its own part
        ("QsJh2h", 12 + 11 + 13),  # clubs and diamonds are the same
        ("As7s2s", 10 + 13),  # three suits are the same
        ("7s7h7d", 12 + 13),  # spades, hearts and diamonds are the same, clubs still have a seven
        ("QsJh2h2s", 11 + 11 + 13),  # clubs and diamonds are the same
        ("QsQh2h2s", 11 + 13),  # and so are hearts and spades
    ],
)
def test_classes_of_next_cards(board: str, classes: int) -> None:
    found = runouts(parse_board(board), [SYMMETRIC])
    assert len(found.representatives) == classes
    check_runouts(found, [SYMMETRIC])


def test_ranges_that_treat_suits_differently_keep_their_cards_apart() -> None:
    board = parse_board("QsJh2h")
    assert len(runouts(board, [SYMMETRIC]).representatives) == 36
    lopsided = Range.parse("AcKc,QQ").weights
    assert len(runouts(board, [SYMMETRIC, lopsided]).representatives) == 49
    assert len(runouts(board, [lopsided, SYMMETRIC]).representatives) == 49
    # Clubs and diamonds are alike in this one, hearts are not.
    found = runouts(parse_board("As7s2s"), [NO_HEARTS_FLUSH])
    assert found.representative[parse_card("3c")] == found.representative[parse_card("3d")]
    assert found.representative[parse_card("3h")] == parse_card("3h")


def test_combos_that_the_board_blocks_do_not_break_a_symmetry() -> None:
    """AsKs is impossible on an ace of spades; that AhKh is missing then counts for nothing else."""
    board = parse_board("AsAhAd")
    blocked_only = Range.parse("AsKs,QQ").weights
    assert len(runouts(board, [blocked_only]).symmetries) == 6


def test_the_river_keeps_only_renamings_that_leave_the_turn_in_place() -> None:
    flop = runouts(parse_board("As7s2s"), [SYMMETRIC])
    assert len(flop.symmetries) == 6
    after_heart = flop.after(parse_card("Kh"))
    assert len(after_heart.symmetries) == 2  # clubs and diamonds may still change places
    check_runouts(after_heart, [SYMMETRIC])
    after_spade = flop.after(parse_card("Ks"))
    assert len(after_spade.symmetries) == 6
    check_runouts(after_spade, [SYMMETRIC])


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True),
)
def test_hands_on_a_card_and_renamed_hands_on_its_representative_are_equally_strong(
    cards: list[int],
) -> None:
    turn_board, river = tuple(cards[:4]), cards[4]
    found = runouts(turn_board)
    permutation = COMBO_PERMUTATIONS[int(found.permutation[river])]
    here, there = combo_strengths(
        [(*turn_board, river), (*turn_board, int(found.representative[river]))]
    )
    assert np.array_equal(here, there[permutation])
