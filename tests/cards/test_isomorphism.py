"""Renamings of suits, canonical cards, and all boards up to renaming."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    COMBO_PERMUTATIONS,
    SUIT_PERMUTATIONS,
    canonical_cards,
    combo_index,
)
from allstreets.cards.isomorphism import canonical_boards

boards = st.lists(st.integers(0, 51), min_size=1, max_size=5, unique=True)


def orbit(cards: list[int]) -> set[frozenset[int]]:
    """Every set of cards that renaming suits makes of this one, the slow way."""
    return {
        frozenset(4 * (card // 4) + renaming[card % 4] for card in cards)
        for renaming in permutations(range(4))
    }


def test_all_renamings_are_there_and_the_first_changes_nothing() -> None:
    assert len({tuple(row) for row in SUIT_PERMUTATIONS.tolist()}) == 24
    assert CARD_PERMUTATIONS[0].tolist() == list(range(52))
    assert COMBO_PERMUTATIONS[0].tolist() == list(range(1326))


def test_combos_are_renamed_card_by_card() -> None:
    for number in range(24):
        for combo in range(0, 1326, 37):
            high, low = CARD_PERMUTATIONS[number][COMBO_CARDS[combo]].tolist()
            assert COMBO_PERMUTATIONS[number, combo] == combo_index(high, low)


@given(boards)
def test_canonical_cards_are_a_renaming_and_the_same_for_all_renamings(cards: list[int]) -> None:
    canonical = canonical_cards(cards)
    renamings = orbit(cards)
    assert frozenset(canonical) in renamings
    assert {canonical_cards(sorted(other)) for other in renamings} == {canonical}
    assert canonical_cards(canonical) == canonical


@pytest.mark.parametrize(("size", "count", "sets"), [(1, 13, 52), (2, 169, 1326), (3, 1755, 22100)])
def test_small_boards_are_complete(size: int, count: int, sets: int) -> None:
    found, multiplicities = canonical_boards(size)
    assert len(found) == count
    assert multiplicities.sum() == sets
    expected: dict[tuple[int, ...], int] = {}
    for cards in combinations(range(52), size):
        canonical = canonical_cards(cards)
        expected[canonical] = expected.get(canonical, 0) + 1
    assert dict(zip(map(tuple, found.tolist()), multiplicities.tolist(), strict=True)) == expected


def test_all_rivers_are_counted() -> None:
    found, multiplicities = canonical_boards(5)
    assert len(found) == 134_459
    assert multiplicities.sum() == 2_598_960
    assert len(np.unique(found, axis=0)) == 134_459
    for row in range(0, len(found), 4001):
        assert multiplicities[row] == len(orbit(found[row].tolist()))
