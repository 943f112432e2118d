"""The 169 hand classes: 13 pairs AA..22, then 78 suited AKs.., then 78 offsuit AKo...

Within the suited and the offsuit hands the order is by the higher rank, then by the lower one,
both falling: AKs, AQs, …, A2s, KQs, …, 32s.

**Pairs of hands.** Of the pairs of one combo of h and one of o, those that share a card do not fit.
With n[h] combos and N[h, x] combos that hold card x, Σ over cards of N[h, x] · N[o, x] counts a
pair once for every card that it shares: once for two combos that differ in one card, twice for a
combo and itself. So W = n nᵀ − N Nᵀ + diag(n) is exactly the number of pairs that fit.
"""

import numpy as np

from allstreets.base import Bytes, InputError, Longs
from allstreets.cards.card import DECK_SIZE, RANKS
from allstreets.cards.combos import COMBO_CARDS, live_combos

HAND_COUNT = 169
PAIRS = slice(0, 13)
SUITED = slice(13, 91)
OFFSUIT = slice(91, 169)


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

for _table in (HAND_OF_COMBO, HAND_SIZES):
    _table.setflags(write=False)
for _combos in COMBOS_OF_HAND:
    _combos.setflags(write=False)

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
