"""All-ins before the river: what own hands net against the other's over all runouts.

Strengths are compared a vector register at a time, as in `cards.kernels.matchups`. What comes out
is the matrix that terminals multiply by, and nothing as large stands in between.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Longs, kernel
from allstreets.cards.kernels.evaluator import DEAD

ROWS_AT_ONCE = 8
"""Own hands that read a runout's strengths together: their counts fit into the nearest cache."""


@kernel
def fill_nets(
    own: NDArray[np.uint16],
    against: NDArray[np.uint16],
    own_cards: Bytes,
    his_cards: Bytes,
    his_hand: Longs,
    dealt: int,
    nets: NDArray[np.float32],
) -> None:
    """Write share won − share lost to `nets` [R, H], summed over the combos of his hands.

    `own` [R, B] and `against` [B, C] are strengths on every runout, `DEAD` where a combo does not
    fit; `own_cards` [R, 2] and `his_cards` [C, 2] hold the combos' cards, `his_hand` [C] their
    hands. Two combos see `dealt` of the runouts; those that share a card never meet.
    """
    rows, boards = own.shape
    combos = against.shape[1]
    halves = np.zeros((ROWS_AT_ONCE, combos), np.uint16)  # of pots won
    net = np.zeros(combos, np.float64)
    hands = his_hand[combos - 1] + 1 if combos else 0
    high, low = np.zeros((2, combos), np.uint8)
    for combo in range(combos):
        high[combo], low[combo] = his_cards[combo, 0], his_cards[combo, 1]
    for begin in range(0, rows, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, rows)
        halves[:] = 0
        for board in range(boards):
            opponents = against[board]
            for row in range(begin, end):
                strength, counts = own[row, board], halves[row - begin]
                if strength == DEAD:
                    continue
                # A dead opponent has the largest number: he neither loses nor ties.
                for combo in range(combos):
                    counts[combo] += np.uint16(strength > opponents[combo])
                    counts[combo] += np.uint16(strength >= opponents[combo])
        for row in range(begin, end):
            counts, a, b = halves[row - begin], own_cards[row, 0], own_cards[row, 1]
            for combo in range(combos):
                shared = (high[combo] == a) | (low[combo] == a)
                shared |= (high[combo] == b) | (low[combo] == b)
                value = np.float64(counts[combo]) / dealt - 1.0
                net[combo] = 0.0 if shared else value
            if combos == hands:
                for combo in range(combos):
                    nets[row, combo] = net[combo]
                continue
            combo = 0
            for hand in range(hands):
                total = 0.0
                while combo < combos and his_hand[combo] == hand:
                    total += net[combo]
                    combo += 1
                nets[row, hand] = total
