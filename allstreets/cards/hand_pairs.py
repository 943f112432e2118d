"""How many combos of the 169 hands fit beside a board, and beside each other, as whole numbers.

Of the pairs of one combo of h and one of o, those that share a card do not fit. With n[h] combos
and N[h, x] combos that hold card x, Σ over cards of N[h, x] · N[o, x] counts a pair once for every
card that it shares: once for two combos that differ in one card, twice for a combo and itself. So

    W = n nᵀ − N Nᵀ + diag(n)

is exactly the number of pairs that fit.
"""

import numpy as np

from allstreets.base import Longs
from allstreets.cards.card import DECK_SIZE
from allstreets.cards.combos import COMBO_CARDS, live_combos
from allstreets.cards.hands import HAND_COUNT, HAND_OF_COMBO


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
