"""The 1,326 combos, and the 169 hand classes: 13 pairs AA.., 78 suited AKs.., 78 offsuit AKo...

A combo is two different cards, numbered by the higher card, then the lower one: (high, low) is
high · (high − 1) / 2 + low, so the combos of a deck without its highest cards come first, and no
table is needed to number one. Within the suited and the offsuit classes the order is by the higher
rank, then by the lower one, both falling: AKs, AQs, …, A2s, KQs, …, 32s.

**Pairs of hands.** Of the pairs of one combo of h and one of o, those that share a card do not fit.
With n[h] combos and N[h, x] combos that hold card x, Σ over cards of N[h, x] · N[o, x] counts a
pair once for every card that it shares: once for two combos that differ in one card, twice for a
combo and itself. So W = n nᵀ − N Nᵀ + diag(n) is exactly the number of pairs that fit.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Flags, Floats, InputError, Longs, shorten
from allstreets.cards.card import DECK_SIZE, RANKS, card_text, parse_cards

COMBO_COUNT = 1326
HAND_COUNT = 169
PAIRS = slice(0, 13)
SUITED = slice(13, 91)
OFFSUIT = slice(91, 169)


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


def hand_index(high: int, low: int, suited: bool) -> int:
    """The number 0..168 of the hand class of two ranks 0..12, high ≥ low.

    >>> hand_index(12, 12, False), hand_index(12, 11, True), hand_index(1, 0, False)
    (0, 13, 168)
    """
    if high == low:
        return 12 - high
    # Ranks above `high` head 12, 11, … unpaired hands each.
    before = sum(range(high + 1, 13))
    return (SUITED if suited else OFFSUIT).start + before + (high - 1 - low)


def _hand_names() -> tuple[str, ...]:
    names = [""] * HAND_COUNT
    for high in range(13):
        for low in range(high + 1):
            for suited in (True, False):
                kind = "" if high == low else "s" if suited else "o"
                names[hand_index(high, low, suited)] = RANKS[high] + RANKS[low] + kind
    return tuple(names)


def _hand_of_combo() -> Bytes:
    ranks, suits = COMBO_CARDS >> 2, COMBO_CARDS & 3
    return np.array(
        [
            hand_index(int(high), int(low), bool(suit_high == suit_low))
            for (high, low), (suit_high, suit_low) in zip(ranks, suits, strict=True)
        ],
        dtype=np.uint8,
    )


HAND_NAMES: tuple[str, ...] = _hand_names()
"""[169]: "AA", …, "AKs", …, "32o"."""

HAND_OF_COMBO: Bytes = _hand_of_combo()
"""[1326]: the hand class of each combo."""

HAND_SIZES: Longs = np.bincount(HAND_OF_COMBO, minlength=HAND_COUNT)
"""[169]: 6 combos per pair, 4 per suited hand, 12 per offsuit hand."""

COMBOS_OF_HAND: tuple[Longs, ...] = tuple(
    np.flatnonzero(hand == HAND_OF_COMBO) for hand in range(HAND_COUNT)
)
"""[169]: the combos of each hand class."""

HAND_OF_COMBO.setflags(write=False)
for _numbers in (HAND_SIZES, *COMBOS_OF_HAND):
    _numbers.setflags(write=False)

_NUMBER_OF_NAME = {name: number for number, name in enumerate(HAND_NAMES)}


def parse_hand(text: str) -> int:
    """Read a hand class: "AA", "AKs", "T9o"; the ranks may come in any order."""
    name = text[:2].upper() + text[2:].lower()
    swapped = name[1::-1] + name[2:]
    number = _NUMBER_OF_NAME.get(name, _NUMBER_OF_NAME.get(swapped))
    if number is None:
        raise InputError(f"'{text}' is not a hand: write two ranks and s or o, such as AKs, or 77")
    return number


def grid_cell(hand: int) -> tuple[int, int]:
    """Row and column of a hand in the usual 13×13 grid: AA top left, suited hands above the
    diagonal, offsuit hands below it.
    """
    name = HAND_NAMES[hand]
    high, low = 12 - RANKS.index(name[0]), 12 - RANKS.index(name[1])
    return (low, high) if name.endswith("o") else (high, low)


def hand_combos(board: tuple[int, ...] = ()) -> Longs:
    """n [169]: the combos of each hand that fit beside the board.

    >>> from allstreets.cards import parse_board, parse_hand
    >>> n = hand_combos(parse_board("AhKd2c"))
    >>> [int(n[parse_hand(hand)]) for hand in ("AA", "QQ", "AKs", "AKo")]
    [3, 6, 2, 7]
    """
    counts: Longs = np.bincount(HAND_OF_COMBO[live_combos(board)], minlength=HAND_COUNT)
    return counts


def hand_cards(board: tuple[int, ...] = ()) -> Longs:
    """N [169, 52]: how many of these combos hold each card."""
    live = live_combos(board)
    places = HAND_OF_COMBO[live].astype(np.int64)[:, None] * DECK_SIZE + COMBO_CARDS[live]
    counts: Longs = np.bincount(places.ravel(), minlength=HAND_COUNT * DECK_SIZE)
    return counts.reshape(HAND_COUNT, DECK_SIZE)


def hand_pairs(board: tuple[int, ...] = ()) -> Longs:
    """W [169, 169]: pairs of combos of two hands that fit beside the board and each other."""
    combos = hand_combos(board)
    # Sums of at most 72 fit 16 bits. Not by BLAS, whose threads wait long for a busy processor.
    holders = np.ascontiguousarray(hand_cards(board).T, np.int16)  # [52, 169]
    shared = np.einsum("xh,xo->ho", holders, holders)
    pairs: Longs = np.outer(combos, combos) - shared + np.diag(combos)
    return pairs
