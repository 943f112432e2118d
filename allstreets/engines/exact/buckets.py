"""Buckets: hands of a board that play alike. Values and reach stay by hand, stored numbers do not.

Any hands of a street may form buckets. On the river there are buckets by suits: hands that are
equal in strength and in their blockers. Suits still matter there because a hand blocks some of the
opponent's:

- of a suit that makes flushes, three or more on the board: how many the hand holds, and whether the
  highest of them is the nuts, the second, the third or fourth, or lower;
- of a suit that missed, two on flop and turn and none on the river: whether it holds any.

Hands that agree in both are a bucket: 150 to 250 a board instead of 1,081 hands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Longs, Singles
from allstreets.cards import COMBO_CARDS, card_rank, card_suit, combo_strengths
from allstreets.engines.exact.cards import NO_BUCKETS, StreetBoards, starts_of, whole_vectors
from allstreets.engines.exact.kernels.layout import Boards, HandLists
from allstreets.engines.simd.vectors import LANES

RANKS, SUITS = 13, 4
# The class of the highest card of a flush suit, by the number of missing cards above it.
HEIGHTS = np.array([0, 1, 2, 2, *[3] * (RANKS - 4)])
KINDS = 9  # of a suit: none held, or one or two with the highest at one of four heights


@dataclass(frozen=True)
class HandBuckets:
    """The hands of a player that play alike on the boards of a street.

    Stored numbers of a node have one row for each bucket. The regret of a bucket is the mean of
    those of its hands, weighted by `weight`.
    """

    start: Longs  # [B+1]: buckets before each board; multiples of 16
    row: NDArray[np.uint16]  # by hand, as in `HandLists`: its bucket on its board; 0 for padding
    weight: Singles  # by hand: its share in its bucket, 1 in all; 0 for padding

    def of_board(self, hands: HandLists, board: int) -> tuple[Longs, Floats]:
        """[H], [H]: bucket and share of the hands of one board, without the padding."""
        first = int(hands.start[board])
        rows_here = slice(first, first + int(hands.counts[board]))
        return self.row[rows_here].astype(np.int64), self.weight[rows_here].astype(np.float64)

    def counts(self, hands: HandLists) -> Longs:
        """[B]: buckets up to the last that has a hand; the rest is padding."""
        boards = range(len(hands.counts))
        return np.array(
            [self.of_board(hands, board)[0].max(initial=-1) + 1 for board in boards], np.int64
        )

    def require_fit(self, hands: HandLists) -> None:
        """Refuse buckets of other boards or hands: the kernels do not check."""
        fits = (
            len(self.start) == len(hands.start)
            and len(self.row) == len(self.weight) == hands.start[-1]
            and not np.any(self.start % LANES)
            and np.all(self.counts(hands) <= np.diff(self.start))
        )
        if not fits:
            raise ValueError("the buckets are not those of the street's boards and hands")


StreetBuckets = Sequence[tuple[HandBuckets, HandBuckets] | None]
"""By street, from the first: the buckets of OOP and of IP; None = every hand is its own."""

MakeBuckets = Callable[[Sequence[StreetBoards]], StreetBuckets]


def street_buckets(
    streets: Sequence[StreetBoards], given: StreetBuckets | MakeBuckets | None
) -> StreetBuckets:
    """The buckets of a game's streets, made if need be, and fit for them."""
    if given is None:
        return [None] * len(streets)
    buckets = given(streets) if callable(given) else given
    for street, pair in zip(streets, buckets, strict=True):
        for of_player, lists in zip(pair or (), street.lists, strict=False):
            of_player.require_fit(lists)
    return buckets


def hand_buckets(
    street: StreetBoards,
    player: int,
    rows: Sequence[Longs],
    weights: Sequence[Floats] | None = None,
) -> HandBuckets:
    """Buckets, from those of the hands [H] of each board.

    `weights` [H] of each board are shared out within each bucket; without them a hand counts by its
    combos. A bucket without any weight gives its hands equal shares.
    """
    lists = street.lists[player]
    row = np.zeros(lists.start[-1], np.uint16)
    weight = np.zeros(lists.start[-1], np.float32)
    start = np.zeros(len(rows) + 1, np.int64)
    for board, here in enumerate(rows):
        count = int(here.max(initial=-1)) + 1
        start[board + 1] = start[board] + whole_vectors(count)
        given = street.hands[player][board].sizes if weights is None else weights[board]
        total = np.bincount(here, given, count)
        given = np.where(total[here] > 0, given, 1.0)
        rows_here = slice(int(lists.start[board]), int(lists.start[board]) + len(here))
        row[rows_here], weight[rows_here] = here, given / np.bincount(here, given, count)[here]
    return HandBuckets(start, row, weight)


def member_lists(buckets: HandBuckets, hand_start: Longs) -> dict[str, Any]:
    """The hands of sixteen buckets at a time, as `Boards` has them; padding is in none.

    The hands of the boards begin at `hand_start` [B+1].
    """
    held = np.flatnonzero(buckets.weight)
    board = np.searchsorted(hand_start, held, side="right") - 1
    row = buckets.start[board] + buckets.row[held]
    order = np.argsort(row, kind="stable")
    held, board, row = held[order], board[order], row[order]
    sizes = np.bincount(row, minlength=int(buckets.start[-1]))
    member = np.arange(len(held)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    start = starts_of(sizes.reshape(-1, LANES).max(axis=1))
    hand = np.zeros(LANES * start[-1], np.uint16)
    share = np.zeros(LANES * start[-1], np.float32)
    at = LANES * (start[row // LANES] + member) + row % LANES
    hand[at], share[at] = held - hand_start[board], buckets.weight[held]
    return {"member_start": start, "members": hand, "member_share": share}


def with_buckets(
    boards: Boards,
    own: int,
    actions: tuple[int, int],
    buckets: tuple[HandBuckets, HandBuckets] | None,
    *,
    learns: bool = True,
) -> Boards:
    """The boards with the places of what is stored; `actions` are those of OOP's and IP's nodes.

    Only a game that learns needs the hands of a bucket.
    """
    if buckets is None:
        boards = boards._replace(
            own_rows=boards.own_start, other_rows=boards.other_start, **NO_BUCKETS
        )
        return with_slots(boards, own, actions)
    mine, his = buckets[own], buckets[1 - own]
    boards = boards._replace(own_rows=mine.start, other_rows=his.start, **NO_BUCKETS)
    boards = boards._replace(own_row=mine.row, other_row=his.row)
    if learns:
        boards = boards._replace(**member_lists(mine, boards.own_start))
    return with_slots(boards, own, actions)


def with_slots(boards: Boards, own: int, actions: tuple[int, int]) -> Boards:
    """The boards, whose rows are known, with the places of a pot's stored numbers."""
    return boards._replace(
        own_slots=boards.own_rows * actions[own], other_slots=boards.other_rows * actions[1 - own]
    )


def suit_buckets(board: tuple[int, ...], combos: Longs) -> Longs:
    """[C]: the bucket of each combo on a river board, largest first, similar ones side by side."""
    cards = COMBO_CARDS[combos].astype(np.int64)
    key = combo_strengths([board], COMBO_CARDS[combos])[0].astype(np.int64)
    for suit in range(SUITS):
        ranks = {card_rank(card) for card in board if card_suit(card) == suit}
        drawn = sum(card_suit(card) == suit for card in board[:4])
        held = cards % SUITS == suit
        if len(ranks) >= 3:
            missing = [rank for rank in range(RANKS - 1, -1, -1) if rank not in ranks]
            height = np.zeros(RANKS, np.int64)
            height[missing] = HEIGHTS[: len(missing)]
            highest = np.where(held, cards // SUITS, -1).max(axis=1)
            number = held.sum(axis=1)
            kind = np.where(number > 0, 1 + 4 * (number - 1) + height[highest], 0)
            key = key * KINDS + kind
        elif len(ranks) == drawn == 2:
            key = key * 2 + held.any(axis=1)
    _, bucket, sizes = np.unique(key, return_inverse=True, return_counts=True)
    size_rank = np.empty(len(sizes), np.int64)
    size_rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return size_rank[bucket.reshape(-1)]


def _suit_buckets(street: StreetBoards, player: int, weights: Floats | None) -> HandBuckets:
    """The buckets of a player's hands on the boards of the river.

    `weights` [1326] are those of his range: a combo counts by them in the regrets of its bucket.
    """
    hands = street.hands[player]
    rows = [
        suit_buckets(board, here.first) for board, here in zip(street.boards, hands, strict=True)
    ]
    if weights is None:
        return hand_buckets(street, player, rows)
    by_hand = [
        np.bincount(here.hand, weights[here.combos], len(here.first)).astype(np.float64)
        for here in hands
    ]
    return hand_buckets(street, player, rows, by_hand)


def suit_street_buckets(
    streets: Sequence[StreetBoards], weights: tuple[Floats, Floats] | None = None
) -> StreetBuckets:
    """Buckets only on the river, if it is among the streets; `weights` [1326] are both ranges'."""
    river = streets[-1]
    if len(river.boards[0]) < 5:
        return [None] * len(streets)
    oop = _suit_buckets(river, 0, None if weights is None else weights[0])
    alike = river.hands[0] is river.hands[1] and (weights is None or np.array_equal(*weights))
    ip = oop if alike else _suit_buckets(river, 1, None if weights is None else weights[1])
    return [*[None] * (len(streets) - 1), (oop, ip)]


@dataclass(frozen=True, eq=False)
class SuitBuckets:
    """The buckets by suits of a flop's rivers, found once for all pots with the same boards."""

    _known: list[tuple[Sequence[StreetBoards], StreetBuckets]] = field(default_factory=list)

    def of(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The buckets of these streets."""
        for known, buckets in self._known:
            if known is streets:
                return buckets
        self._known.append((streets, suit_street_buckets(streets)))
        return self._known[-1][1]
