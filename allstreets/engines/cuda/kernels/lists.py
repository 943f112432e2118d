"""Lists that the CUDA kernels sum over: combos by card, combos by river bucket, buckets by hand.

**By card.** For each board and card: the opponent's combos with that card, weakest first, as the
hands that they are. Sums over the first of such a list stand in a row with one entry more than the
list; the rows of all cards stand one after the other.

**By bucket.** Between turn and river, lists are filled up to fours with a place that holds zeros,
and bounds count fours, so that they are read four at a time.
"""

import numpy as np

from allstreets.base import Bytes, Ints, Longs, kernel
from allstreets.engines.exact.kernels.layout import Shorts

CARDS = 53
"""The last one is held by padding, and by no combo."""
FOUR = 4


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


@kernel
def list_dealt(
    children: Longs,
    hand_start: Longs,
    combo_start: Longs,
    first: Shorts,
    parent: Shorts,
    buckets: int,
    start: Ints,
    bounds: Shorts,
    places: Shorts,
) -> None:
    """Fill `places` with the hands on the turn of the combos of each bucket of the river boards.

    `children` [T+1] are the river boards of each turn, whose hands begin at `hand_start` [T+1];
    `combo_start`, `first` and `parent` are those of `BucketCombos`. The fours of board b begin at
    start[b], those of its buckets from there at bounds[b, bucket]. The place behind the last hand
    holds zeros. `places` has room for three more than its combos in each bucket.
    """
    end = 0
    for turn in range(len(children) - 1):
        spare = hand_start[turn + 1] - hand_start[turn]
        for board in range(children[turn], children[turn + 1]):
            start[board] = end
            for bucket in range(buckets):
                at = board * (buckets + 1) + bucket
                bounds[at] = end - start[board]
                count = first[at + 1] - first[at]
                combo = combo_start[board] + first[at]
                for place in range((count + 3) // FOUR * FOUR):
                    places[FOUR * end + place] = parent[combo + place] if place < count else spare
                end += (count + 3) // FOUR
            bounds[board * (buckets + 1) + buckets] = end - start[board]
    start[children[-1]] = end


@kernel
def list_entries(
    children: Longs,
    hand_start: Longs,
    combo_start: Longs,
    first: Shorts,
    parent: Shorts,
    buckets: int,
    part: int,
    parts: int,
    start: Ints,
    used: Ints,
    entries: Shorts,
) -> None:
    """Fill `entries` with the combos of all river boards, by hand of the turn and part.

    The river boards `children` [T+1] of a turn are taken in `parts` of `part` boards; the rest is
    as in `list_dealt`. An entry is buckets · board of the part + bucket; that behind the last one
    of a part holds zeros, and `entries` come in as it. The fours of a hand h in part p begin at
    start[h · parts + p]; within them boards and buckets rise. `start` has one number more than
    that; it and `used` come in as zeros.
    """
    for counting in range(2):  # how many there are, and then where they begin
        for turn in range(len(children) - 1):
            for board in range(children[turn], children[turn + 1]):
                local = board - children[turn]
                for bucket in range(buckets):
                    cell = board * (buckets + 1) + bucket
                    for combo in range(
                        combo_start[board] + first[cell], combo_start[board] + first[cell + 1]
                    ):
                        key = (hand_start[turn] + parent[combo]) * parts + local // part
                        if counting == 0:
                            start[key + 1] += 1
                        else:
                            entry = buckets * (local % part) + bucket
                            entries[FOUR * start[key] + used[key]] = entry
                            used[key] += 1
        if counting == 0:
            for key in range(len(start) - 1):
                start[key + 1] = start[key] + (start[key + 1] + 3) // FOUR
