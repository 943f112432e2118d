"""What one bucket wins from another, on the river and with cards to come.

The *net share* of a pair of buckets is share won − share lost, −1 .. 1: equity = (1 + net) / 2. Net
shares of both players add up to 0, so these matrices are antisymmetric, to the last bit.

On the river the net share is counted: the mean over all boards and all pairs of combos that fit.
Before it follows from what both players may become there, each moving on by himself, since that is
how the bucket game deals its cards (`buckets`). So an all-in is worth what a check-down of the same
pot is worth, to every bucket against every other.

The mean over real pairs of combos would be nearer to the truth for an all-in alone: on the flop it
differs by 0.04 to 0.07 of a pot (root mean square), since in truth both players see the same cards
fall. But check-downs do not include this, so it would reward getting the money in early, or
not doing so.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Longs
from allstreets.cards import COMBO_CARDS
from allstreets.engines.matrix.kernels.bucket_pairs import count_river_pairs, multiply_sparse


@dataclass(frozen=True, eq=False)
class PairTotals:
    """Meetings of buckets: a meeting is two combos that share no card, on one complete board."""

    meetings: Longs  # [K, K], symmetric
    margin: Longs  # [K, K]: meetings that the row wins − those that it loses

    @property
    def net(self) -> Floats:
        """[K, K]: net share of the row; NaN where the buckets never meet."""
        with np.errstate(invalid="ignore"):
            return self.margin / self.meetings


def river_totals(
    strengths: NDArray[np.uint16], buckets: NDArray[np.int16], count: int
) -> PairTotals:
    """Meetings of `count` buckets on some river boards: strengths and buckets are [B, 1326]."""
    wins = np.zeros((count, count), np.int32)
    ties = np.zeros_like(wins)
    count_river_pairs(strengths, buckets, COMBO_CARDS, wins, ties)
    won = wins.astype(np.int64)
    return PairTotals(won + won.T + ties, won - won.T)


def river_net(totals: PairTotals) -> Floats:
    """[K, K]: net shares of river buckets, which are intervals of equity, the weakest first.

    Where two buckets never meet on a board, the one of more equity is taken to win: so it is, but
    for ties and shared cards, where they do meet (mean error 0.005 of a pot).
    """
    numbers = np.arange(len(totals.meetings))
    never_met = np.sign(numbers[:, None] - numbers).astype(np.float64)
    return np.where(totals.meetings > 0, totals.net, never_met)


def dealt_on(moves: Floats, next_net: Floats) -> Floats:
    """[K, K]: net shares of buckets that go on by `moves` [K, L] to those of `next_net` [L, L].

    moves · next_net · movesᵀ, antisymmetric and within −1 .. 1 to the last bit.
    """
    rows = np.empty((len(moves), len(next_net)))
    multiply_sparse(moves, next_net, rows)
    columns = np.empty((len(moves), len(moves)))
    multiply_sparse(moves, np.ascontiguousarray(rows.T), columns)
    return np.clip((columns.T - columns) / 2.0, -1.0, 1.0)
