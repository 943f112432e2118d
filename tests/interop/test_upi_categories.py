"""Categories of hands in PioSOLVER's words: what programs that asked it were told."""

from functools import cache

import numpy as np
import pytest

from allstreets.base import Longs
from allstreets.cards import (
    COMBO_CARDS,
    category,
    combo_text,
    evaluate,
    live_combos,
    parse_cards,
    parse_combo,
)
from allstreets.interop.upi.categories import DRAWS, MADE, categories


@cache
def all_of(board: str) -> tuple[Longs, Longs]:
    return categories(tuple(parse_cards(board)))


def answered(board: str, hand: str) -> tuple[str, str]:
    made, draws = all_of(board)
    combo = parse_combo(hand)
    return MADE[made[combo]], DRAWS[draws[combo]]


@pytest.mark.parametrize(
    ("board", "hand", "made"),
    [
        # A pocket pair counts the ranks above it, as a pair with the board does.
        ("Ac9d4h", "KsKh", "underpair"),
        ("Ac9d4h", "8s8h", "3rd-pair"),
        ("Ac9d4h", "Ks4s", "3rd-pair"),
        ("Ac9d4h", "Ks9s", "2nd-pair"),
        ("Ac9d4h", "AsKh", "top_pair"),
        ("Tc9d4h", "KsKh", "overpair"),
        ("AcKd9h4s", "Qs4d", "low_pair"),
        ("AcKd9h4s", "3s3d", "low_pair"),
        # Of the best five cards, those with the fewest hole cards count.
        ("KcKd7h7s2c", "3s3d", "nothing"),
        ("KcKd7h7s2c", "As3d", "ace_high"),
        ("KcKd7h7s5d", "5c2h", "nothing"),
        ("6c6d6h6s2c", "AsKd", "ace_high"),
        ("9c7d2h2s", "9s7h", "top_pair"),
        ("9c7d2h", "9s7h", "two_pair"),
        ("9c9d2h", "9s7h", "trips"),
        ("9c8d2h", "9s9h", "set"),
        ("QcJdTh9s8c", "2s2d", "nothing"),
        ("QcJdTh9s8c", "Ks2d", "straight"),
        ("QcJdTh9s8c", "8s8d", "nothing"),
        # A board with a flush.
        ("Ah9h7h4h2h", "Kh3c", "nothing"),
        ("Ah9h7h4h2h", "AcAd", "nothing"),
        ("Jh9h8h7h2h", "Th3c", "straight_flush"),
        # Full houses.
        ("2c2d2h3s3d", "3c8s", "top_fullhouse"),
        ("2c2d2h3s3d", "4c4s", "fullhouse"),
        ("3c3d3h2s2d", "AcAs", "fullhouse"),
        ("2c2d3h3s8d", "3c8s", "fullhouse"),
        ("2c2d2h", "2s8s", "quads"),
        ("Kh5c2d", "Qs7h", "nothing"),
        ("Qh5c2d", "Ks7h", "king_high"),
    ],
)
def test_made_hands(board: str, hand: str, made: str) -> None:
    assert answered(board, hand)[0] == made


@pytest.mark.parametrize(
    ("board", "hand", "draw"),
    [
        # The highest straight must pass through a hole card.
        ("QcJdTh9s", "As2d", "4out_straight_draw"),
        ("QcJdTh9s", "7s2d", "no_draw"),
        ("Jc9d4h", "Ts8s", "8out_straight_draw"),
        ("Ac9h4h", "Kh2h", "flush_draw"),
        ("Ah9h4h", "3h2c", "combo_draw"),
        ("Qd9d6c2h", "8s7s", "8out_straight_draw"),
        ("Qd9d6d2d", "8s7s", "4out_straight_draw"),  # six cards, not eight
        ("Ad9d4d2d", "5s3s", "no_draw"),  # the wheel is made
        ("Ad9d4d2d", "5s6s", "no_draw"),
        ("Ah9h4h", "Kh2h", "no_draw"),  # a flush already
        ("Jh9h4s", "Kc2h", "bdfd_1card"),
        ("Jh9c4s", "Kh2h", "bdfd_2card"),
        ("Jh9h4s3d", "Kc2h", "no_draw"),  # too late
        ("Jh9h4s3d2c", "KhQh", "no_draw"),
    ],
)
def test_draws(board: str, hand: str, draw: str) -> None:
    assert answered(board, hand)[1] == draw


@pytest.mark.parametrize("text", ["9c8d2h", "QcJd9h9s", "Ts9h8h8c2h"])
def test_strong_hands_are_those_of_the_evaluator(text: str) -> None:
    """Unless they lie on the board."""
    board = tuple(parse_cards(text))
    made, _ = categories(board)
    live = np.flatnonzero(live_combos(board))
    hands = np.hstack([COMBO_CARDS[live], np.tile(board, (len(live), 1))])
    words = {"fullhouse": "full house", "top_fullhouse": "full house", "quads": "four of a kind"}
    strong = {"straight", "flush", "full house", "four of a kind", "straight flush"}
    for combo, strength in zip(live.tolist(), evaluate(hands).tolist(), strict=True):
        name = words.get(MADE[made[combo]], MADE[made[combo]].replace("_", " "))
        best = category(strength)
        assert (name if name in strong else "") == (best if best in strong else ""), combo_text(
            combo
        )
