"""Where an own hand stands among the other player's combos that hold one of its cards.

For each board and card: the combos with that card, weakest first, as the hands that they are. Sums
over the first of such a list stand in a row with one entry more than the list; the rows of all
cards stand one after the other.
"""

import numpy as np

from allstreets.base import Bytes, Longs, kernel
from allstreets.engines.exact.kernels.layout import Shorts

CARDS = 53
"""The last one is held by padding, and by no combo."""


@kernel
def list_by_card(
    combo_start: Longs,
    combo_cards: Bytes,
    combo_hand: Shorts,
    card_start: Shorts,
    card_hand: Shorts,
) -> None:
    """Fill `card_start` [B, 54], of each list on a board, and `card_hand`, two for each combo."""
    count = np.zeros(CARDS + 1, np.int64)
    for board in range(len(combo_start) - 1):
        first, last = combo_start[board], combo_start[board + 1]
        count[:] = 0
        for place in range(2 * first, 2 * last):
            count[combo_cards[place] + 1] += 1
        for card in range(CARDS):
            count[card + 1] += count[card]
        for card in range(CARDS + 1):
            card_start[board * (CARDS + 1) + card] = count[card]
        for combo in range(first, last):
            for place in range(2 * combo, 2 * combo + 2):
                card = combo_cards[place]
                card_hand[2 * first + count[card]] = combo_hand[combo]
                count[card] += 1


@kernel
def place_in_lists(
    own_start: Longs,
    own_cards: Bytes,
    below: Shorts,
    upto: Shorts,
    combo_start: Longs,
    combo_cards: Bytes,
    card_start: Shorts,
    tables: Shorts,
) -> None:
    """Fill `tables`, eight for each own hand: below, upto; the same in the row of its first card,
    and in that of its second; and the last places of these rows."""
    counts = np.zeros(CARDS, np.int64)
    for board in range(len(own_start) - 1):
        first, starts = combo_start[board], board * (CARDS + 1)
        for which in range(2):
            # Hands stand in order of strength, so one walk over the combos finds all places.
            counts[:] = 0
            combo = 0
            for hand in range(own_start[board], own_start[board + 1]):
                upper = upto[hand] if which else below[hand]
                while combo < upper:
                    for place in range(2 * (first + combo), 2 * (first + combo) + 2):
                        counts[combo_cards[place]] += 1
                    combo += 1
                tables[8 * hand + which] = upper
                for k in range(2):
                    card = own_cards[2 * hand + k]
                    row = np.int64(card_start[starts + card]) + card
                    tables[8 * hand + 2 + 2 * k + which] = row + counts[card]
                    last = np.int64(card_start[starts + card + 1]) + card
                    tables[8 * hand + 6 + k] = last
