"""Hand classes."""

import pytest

from allstreets.base import InputError
from allstreets.cards import (
    HAND_NAMES,
    HAND_OF_COMBO,
    HAND_SIZES,
    combo_text,
    grid_cell,
    parse_combo,
    parse_hand,
)


def test_order_is_pairs_suited_offsuit_each_from_the_top() -> None:
    assert HAND_NAMES[:3] == ("AA", "KK", "QQ")
    assert HAND_NAMES[12:15] == ("22", "AKs", "AQs")
    assert HAND_NAMES[90:93] == ("32s", "AKo", "AQo")
    assert HAND_NAMES[168] == "32o"
    assert len(set(HAND_NAMES)) == 169


def test_combos_belong_to_the_hand_that_their_letters_spell() -> None:
    for combo in range(1326):
        high, suit_high, low, suit_low = list(combo_text(combo))
        kind = "" if high == low else "s" if suit_high == suit_low else "o"
        assert HAND_NAMES[HAND_OF_COMBO[combo]] == high + low + kind


def test_sizes_sum_to_all_combos() -> None:
    assert HAND_SIZES.sum() == 1326
    assert set(HAND_SIZES[:13]) == {6}
    assert set(HAND_SIZES[13:91]) == {4}
    assert set(HAND_SIZES[91:]) == {12}


def test_names_read_back_in_any_order_and_case() -> None:
    for number, name in enumerate(HAND_NAMES):
        assert parse_hand(name) == parse_hand(name.lower()) == number
        assert parse_hand(name[1] + name[0] + name[2:]) == number


@pytest.mark.parametrize("text", ["", "A", "AK", "AKx", "AAs", "1Ks", "AKso"])
def test_what_is_not_a_hand_says_so(text: str) -> None:
    with pytest.raises(InputError, match="is not a hand: write two ranks and s or o"):
        parse_hand(text)


def test_the_grid_has_pairs_on_the_diagonal_and_suited_hands_above() -> None:
    assert grid_cell(parse_hand("AA")) == (0, 0)
    assert grid_cell(parse_hand("22")) == (12, 12)
    assert grid_cell(parse_hand("AKs")) == (0, 1)
    assert grid_cell(parse_hand("AKo")) == (1, 0)
    assert grid_cell(parse_hand("72o")) == (12, 7)
    assert len({grid_cell(hand) for hand in range(169)}) == 169


def test_a_known_combo() -> None:
    assert HAND_NAMES[HAND_OF_COMBO[parse_combo("KhAs")]] == "AKo"
