"""Categories of hands in PioSOLVER's words: what programs that asked it were told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.cards import category, evaluate, parse_cards, parse_combo
from allstreets.interop.upi.categories import DRAWS, MADE, categories


def told(board: str, hand: str) -> tuple[str, str]:
    made, draws = categories(tuple(parse_cards(board)))
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
    assert told(board, hand)[0] == made


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
    assert told(board, hand)[1] == draw


@given(st.permutations(range(52)), st.integers(3, 5))
def test_straights_and_better_are_those_of_the_evaluator(deck: list[int], size: int) -> None:
    """Where a hole card improves the board, and no flush lies on it, strong hands are as strong."""
    board = tuple(deck[:size])
    made, _ = categories(board)
    strong = {"straight", "flush", "full house", "four of a kind", "straight flush"}
    ours = {"fullhouse": "full house", "top_fullhouse": "full house", "quads": "four of a kind"}
    hole = sorted(deck[5:7])
    combo = parse_combo_cards(hole)
    best = category(int(evaluate([[*hole, *board]])[0]))
    name = MADE[made[combo]].replace("_", " ")
    told_strong = ours.get(MADE[made[combo]], name)
    if told_strong in strong:
        assert told_strong == best
    elif best in strong:  # it lies on the board
        assert size == 5
        assert category(int(evaluate([list(board)])[0])) in {best, "flush"}


def parse_combo_cards(cards: list[int]) -> int:
    low, high = cards
    return high * (high - 1) // 2 + low
