"""Combos."""

import numpy as np
import pytest

from allstreets.base import InputError
from allstreets.cards import (
    COMBO_CARDS,
    combo_index,
    combo_text,
    fitting,
    live_combos,
    met_reach,
    parse_combo,
)
from allstreets.cards.hands import COMBO_MASKS, disjoint_combos


def test_every_combo_is_there_once_and_knows_its_number() -> None:
    assert COMBO_CARDS.shape == (1326, 2)
    assert len({tuple(pair) for pair in COMBO_CARDS.tolist()}) == 1326
    for number, (high, low) in enumerate(COMBO_CARDS.tolist()):
        assert high > low
        assert combo_index(high, low) == combo_index(low, high) == number
        assert parse_combo(combo_text(number)) == number


def test_tables_cannot_be_spoiled() -> None:
    with pytest.raises(ValueError, match="read-only"):
        COMBO_CARDS[0, 0] = 7


def test_a_board_blocks_the_combos_that_hold_its_cards() -> None:
    board = (50, 38, 2)
    live = live_combos(board)
    for number, pair in enumerate(COMBO_CARDS.tolist()):
        assert live[number] == (not set(pair) & set(board))
    assert live.sum() == 49 * 48 // 2


def test_two_combos_fit_beside_each_other_when_all_four_cards_differ() -> None:
    fits = disjoint_combos()
    sets = [set(pair) for pair in COMBO_CARDS.tolist()]
    for first in range(0, 1326, 131):
        assert fits[first].tolist() == [not sets[first] & other for other in sets]
    assert fits.sum() == 1326 * 1225
    assert np.bitwise_count(COMBO_MASKS).tolist() == [2] * 1326


@pytest.mark.parametrize("held", ["all", "some", "blocking", "tiny beside one", "none"])
def test_met_reach_is_the_sum_over_the_combos_that_fit(held: str) -> None:
    """As adding them up one by one has it, nothing at all included."""
    chance = np.random.default_rng(5)
    combos, others = np.flatnonzero(live_combos((50, 38, 2))), np.flatnonzero(live_combos((50,)))
    reach = chance.random(len(others))
    if held == "some":
        reach[chance.random(len(others)) < 0.99] = 0.0
    if held == "blocking":  # all of it blocks the combos that hold the ace of spades
        reach[~(COMBO_CARDS[others] == 51).any(axis=1)] = 0.0
    if held == "tiny beside one":
        reach *= 1e-14
        reach[7] = 1.0
    if held == "none":
        reach[:] = 0.0
    slow = fitting(combos, others) @ reach
    assert met_reach(combos, others, reach) == pytest.approx(slow, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("text", ["As", "AsKsQs", ""])
def test_a_combo_has_two_cards(text: str) -> None:
    with pytest.raises(InputError, match="is not a combo: write two cards"):
        parse_combo(text)
