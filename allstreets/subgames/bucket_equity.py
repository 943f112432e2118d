"""What one bucket wins from another: the mean over all boards and all pairs of combos that fit.

The *net share* of a pair of buckets is share won − share lost, −1 .. 1: equity = (1 + net) / 2. Net
shares of both players add up to 0, so these matrices are antisymmetric, to the last bit.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.cards import COMBO_CARDS
from allstreets.cards.combos import COMBO_MASKS
from allstreets.kernels.bucket_pairs import (
    ONE_PAIR,
    count_river_pairs,
    count_runout_pairs,
    multiply_sparse,
)
from allstreets.subgames.bucket_features import FlopBoards

PAIR_RIVERS = 44
"""Ways to deal the river beside two combos, a flop and a turn card."""


@dataclass(frozen=True, eq=False)
class PairTotals:
    """Meetings of buckets: a meeting is two combos that share no card, on one complete board."""

    meetings: NDArray[np.int64]  # [K, K], symmetric
    margin: NDArray[np.int64]  # [K, K]: meetings that the row wins − those that it loses

    @property
    def net(self) -> NDArray[np.float64]:
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


def runout_totals(
    boards: FlopBoards,
    turn_buckets: NDArray[np.int16],
    flop_buckets: NDArray[np.int16],
    turn_cards: Iterable[int],
) -> tuple[PairTotals, PairTotals]:
    """Meetings of turn buckets and of flop buckets, over some turn cards and all their rivers.

    `turn_buckets` [52, 1326] and `flop_buckets` [1326] hold −1 where cards collide.
    """
    turn_count, flop_count = int(turn_buckets.max()) + 1, int(flop_buckets.max()) + 1
    turn_cells = np.zeros((turn_count, turn_count), np.int64)
    flop_cells = np.zeros((flop_count, flop_count), np.int64)
    for card in turn_cards:
        live = np.flatnonzero(turn_buckets[card] >= 0)
        # In order of bucket, the cells of a row are met one after the other.
        live = live[np.argsort(turn_buckets[card, live], kind="stable")]
        count_runout_pairs(
            np.ascontiguousarray(boards.strengths[boards.after_turn(card)][:, live]),
            COMBO_MASKS[live],
            turn_buckets[card, live].astype(np.uint16),
            flop_buckets[live].astype(np.uint16),
            turn_cells,
            flop_cells,
        )
    return _from_cells(turn_cells), _from_cells(flop_cells)


def _from_cells(cells: NDArray[np.int64]) -> PairTotals:
    """Cells hold every pair of combos once, in the row of either."""
    pairs, points = np.divmod(cells, ONE_PAIR)
    margin = points - PAIR_RIVERS * pairs
    return PairTotals(PAIR_RIVERS * (pairs + pairs.T), margin - margin.T)


def river_net(totals: PairTotals) -> NDArray[np.float64]:
    """[K, K]: net shares of river buckets, which are intervals of equity, the weakest first.

    Where two buckets never meet on a board, the one of more equity is taken to win: so it is, but
    for ties and shared cards, where they do meet (mean error 0.005 of a pot).
    """
    numbers = np.arange(len(totals.meetings))
    never_met = np.sign(numbers[:, None] - numbers).astype(np.float64)
    return np.where(totals.meetings > 0, totals.net, never_met)


def runout_net(
    totals: PairTotals, moves: NDArray[np.float64], next_net: NDArray[np.float64]
) -> NDArray[np.float64]:
    """[K, K]: net shares of flop or turn buckets, which go on to the next street by `moves` [K, L].

    Many pairs of turn buckets never meet, since one needs a turn card that the other excludes: half
    of all weight with 500 buckets. Their net share is what they have on the next street, `next_net`
    [L, L], each moving on by himself, which is what the bucket game deals to two players who check.
    For pairs that do meet, the equity found so is 0.06 to 0.09 of a pot off (root mean square);
    comparing the buckets' mean equities, p(1 − q) to q(1 − p), is 0.15 off.
    """
    return np.where(totals.meetings > 0, totals.net, dealt_on(moves, next_net))


def dealt_on(moves: NDArray[np.float64], next_net: NDArray[np.float64]) -> NDArray[np.float64]:
    """[K, K]: moves · next_net · movesᵀ, antisymmetric and within −1 .. 1 to the last bit."""
    rows = np.empty((len(moves), len(next_net)))
    multiply_sparse(moves, next_net, rows)
    columns = np.empty((len(moves), len(moves)))
    multiply_sparse(moves, np.ascontiguousarray(rows.T), columns)
    return np.clip((columns.T - columns) / 2.0, -1.0, 1.0)
