"""Who beats whom, bucket by bucket: pairs of hands that share no card, counted over boards.

Every count is a whole number, so the order of boards and hands does not matter.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Ints, kernel
from allstreets.engines.matrix.kernels.bucket_rivers import STRENGTHS, order_by_strength


@kernel
def count_moves(before: NDArray[np.int16], after: NDArray[np.int16], counts: Ints) -> None:
    """Add how often hands go from bucket to bucket: `before` [H], `after` [B, H] by next card.

    A negative bucket stands for an absent hand.
    """
    for board in range(len(after)):
        for hand in range(len(before)):
            if before[hand] >= 0 and after[board, hand] >= 0:
                counts[before[hand], after[board, hand]] += 1


@kernel
def count_river_pairs(
    strengths: NDArray[np.uint16],
    buckets: NDArray[np.int16],
    cards: Bytes,
    wins: Ints,
    ties: Ints,
) -> None:
    """Add over complete boards the pairs that row bucket wins, and those that tie, [K, K].

    `strengths` and `buckets` are [B, H], `cards` [H, 2]. Hands are met from the weakest to the
    strongest, and a group of equal ones beats all that were met before, counted by bucket. Then the
    pairs that share a card are taken off again, card by card: at most 46 hands hold one.
    1,176 boards with 1,081 hands make 1.4 · 10⁹ pairs, which 32 bits hold.
    """
    bucket_count = len(wins)
    places = np.empty(STRENGTHS + 1, np.int32)
    order = np.empty(len(cards), np.int32)
    met = np.empty(bucket_count, np.int32)  # hands of each bucket that were met
    equal = np.zeros(bucket_count, np.int32)  # hands of each bucket in the group
    present = np.empty(bucket_count, np.int32)  # the buckets of the group
    holders = np.empty((52, 51), np.int32)  # hands with each card, weakest first
    held = np.empty(52, np.int32)
    for board in range(len(strengths)):
        strength, bucket = strengths[board], buckets[board]
        live = order_by_strength(strength, places, order)
        met[:] = 0
        held[:] = 0
        first = 0
        while first < live:
            end = first
            present_count = 0
            while end < live and strength[order[end]] == strength[order[first]]:
                hand = order[end]
                own = bucket[hand]
                if equal[own] == 0:
                    present[present_count] = own
                    present_count += 1
                equal[own] += 1
                ties[own, own] -= 1  # no hand meets itself
                for side in range(2):
                    card = cards[hand, side]
                    holders[card, held[card]] = hand
                    held[card] += 1
                end += 1
            for i in range(present_count):
                own = present[i]
                row, many = wins[own], equal[own]
                for other in range(bucket_count):
                    row[other] += many * met[other]
                for j in range(present_count):
                    ties[own, present[j]] += many * equal[present[j]]
            for i in range(present_count):
                met[present[i]] += equal[present[i]]
                equal[present[i]] = 0
            first = end
        for card in range(52):
            sharing = holders[card]
            beaten = 0
            for place in range(held[card]):
                own = bucket[sharing[place]]
                row = wins[own]
                while strength[sharing[beaten]] < strength[sharing[place]]:
                    beaten += 1
                for weaker in range(beaten):
                    row[bucket[sharing[weaker]]] -= 1
                for same in range(beaten, place):
                    other = bucket[sharing[same]]
                    ties[own, other] -= 1
                    ties[other, own] -= 1


@kernel
def multiply_sparse(left: Floats, right: Floats, out: Floats) -> None:
    """out [I, J] = left [I, K] · right [K, J] in a fixed order, skipping the zeros of `left`."""
    out[:] = 0.0
    for i in range(left.shape[0]):
        row = out[i]
        for k in range(left.shape[1]):
            factor = left[i, k]
            if factor != 0.0:
                added = right[k]
                for j in range(len(row)):
                    row[j] += factor * added[j]
