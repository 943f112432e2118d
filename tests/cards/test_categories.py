"""Names of hands, by hand-made examples and against an independent evaluator."""

import numpy as np
import phevaluator
import pytest
from reference.categories import slow_categories

from allstreets.cards import (
    COMBO_CARDS,
    DRAWS,
    MADE,
    card_text,
    hand_categories,
    parse_board,
    parse_combo,
)


@pytest.mark.parametrize(
    ("board", "hand", "made", "draw"),
    [
        ("Ks9s4d", "KhQd", "top pair", "no draw"),
        ("Ks9s4d", "AsQs", "ace high", "nut flush draw"),
        ("Ks9s4d", "Qs2s", "no pair", "flush draw"),
        ("Ks9s4d", "JcTc", "no pair", "gutshot"),
        ("Qs9s4d", "JcTc", "no pair", "open-ended"),
        ("Qs9s4d", "JsTs", "no pair", "flush and straight draw"),
        ("Ks9s4d", "9h9c", "set", "no draw"),
        ("Ks9s4d", "AcAd", "overpair", "no draw"),
        ("Ks9s4d", "QcQd", "underpair", "no draw"),
        ("Ks9s4d", "2c2d", "underpair", "no draw"),
        ("Ks9s4d", "9c8c", "second pair", "no draw"),
        ("Ks9s4d", "Ac4c", "low pair", "no draw"),
        ("Ks9s4d", "Kc9c", "two pair", "no draw"),
        ("Ks9s4d", "Kc4c", "two pair", "no draw"),
        ("Ks9s9d", "KcQc", "top pair", "no draw"),  # the board's pair is both players'
        ("Ks9s9d", "9cQc", "trips", "no draw"),
        ("Ks9s9d", "AcAd", "overpair", "no draw"),
        ("Ks9s9d", "Kc9c", "full house", "no draw"),
        ("KsKdKh", "AcQd", "ace high", "no draw"),
        ("KsKdKh", "KcQd", "quads", "no draw"),
        ("KsKdKh", "2c2d", "full house", "no draw"),
        ("Ts9s8s", "QsJs", "straight flush", "no draw"),
        ("Ts9s8s", "QdJc", "straight", "no draw"),
        ("Ts9s8s", "As2c", "ace high", "nut flush draw"),
        ("Ts9s8s", "Ks2c", "no pair", "flush draw"),
        ("AsKsQs", "JsTc", "straight", "no draw"),
        ("As2d3h", "4c9c", "no pair", "gutshot"),
        ("Ad5d4h", "3c9c", "no pair", "gutshot"),  # a deuce; a wheel needs the board's ace
        ("8h6d4c", "7c5c", "straight", "no draw"),
        ("9h7d5c", "8c6d", "straight", "no draw"),
        ("Th7d5c", "8c6d", "no pair", "open-ended"),  # two gutshots: a four and a nine
        ("Ts9s8d7c", "2h3h", "no pair", "no draw"),  # jacks and sixes are the board's straight
        ("Ts9s8d7c", "Qh3h", "no pair", "gutshot"),  # a jack makes a better one
        ("Ts9s8s7s2d", "3h3d", "underpair", "no draw"),
        ("Ts9s8s7s2d", "3s3d", "flush", "no draw"),
    ],
)
def test_names(board: str, hand: str, made: str, draw: str) -> None:
    found = hand_categories(parse_board(board))
    combo = parse_combo(hand)
    assert (MADE[found[0][combo]], DRAWS[found[1][combo]]) == (made, draw)


KINDS = [  # the last rank of each kind in phevaluator's order
    (10, "straight flush"),
    (166, "quads"),
    (322, "full house"),
    (1599, "flush"),
    (1609, "straight"),
    (2467, "three of a kind"),
    (3325, "two pair"),
    (6185, "pair"),
    (7462, "high card"),
]
WEAKER = {  # what an evaluator calls hands that are called by their hole cards here
    "set": {"three of a kind"},
    "trips": {"three of a kind"},
    "two pair": {"two pair"},
    "overpair": {"pair", "two pair"},
    "top pair": {"pair", "two pair"},
    "underpair": {"pair", "two pair"},
    "second pair": {"pair", "two pair"},
    "low pair": {"pair", "two pair"},
    "ace high": {"high card", "pair", "two pair", "three of a kind"},  # the board's
    "no pair": {"high card", "pair", "two pair", "three of a kind"},
}


def boards(count: int) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(5)
    sizes = [3, 3, 4, 5]
    return [tuple(rng.permutation(52)[: sizes[k % 4]].tolist()) for k in range(count)]


def test_made_hands_agree_with_another_evaluator() -> None:
    rng = np.random.default_rng(6)
    for board in boards(24):
        made, _ = hand_categories(board)
        for combo in rng.permutation(np.flatnonzero(made >= 0))[:200].tolist():
            cards = [*board, *COMBO_CARDS[combo].tolist()]
            rank = phevaluator.evaluate_cards(*[card_text(card) for card in cards])
            kind = next(name for last, name in KINDS if rank <= last)
            name = MADE[made[combo]]
            assert kind in WEAKER.get(name, {name}), (board, combo)


def test_everything_agrees_with_the_slow_twin() -> None:
    for board in boards(12):
        made, draws = hand_categories(board)
        for combo in range(0, 1326, 7):
            expected = slow_categories(board, tuple(COMBO_CARDS[combo].tolist()))
            found = (made[combo], draws[combo])
            assert (None if found == (-1, -1) else (MADE[found[0]], DRAWS[found[1]])) == expected
