"""Hand strength against the rules of poker, counted and written out, and two other programs."""

from collections import Counter
from itertools import combinations

import eval7
import numpy as np
import phevaluator
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import kernels as naive

from allstreets.base import InputError
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    card_text,
    category,
    combo_strengths,
    evaluate,
    parse_cards,
)
from allstreets.cards.kernels.evaluator import DEAD

# The textbook number of five-card hands in each category.
FIVE_CARD_COUNTS = {
    "straight flush": 40,
    "four of a kind": 624,
    "full house": 3_744,
    "flush": 5_108,
    "straight": 10_200,
    "three of a kind": 54_912,
    "two pair": 123_552,
    "pair": 1_098_240,
    "high card": 1_302_540,
}


def random_hands(
    count: int, size: int, seed: int
) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """[count, size]: different cards in each row."""
    rng = np.random.default_rng(seed)
    return rng.random((count, 52)).argpartition(size, axis=1)[:, :size].astype(np.uint8)


def test_all_five_card_hands_fall_into_the_right_number_of_categories() -> None:
    hands = np.fromiter(
        (card for hand in combinations(range(52), 5) for card in hand), np.uint8, 5 * 2_598_960
    ).reshape(-1, 5)
    strengths, counts = np.unique(evaluate(hands), return_counts=True)
    assert strengths.tolist() == list(range(1, 7463))
    found = Counter[str]()
    for strength, count in zip(strengths.tolist(), counts.tolist(), strict=True):
        found[category(strength)] += count
    assert dict(found) == FIVE_CARD_COUNTS


SEVEN_CARD_COUNTS = {
    "straight flush": 41_584,
    "four of a kind": 224_848,
    "full house": 3_473_184,
    "flush": 4_047_644,
    "straight": 6_180_020,
    "three of a kind": 6_461_620,
    "two pair": 31_433_400,
    "pair": 58_627_800,
    "high card": 23_294_460,
}


@pytest.mark.long
def test_all_seven_card_hands_fall_into_the_right_number_of_categories() -> None:
    """Long: 133,784,560 hands, by their two highest cards."""
    found = np.zeros(7463, np.int64)
    cards = (card for hand in combinations(range(50), 5) for card in hand)
    lowest = np.fromiter(cards, np.uint8).reshape(-1, 5)
    lowest = lowest[np.argsort(lowest[:, -1], kind="stable")]
    for sixth in range(5, 51):
        below = lowest[: np.searchsorted(lowest[:, -1], sixth)]
        hands = np.empty((len(below), 7), np.uint8)
        hands[:, :5], hands[:, 5] = below, sixth
        for seventh in range(sixth + 1, 52):
            hands[:, 6] = seventh
            found += np.bincount(evaluate(hands), minlength=len(found))
    assert found.sum() == 133_784_560
    counts = Counter[str]()
    for strength in np.flatnonzero(found).tolist():
        counts[category(strength)] += int(found[strength])
    assert dict(counts) == SEVEN_CARD_COUNTS


def test_order_of_seven_card_pairs_agrees_with_eval7_and_phevaluator() -> None:
    hands = random_hands(200_000, 7, seed=1)
    ours = evaluate(hands).astype(np.int64)
    cards = [eval7.Card(card_text(card)) for card in range(52)]
    rows = hands.tolist()
    eval7_says = np.array([eval7.evaluate([cards[card] for card in row]) for row in rows])
    # phevaluator numbers from 1, the best, to 7462.
    phevaluator_says = np.array([-phevaluator.evaluate_cards(*row) for row in rows[:50_000]])
    for others in (eval7_says, phevaluator_says):
        mine = ours[: len(others)]
        assert (np.sign(mine[1:] - mine[:-1]) == np.sign(others[1:] - others[:-1])).all()
        # Equal hands equal and different hands different, over all pairs at once.
        pairs = set(zip(mine.tolist(), others.tolist(), strict=True))
        assert len(pairs) == len(set(mine.tolist())) == len(set(others.tolist()))


@given(st.integers(5, 7), st.randoms(use_true_random=False))
def test_two_hands_compare_as_the_rules_say(size: int, random: object) -> None:
    sample = random.sample  # type: ignore[attr-defined]
    first, second = sample(range(52), size), sample(range(52), size)
    strengths = evaluate([first, second]).astype(int)
    keys = naive.hand_key(first), naive.hand_key(second)
    assert (strengths[0] > strengths[1]) == (keys[0] > keys[1])
    assert (strengths[0] == strengths[1]) == (keys[0] == keys[1])
    assert category(int(strengths[0])) == list(reversed(FIVE_CARD_COUNTS))[keys[0][0]]


@given(st.lists(st.integers(0, 51), min_size=7, max_size=7, unique=True), st.integers(0, 23))
def test_neither_order_nor_names_of_suits_matter(cards: list[int], permutation: int) -> None:
    renamed = CARD_PERMUTATIONS[permutation][cards].tolist()
    assert evaluate([cards]) == evaluate([sorted(cards)]) == evaluate([renamed])


@pytest.mark.parametrize(
    "board", ["QsJh2h7c3d", "AsAhAdAcKs", "8s8h8d8c2s", "KsQsJsTs9s", "As2s3s4sKd", "7h7d7c2h2d"]
)
def test_combos_on_a_board_agree_with_single_hands(board: str) -> None:
    cards = parse_cards(board)
    strengths = combo_strengths([cards])[0]
    for combo, pair in enumerate(COMBO_CARDS.tolist()):
        if set(pair) & set(cards):
            assert strengths[combo] == DEAD
        else:
            assert strengths[combo] == evaluate([[*pair, *cards]])[0]


def test_boards_of_four_equal_cards_read_nothing_outside_the_tables() -> None:
    """A dead combo adds a fifth and sixth card of a rank, a sum that belongs to no hand."""
    boards = [
        [4 * rank, 4 * rank + 1, 4 * rank + 2, 4 * rank + 3, (4 * rank + 7) % 52]
        for rank in range(13)
    ]
    strengths = combo_strengths(boards)
    live = strengths != DEAD
    assert (live.sum(axis=1) == 47 * 46 // 2).all()
    assert all(category(int(s)) == "four of a kind" for s in strengths[live][::97])


@pytest.mark.parametrize(
    ("hands", "message"),
    [
        ([[0, 1, 2, 3]], "hands must be an array [N, 5..7] of cards, not of shape (1, 4)"),
        ([0, 1, 2, 3, 4], "not of shape (5,)"),
        ([[0, 1, 2, 3, 52]], "cards are whole numbers 0..51, not 0..52"),
        ([[0, 1, 2, 3, -1]], "cards are whole numbers 0..51, not -1..3"),
        ([[0, 1, 2, 3, 4.5]], "cards are whole numbers 0..51, not float64"),
        ([[0, 1, 2, 3, 4], [7, 1, 2, 3, 7]], "hand 1 contains a card twice: 3s2d2h2s3s"),
    ],
)
def test_bad_hands_say_what_is_wrong(hands: list[object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(hands)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_a_strength_outside_the_scale_has_no_category() -> None:
    for strength in (0, 7463):
        with pytest.raises(InputError, match="a hand strength is 1"):
            category(strength)
