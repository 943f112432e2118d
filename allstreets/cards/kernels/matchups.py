"""Wins of each hand of one list against each hand of another, counted over many boards.

Hand against hand (`count_wins`), strengths are compared a vector register at a time and the results
counted, so neither a sort nor a branch is needed. Hands that share a card are counted too; the
caller leaves them out.

Class against class (`add_class_wins`), whole sets of combos are compared board by board. The combos
are visited from the weakest strength to the strongest, with a tally of how many combos of each
class have been passed. What a combo beats is then one row, not one comparison per pair:

    all combos passed − those that hold its first card − those that hold its second card

No combo is taken off twice: only the combo itself holds both cards, and it has not been passed.
So a board costs C rows of additions where comparing every pair costs C²; the rows are short (a
class is one byte) and lie in the nearest cache.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Ints, kernel
from allstreets.cards.kernels.evaluator import DEAD

WEIGHT_LIMIT = 65535
"""The most that the weights of one call may sum to: the counters have 16 bits."""


@kernel
def count_wins(
    rows: NDArray[np.uint16],
    columns: NDArray[np.uint16],
    weights: NDArray[np.uint16],
    wins: NDArray[np.uint32],
    ties: NDArray[np.uint32],
) -> None:
    """Add Σ over boards of weight · [row hand wins] and [tie] to `wins` and `ties` [R, C].

    `rows` [R, B] and `columns` [B, C] hold hand strengths, `DEAD` where a hand does not fit beside
    the board; `weights` [B] say how often a board counts and sum to at most `WEIGHT_LIMIT`.
    The counters of one row have 16 bits, so that they stay in the first-level cache and a
    register holds as many of them as of strengths.
    """
    row_count, board_count = rows.shape
    column_count = columns.shape[1]
    row_wins = np.empty(column_count, np.uint16)
    row_ties = np.empty(column_count, np.uint16)
    for r in range(row_count):
        row_wins[:] = 0
        row_ties[:] = 0
        for b in range(board_count):
            strength = rows[r, b]
            if strength == DEAD:
                continue
            weight = weights[b]
            opponents = columns[b]
            # A dead opponent has the largest number: he neither loses nor ties.
            for c in range(column_count):
                row_wins[c] += weight if strength > opponents[c] else np.uint16(0)
                row_ties[c] += weight if strength == opponents[c] else np.uint16(0)
        for c in range(column_count):
            wins[r, c] += row_wins[c]
            ties[r, c] += row_ties[c]


ROW_LENGTH = 192
"""Classes in a row, of which the last are padding: three registers of 64 bytes and no rest."""

DECK = 52
DEAD_STRENGTH = np.uint16(7463)
"""One more than the strongest hand; combos that do not fit beside the board are put here."""


@kernel
def add_class_wins(
    strengths: NDArray[np.uint16],
    weights: Ints,
    cards: Bytes,
    classes: Bytes,
    wins: Ints,
) -> None:
    """Add Σ over boards of weight · (pairs of combos that the row's class wins) to `wins`.

    `strengths` [B, C] holds each combo's strength 1..7462 on each board, or a larger number where
    they share a card; `weights` [B] say how often a board counts; `cards` [C, 2] and `classes` [C]
    say what the combos are. `wins` [K, ROW_LENGTH] has a row and a column for each of K classes.
    Pairs of combos that share a card do not count.

    One board's tallies have 8 bits: no class may hold more than 15 combos (15 · 15 < 256).
    """
    board_count, combo_count = strengths.shape
    class_count = len(wins)
    # Combos of equal strength form a list: the latest one, and for each combo the one before it.
    latest = np.empty(np.int64(DEAD_STRENGTH) + 1, np.int16)
    before = np.empty(combo_count, np.int16)
    distinct = np.empty(combo_count + 1, np.uint16)
    passed = np.empty((DECK + 1, ROW_LENGTH), np.uint8)  # combos that hold a card, by class
    all_passed = passed[DECK]
    won = np.empty((class_count, ROW_LENGTH), np.uint8)
    for b in range(board_count):
        latest[:] = -1
        passed[:] = 0
        won[:] = 0
        # No branch in this loop: whether a strength is new could not be predicted. A strength that
        # is not new is overwritten by the next one.
        count = 0
        for c in range(combo_count):
            strength = min(strengths[b, c], DEAD_STRENGTH)
            distinct[count] = strength
            count += latest[strength] < 0
            before[c] = latest[strength]
            latest[strength] = c
        for strength in np.sort(distinct[:count]):
            if strength == DEAD_STRENGTH:
                break
            c = latest[strength]
            while c >= 0:
                row = won[classes[c]]
                first, second = passed[cards[c, 0]], passed[cards[c, 1]]
                for o in range(ROW_LENGTH):
                    row[o] += all_passed[o] - first[o] - second[o]
                c = before[c]
            # Only now are they passed: equal strengths do not beat each other.
            c = latest[strength]
            while c >= 0:
                own = classes[c]
                all_passed[own] += 1
                passed[cards[c, 0], own] += 1
                passed[cards[c, 1], own] += 1
                c = before[c]
        weight = weights[b]
        for h in range(class_count):
            for o in range(ROW_LENGTH):
                wins[h, o] += weight * np.int32(won[h, o])
