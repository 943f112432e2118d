"""The equity of hands and buckets on all boards that can come after a flop.

A *situation* is a combo beside a board: 1,176 on the flop, 49 · 1,128 on the turn, 1,176 · 1,081 on
the river. On the river its equity is against all 990 combos that an opponent can hold, each as
likely as the other, counted in points (2 per win, 1 per tie, 1,980 in all). On the flop and the
turn a situation is described by how its river equity is spread over all cards to come, so that a
draw differs from a made hand of the same mean equity.

The *net share* of a pair of buckets is share won − share lost, −1 .. 1: equity = (1 + net) / 2. Net
shares of both players add up to 0, so these matrices are antisymmetric, to the last bit.

On the river the net share is counted: the mean over all boards and all pairs of combos that fit.
Before the river it follows from both players' transitions to the river, independent of each other,
since that is how the bucket game deals its cards (`buckets`). So an all-in is worth as much as a
check-down of the same pot, for every pair of buckets.

The mean over real pairs of combos would be nearer to the truth for an all-in alone: on the flop it
differs by 0.04 to 0.07 of a pot (root mean square), since in truth both players see the same cards
fall. But check-downs do not include this, so it would reward getting the money in early, or
not doing so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Ints, Longs
from allstreets.cards import COMBO_CARDS, COMBO_COUNT, DECK_SIZE, combo_strengths
from allstreets.engines.matrix.kernels.bucket_rivers import (
    CELLS,
    MOST_POINTS,
    count_points,
    count_river_pairs,
    multiply_sparse,
    spread_points,
)

FLOP_RUNOUTS = 47 * 46 // 2
"""Ways to deal turn and river beside a combo, the order left out."""

TURN_RUNOUTS = 46
"""Ways to deal the river beside a combo and a turn card."""


@dataclass(frozen=True, eq=False)
class FlopBoards:
    """All complete boards of a flop, and the points of every combo on each."""

    flop: tuple[int, int, int]
    deck: tuple[int, ...]  # the 49 cards that can come
    board_of: NDArray[np.int16]  # [52, 52]: board of a turn and a river card, −1 where impossible
    strengths: NDArray[np.uint16]  # [B, 1326]: 65535 where combo and board collide
    points: NDArray[np.int16]  # [B, 1326]: 0 .. 1980, −1 where combo and board collide

    def after_turn(self, card: int) -> NDArray[np.int16]:
        """[48]: the boards that hold this card, by their other card."""
        boards: NDArray[np.int16] = self.board_of[card]
        return boards[boards >= 0]


def flop_boards(flop: Sequence[int]) -> FlopBoards:
    """The 1,176 complete boards of three cards."""
    cards = check_flop(flop)
    deck = tuple(card for card in range(DECK_SIZE) if card not in cards)
    pairs = np.array(list(combinations(deck, 2)))
    board_of = np.full((DECK_SIZE, DECK_SIZE), -1, np.int16)
    board_of[pairs[:, 0], pairs[:, 1]] = board_of[pairs[:, 1], pairs[:, 0]] = np.arange(len(pairs))
    boards = np.concatenate([np.tile(cards, (len(pairs), 1)), pairs], axis=1)
    strengths = combo_strengths(boards)
    return FlopBoards(cards, deck, board_of, strengths, river_points(strengths))


def check_flop(flop: Sequence[int]) -> tuple[int, int, int]:
    """Three different cards 0 .. 51."""
    cards = tuple(int(card) for card in flop)
    if len(cards) != 3 or len(set(cards)) != 3 or not all(0 <= c < DECK_SIZE for c in cards):
        raise InputError(f"a flop has 3 different cards, each a number 0..51, not {cards}")
    return cards[0], cards[1], cards[2]


def river_points(strengths: NDArray[np.uint16]) -> NDArray[np.int16]:
    """[B, 1326]: points of every combo, from its strength [B, 1326]; −1 where it collides.

    >>> from allstreets.cards import combo_strengths, parse_cards, parse_combo
    >>> points = river_points(combo_strengths([parse_cards("As Ks Qs Js Ts")]))
    >>> int(points[0, parse_combo("2c2d")]), int(points[0, parse_combo("As2d")])
    (990, -1)
    """
    points = np.empty(strengths.shape, np.int16)
    count_points(strengths, COMBO_CARDS, points)
    return points


def flop_features(boards: FlopBoards) -> Ints:
    """[1326, 30]: each combo's spread of river equity over all turns and rivers.

    Column k sums, over the 66 numbers u of points 66k .. 66k + 65, the runouts that leave the combo
    with at most u points. So the squared distance between two rows is that between two cumulative
    distributions: k-means can average it, and it grows with how far the distribution has to be
    moved, not only with how much of it. Combos that collide are 0.
    """
    return _spread(boards.points)


def turn_features(boards: FlopBoards) -> Ints:
    """[52, 1326, 30]: the same for every turn card over its rivers; 0 where cards collide."""
    features = np.zeros((DECK_SIZE, COMBO_COUNT, CELLS), np.int32)
    for card in boards.deck:
        features[card] = _spread(boards.points[boards.after_turn(card)])
    return features


def _spread(points: NDArray[np.int16]) -> Ints:
    features = np.empty((COMBO_COUNT, CELLS), np.int32)
    spread_points(points, np.empty_like(features), features)
    return features


def mean_equity(features: Ints | Floats, runouts: int) -> Floats:
    """[...]: the mean river equity that rows of features [..., 30], or means of rows, stand for.

    A cumulative distribution sums to the points missing from the maximum.
    """
    missing: Floats = features.sum(axis=-1, dtype=np.float64)
    return 1.0 - missing / (runouts * MOST_POINTS)


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

    Where two buckets never meet on a board, the one with more equity is assumed to win, which holds
    where they do meet, except for ties and shared cards (mean error 0.005 of a pot).
    """
    numbers = np.arange(len(totals.meetings))
    never_met = np.sign(numbers[:, None] - numbers).astype(np.float64)
    return np.where(totals.meetings > 0, totals.net, never_met)


def dealt_on(moves: Floats, next_net: Floats) -> Floats:
    """[K, K]: net shares of buckets whose transitions `moves` [K, L] lead to those of `next_net`
    [L, L].

    moves · next_net · movesᵀ, antisymmetric and within −1 .. 1 to the last bit.
    """
    rows = np.empty((len(moves), len(next_net)))
    multiply_sparse(moves, next_net, rows)
    columns = np.empty((len(moves), len(moves)))
    multiply_sparse(moves, np.ascontiguousarray(rows.T), columns)
    return np.clip((columns.T - columns) / 2.0, -1.0, 1.0)
