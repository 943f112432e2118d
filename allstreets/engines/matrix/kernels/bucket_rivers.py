"""Hands and buckets on complete boards: equity, its spread over the cards to come, pairs won.

A hand's *points* on a complete board count, over all hands that share no card with it, 2 for each
that it beats and 1 for each that it ties: 0 .. 1980, since 990 hands are left to an opponent.
Every count is a whole number, so the order of boards and hands does not matter.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Ints, inner_kernel, kernel
from allstreets.cards.kernels.evaluator import DEAD

MOST_POINTS = 1980
CELLS = 30
CELL_WIDTH = 66
"""The number of points in a cell; `CELLS` cells hold all numbers below `MOST_POINTS`."""

DEAD_POINTS = -1
"""Stands for a hand that shares a card with the board."""

STRENGTHS = 7463
"""Hand strengths lie below this."""


@inner_kernel
def order_by_strength(strengths: NDArray[np.uint16], places: Ints, order: Ints) -> int:
    """Fill `order` [H] with the live hands, weakest first, and return how many there are.

    Hands of equal strength keep their order. Strengths are small numbers, so counting them sorts
    them; `places` [STRENGTHS + 1] is scratch.
    """
    places[:] = 0
    for hand in range(len(strengths)):
        if strengths[hand] != DEAD:
            places[np.int64(strengths[hand]) + 1] += 1
    for strength in range(1, len(places)):
        places[strength] += places[strength - 1]
    live = int(places[-1])
    for hand in range(len(strengths)):
        if strengths[hand] != DEAD:
            order[places[strengths[hand]]] = hand
            places[strengths[hand]] += 1
    return live


@kernel
def count_points(strengths: NDArray[np.uint16], cards: Bytes, points: NDArray[np.int16]) -> None:
    """Points of each hand [H, 2] on each board into `points` [B, H], from strengths [B, H].

    Hands are met from the weakest to the strongest, those of equal strength together. A hand beats
    all hands met before it except those with one of its two cards, which are counted card by card.
    """
    places = np.empty(STRENGTHS + 1, np.int32)
    order = np.empty(len(cards), np.int32)
    met_with = np.empty(52, np.int32)
    for board in range(len(strengths)):
        strength = strengths[board]
        live = order_by_strength(strength, places, order)
        points[board] = DEAD_POINTS
        met_with[:] = 0
        first = 0
        while first < live:
            end = first
            while end < live and strength[order[end]] == strength[order[first]]:
                end += 1
            # Points are the hands that are beaten, plus those that are beaten or tied.
            for place in range(first, end):
                hand = order[place]
                points[board, hand] = first - met_with[cards[hand, 0]] - met_with[cards[hand, 1]]
            for place in range(first, end):
                hand = order[place]
                met_with[cards[hand, 0]] += 1
                met_with[cards[hand, 1]] += 1
            for place in range(first, end):
                # The hand itself was met once, and once with each of its cards: hence the 1.
                hand = order[place]
                points[board, hand] += end - met_with[cards[hand, 0]] - met_with[cards[hand, 1]] + 1
            first = end


@kernel
def spread_points(points: NDArray[np.int16], scratch: Ints, out: Ints) -> None:
    """The spread of each hand's points over boards: `points` [B, H] into `out` [H, CELLS].

    out[h, k] = Σ over the numbers u of cell k of the live boards on which the hand has at most u
    points: the cumulative distribution, added up within the cell. So it sees where in a cell the
    points lie, and a row of `out` sums to Σ over boards of (MOST_POINTS − points).
    `scratch` [H, CELLS] counts the boards of each cell.
    """
    scratch[:] = 0
    out[:] = 0
    for board in range(points.shape[0]):
        for hand in range(points.shape[1]):
            here = int(points[board, hand])
            if 0 <= here < MOST_POINTS:
                cell = here // CELL_WIDTH
                scratch[hand, cell] += 1
                out[hand, cell] += (cell + 1) * CELL_WIDTH - here
    for hand in range(points.shape[1]):
        below = 0
        for cell in range(CELLS):
            out[hand, cell] += CELL_WIDTH * below
            below += scratch[hand, cell]


@kernel
def count_moves(before: NDArray[np.int16], after: NDArray[np.int16], counts: Ints) -> None:
    """Add the transitions of hands from bucket to bucket: `before` [H], `after` [B, H] by next
    card.

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
