"""Who beats whom, bucket by bucket: pairs of hands that share no card, counted over boards.

Every count is a whole number, so the order of boards and hands does not matter.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.bucket_rivers import STRENGTHS, order_by_strength
from allstreets.kernels.evaluator import DEAD
from allstreets.kernels.jit import kernel

ONE_PAIR = np.int64(1) << np.int64(32)
"""A cell of `count_runout_pairs` holds pairs in its upper and points in its lower half."""


@kernel
def count_moves(
    before: NDArray[np.int16], after: NDArray[np.int16], counts: NDArray[np.int32]
) -> None:
    """Add how often hands go from bucket to bucket: `before` [H], `after` [B, H] by next card.

    A negative bucket stands for a hand that is not there.
    """
    for board in range(len(after)):
        for hand in range(len(before)):
            if before[hand] >= 0 and after[board, hand] >= 0:
                counts[before[hand], after[board, hand]] += 1


@kernel
def count_river_pairs(
    strengths: NDArray[np.uint16],
    buckets: NDArray[np.int16],
    cards: NDArray[np.uint8],
    wins: NDArray[np.int32],
    ties: NDArray[np.int32],
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
                ties[own, own] -= 1  # nobody meets himself
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
def count_runout_pairs(
    strengths: NDArray[np.uint16],
    masks: NDArray[np.uint64],
    turn_buckets: NDArray[np.uint16],
    flop_buckets: NDArray[np.uint16],
    turn_cells: NDArray[np.int64],
    flop_cells: NDArray[np.int64],
) -> None:
    """Add what hands meet over the rivers of one turn card, by their turn and their flop buckets.

    `strengths` [B, H] are those on each river, `masks` [H] the hands' cards as bits. Each pair of
    hands that share no card adds `ONE_PAIR` and the points of the hand that comes first, 2 a win
    and 1 a tie, to one cell of `turn_cells` [K, K] and one of `flop_cells`, in the row of the hand
    that comes first. All 49 turn cards together make 2.9 · 10⁷ pairs and 2.5 · 10⁹ points.
    """
    river_count, hand_count = strengths.shape
    points = np.empty(hand_count, np.uint16)
    amounts = np.empty(hand_count, np.int64)
    for hand in range(hand_count):
        # Slices that begin at 0, for only such loops are vectorised.
        rest = points[hand + 1 :]
        rest[:] = 0
        for river in range(river_count):
            strength = strengths[river, hand]
            if strength == DEAD:
                continue
            # A dead opponent holds the largest number: he gives no point.
            others = strengths[river, hand + 1 :]
            for other in range(len(rest)):
                rest[other] += np.uint16(1) if strength > others[other] else np.uint16(0)
                rest[other] += np.uint16(1) if strength >= others[other] else np.uint16(0)
        mask = masks[hand]
        other_masks = masks[hand + 1 :]
        for other in range(len(rest)):
            fits = mask & other_masks[other] == 0
            amounts[other] = np.int64(rest[other]) + ONE_PAIR if fits else np.int64(0)
        turn_row = turn_cells[turn_buckets[hand]]
        flop_row = flop_cells[flop_buckets[hand]]
        other_turns = turn_buckets[hand + 1 :]
        other_flops = flop_buckets[hand + 1 :]
        for other in range(len(rest)):
            turn_row[other_turns[other]] += amounts[other]
            flop_row[other_flops[other]] += amounts[other]


@kernel
def multiply_sparse(
    left: NDArray[np.float64], right: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
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
