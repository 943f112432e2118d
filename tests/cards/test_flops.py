"""The 1,755 flops and their textures."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.cards import (
    CARD_PERMUTATIONS,
    all_flops,
    canonical_flop,
    parse_cards,
    parse_flop,
    texture,
)


def test_known_counts() -> None:
    flops = all_flops()
    assert len(flops) == 1755
    assert sum(flop.multiplicity for flop in flops) == 22100
    pairing = Counter(flop.texture.pairing for flop in flops)
    assert pairing == {"unpaired": 1430, "paired": 312, "trips": 13}
    suits = Counter[str]()
    for flop in flops:
        suits[flop.texture.suits] += flop.multiplicity
    assert suits == {"two-tone": 12168, "rainbow": 8788, "monotone": 1144}
    assert {flop.multiplicity for flop in flops} == {4, 12, 24}


@given(st.lists(st.integers(0, 51), min_size=3, max_size=3, unique=True), st.integers(0, 23))
def test_any_flop_finds_its_class_and_the_renaming_that_leads_there(
    cards: list[int], permutation: int
) -> None:
    found = canonical_flop(cards)
    renamed = sorted(CARD_PERMUTATIONS[found.permutation][cards].tolist(), reverse=True)
    assert tuple(renamed) == found.flop.cards
    assert [4 * (card // 4) + found.suit_map[card % 4] for card in cards] == (
        CARD_PERMUTATIONS[found.permutation][cards].tolist()
    )
    elsewhere = CARD_PERMUTATIONS[permutation][cards].tolist()
    assert canonical_flop(elsewhere).flop == found.flop
    assert all_flops()[found.flop.number] == found.flop
    assert texture(cards) == found.flop.texture


@pytest.mark.parametrize(
    ("text", "suits", "pairing", "high", "connectedness", "straight"),
    [
        ("AhKd7s", "rainbow", "unpaired", "A", "semi-connected", False),
        ("Ts9s8s", "monotone", "unpaired", "T", "connected", True),
        ("Ah2d3s", "rainbow", "unpaired", "A", "connected", True),
        ("AhKdTs", "rainbow", "unpaired", "A", "connected", True),
        ("AhKd9s", "rainbow", "unpaired", "A", "semi-connected", False),
        ("Kh8d3s", "rainbow", "unpaired", "K", "disconnected", False),
        ("9h9d2s", "rainbow", "paired", "9", "disconnected", False),
        ("9h9d8s", "rainbow", "paired", "9", "connected", False),
        ("4h4d4s", "rainbow", "trips", "4", "disconnected", False),
        ("Kh8h3s", "two-tone", "unpaired", "K", "disconnected", False),
    ],
)
def test_textures(
    text: str, suits: str, pairing: str, high: str, connectedness: str, straight: bool
) -> None:
    facts = texture(parse_cards(text))
    assert (facts.suits, facts.pairing, facts.high_card) == (suits, pairing, high)
    assert (facts.connectedness, facts.straight_possible) == (connectedness, straight)


def test_a_straight_is_possible_exactly_when_two_cards_make_one() -> None:
    windows = [{12, 0, 1, 2, 3}] + [set(range(low, low + 5)) for low in range(9)]
    for flop in all_flops():
        ranks = {card // 4 for card in flop.cards}
        makes_one = any(len(window - ranks) <= 2 for window in windows)
        assert flop.texture.straight_possible == makes_one


def test_flops_are_in_order_from_the_highest_cards() -> None:
    cards = np.array([flop.cards for flop in all_flops()])
    assert sorted(cards.tolist(), reverse=True) == cards.tolist()
    assert all_flops()[0].text == "AsAhAd"


@pytest.mark.parametrize("text", ["AhKd", "AhKd7s2c", ""])
def test_a_flop_has_three_cards(text: str) -> None:
    with pytest.raises(InputError, match=r"a flop has 3"):
        parse_flop(text)


def test_three_cards_must_differ() -> None:
    with pytest.raises(InputError, match="a flop has 3 different cards, not 'AsAs2c'"):
        canonical_flop((51, 51, 0))
