"""Combos and pairs of combos beside a board, against counting them one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import flops as naive_flops

from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    HAND_NAMES,
    HAND_OF_COMBO,
    HAND_SIZES,
    all_flops,
    hand_cards,
    hand_combos,
    hand_pairs,
    parse_board,
    parse_hand,
    preflop_equity,
)

BOARDS = ["", "AhKd2c", "QsJh2h", "8s8h3d", "5s5h5d", "9s6s3sKd", "AsAhAdAc2c"]
boards = st.lists(st.integers(0, 51), max_size=5, unique=True).map(tuple)


@pytest.mark.parametrize("text", BOARDS)
def test_all_pairs_agree_with_looking_at_every_two_combos(text: str) -> None:
    board = set(parse_board(text))
    combos = [
        (int(hand), {int(card) for card in cards})
        for hand, cards in zip(HAND_OF_COMBO, COMBO_CARDS, strict=True)
        if not board & {int(card) for card in cards}
    ]
    pairs = np.zeros((169, 169), np.int64)
    holding = np.zeros((169, 52), np.int64)
    for hand, cards in combos:
        for card in cards:
            holding[hand, card] += 1
        fitting = np.array([other for other, opposing in combos if cards.isdisjoint(opposing)])
        pairs[hand] += np.bincount(fitting, minlength=169)
    assert np.array_equal(hand_pairs(tuple(board)), pairs)
    assert np.array_equal(hand_cards(tuple(board)), holding)
    assert np.array_equal(
        hand_combos(tuple(board)), np.bincount([h for h, _ in combos], minlength=169)
    )


@given(boards, st.sampled_from(HAND_NAMES), st.sampled_from(HAND_NAMES))
def test_two_hands_agree_with_their_combos_written_out(
    board: tuple[int, ...], first: str, second: str
) -> None:
    expected = naive_flops.pairs(first, second, board)
    assert hand_pairs(board)[parse_hand(first), parse_hand(second)] == expected


@settings(max_examples=50)
@given(boards, st.integers(0, 23))
def test_what_must_hold_on_any_board(board: tuple[int, ...], permutation: int) -> None:
    pairs, combos, holding = hand_pairs(board), hand_combos(board), hand_cards(board)
    left = 52 - len(board)
    assert np.array_equal(pairs, pairs.T)
    assert np.array_equal(pairs.sum(axis=1), combos * ((left - 2) * (left - 3) // 2))
    assert np.array_equal(holding.sum(axis=1), 2 * combos)
    assert combos.sum() == left * (left - 1) // 2
    renamed = tuple(CARD_PERMUTATIONS[permutation][list(board)].tolist())
    assert np.array_equal(hand_pairs(renamed), pairs)


def test_before_the_flop() -> None:
    assert np.array_equal(hand_pairs(), preflop_equity().pairs)
    assert np.array_equal(hand_combos(), HAND_SIZES)


def test_the_flops_together_hold_every_pair_of_combos_equally_often() -> None:
    """48 cards are left beside two combos, so there are 17,296 flops for each pair."""
    total = sum(flop.multiplicity * hand_pairs(flop.cards) for flop in all_flops())
    assert np.array_equal(total, 17_296 * preflop_equity().pairs)
