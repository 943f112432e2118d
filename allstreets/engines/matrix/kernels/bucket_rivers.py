"""How every hand stands on complete boards: against all others, and over the cards to come.

A hand's *points* on a complete board count, over all hands that share no card with it, 2 for each
that it beats and 1 for each that it ties: 0 .. 1980, since 990 hands are left to an opponent.
Points are whole numbers, so nothing here depends on the order of a sum.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Ints, inner_kernel, kernel
from allstreets.cards.kernels.evaluator import DEAD

MOST_POINTS = 1980
CELLS = 30
CELL_WIDTH = 66
"""How many numbers of points make a cell; `CELLS` of them hold all but `MOST_POINTS` itself."""

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
    all that were met before it but those that hold one of its two cards, and of those we know how
    many there are card by card.
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
            # Points are the hands that are beaten plus those that are beaten or tied.
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
    """How each hand's points are spread over boards: `points` [B, H] into `out` [H, CELLS].

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
