"""Who wins how often: every hand of one list against every hand of another, over many boards.

Strengths are compared a vector register at a time and the results counted, so neither a sort nor
a branch is needed. Hands that share a card are counted too; the caller leaves them out.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import kernel
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
            # A dead opponent holds the largest number: he neither loses nor ties.
            for c in range(column_count):
                row_wins[c] += weight if strength > opponents[c] else np.uint16(0)
                row_ties[c] += weight if strength == opponents[c] else np.uint16(0)
        for c in range(column_count):
            wins[r, c] += row_wins[c]
            ties[r, c] += row_ties[c]
