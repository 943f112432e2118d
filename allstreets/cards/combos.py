"""The 1,326 combos: two different cards, numbered by their higher card, then the lower one.

Combo (high, low) with high > low is high · (high − 1) / 2 + low, so the combos of a deck without
its highest cards come first, and no table is needed to number one.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Flags, Floats, InputError, Longs, shorten
from allstreets.cards.card import DECK_SIZE, card_text, parse_cards

COMBO_COUNT = 1326


def _all_combo_cards() -> Bytes:
    high, low = np.tril_indices(DECK_SIZE, -1)
    return np.stack([high, low], axis=1).astype(np.uint8)


COMBO_CARDS: Bytes = _all_combo_cards()
"""[1326, 2]: the cards of each combo, the higher one first."""

COMBO_MASKS: NDArray[np.uint64] = np.uint64(1) << COMBO_CARDS[:, 0].astype(np.uint64) | np.uint64(
    1
) << COMBO_CARDS[:, 1].astype(np.uint64)
"""[1326]: both cards as bits 0..51."""

for _table in (COMBO_CARDS, COMBO_MASKS):
    _table.setflags(write=False)


def combo_index(first: int, second: int) -> int:
    """The number 0..1325 of two different cards, in any order."""
    high, low = max(first, second), min(first, second)
    return high * (high - 1) // 2 + low


def combo_text(combo: int) -> str:
    """The four letters of a combo, higher card first.

    >>> combo_text(1325), combo_text(0)
    ('AsAh', '2d2c')
    """
    high, low = COMBO_CARDS[combo]
    return card_text(int(high)) + card_text(int(low))


def parse_combo(text: str) -> int:
    """Read a combo such as "AsKh"."""
    cards = parse_cards(text)
    if len(cards) != 2:
        raise InputError(f"'{shorten(text)}' is not a combo: write two cards, such as AsKh")
    return combo_index(*cards)


def card_mask(cards: tuple[int, ...]) -> np.uint64:
    """Cards as bits 0..51."""
    return np.uint64(sum(1 << card for card in cards))


def live_combos(board: tuple[int, ...]) -> Flags:
    """[1326]: which combos share no card with the board."""
    fits: Flags = (COMBO_MASKS & card_mask(board)) == 0
    return fits


def disjoint_combos() -> Flags:
    """[1326, 1326]: which pairs of combos share no card."""
    fits: Flags = (COMBO_MASKS[:, None] & COMBO_MASKS[None, :]) == 0
    return fits


def fitting(first: Longs, second: Longs) -> Flags:
    """[H, H']: which combos have no card in common."""
    fits: Flags = (COMBO_MASKS[first][:, None] & COMBO_MASKS[second][None, :]) == 0
    return fits


SUMS_HOLD = 1e-6  # of all reach: less is what sums of all and of those that block cancel down to


def met_reach(combos: Longs, others: Longs, reach: Floats) -> Floats:
    """[H]: the reach [H'] of the other combos that have no card in common with each combo.

    It is all reach, less that of the combos with its first card and with its second, plus that of
    the combo itself, which was taken off twice. Where next to nothing is left, it is added up.
    """
    by_combo = np.zeros(COMBO_COUNT)
    by_combo[others] = reach
    high, low = COMBO_CARDS[others].T
    by_card = np.bincount(high, reach, 52) + np.bincount(low, reach, 52)
    total = reach.sum()
    met: Floats = total - by_card[COMBO_CARDS[combos]].sum(axis=1) + by_combo[combos]
    little = np.flatnonzero(~(met > SUMS_HOLD * total))
    if len(little):
        met[little] = fitting(combos[little], others) @ reach
    return met
