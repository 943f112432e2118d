"""Hands of a board that play alike: values and reach stay by hand, what is stored is by row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Longs, Singles
from allstreets.engines.exact.cards import StreetBoards, whole_vectors
from allstreets.engines.exact.kernels.layout import Boards, HandLists
from allstreets.engines.simd.vectors import LANES


@dataclass(frozen=True)
class SharedRows:
    """Which of a player's hands play alike on the boards of a street.

    Stored numbers of a node have one entry for each row and action. What a row regrets is the mean
    of what its hands do, weighted by `weight`.
    """

    start: Longs  # [B+1]: stored rows before each board; multiples of 16
    row: NDArray[np.uint16]  # by hand, as in `HandLists`: its row on its board; 0 for padding
    weight: Singles  # by hand: its share in its row, 1 in all; 0 for padding

    def of_board(self, hands: HandLists, board: int) -> tuple[Longs, Floats]:
        """[H], [H]: row and share of the hands of one board, without the padding."""
        first = int(hands.start[board])
        place = slice(first, first + int(hands.counts[board]))
        return self.row[place].astype(np.int64), self.weight[place].astype(np.float64)

    def counts(self, hands: HandLists) -> Longs:
        """[B]: rows up to the last that has a hand; the rest is padding."""
        boards = range(len(hands.counts))
        return np.array(
            [self.of_board(hands, board)[0].max(initial=-1) + 1 for board in boards], np.int64
        )

    def require_fit(self, hands: HandLists) -> None:
        """Refuse rows that were made for other boards or hands: the kernels do not look twice."""
        fits = (
            len(self.start) == len(hands.start)
            and len(self.row) == len(self.weight) == hands.start[-1]
            and not np.any(self.start % LANES)
            and np.all(self.counts(hands) <= np.diff(self.start))
        )
        if not fits:
            raise ValueError("the shared rows are not those of the street's boards and hands")


Sharing = Sequence[tuple[SharedRows, SharedRows] | None]
"""By street, from the first: the rows of OOP and of IP; None = every hand its own row."""


def sharing_of(
    streets: Sequence[StreetBoards],
    sharing: Sharing | Callable[[Sequence[StreetBoards]], Sharing] | None,
) -> Sharing:
    """The sharing of a game's streets, made if need be, and fit for them."""
    if sharing is None:
        return [None] * len(streets)
    found = sharing(streets) if callable(sharing) else sharing
    for street, pair in zip(streets, found, strict=True):
        for shared, lists in zip(pair or (), street.lists, strict=False):
            shared.require_fit(lists)
    return found


def shared_rows(
    street: StreetBoards,
    player: int,
    rows: Sequence[Longs],
    weights: Sequence[Floats] | None = None,
) -> SharedRows:
    """Rows from those of the hands [H] of each board.

    `weights` [H] of each board are shared out within each row; without them a hand counts by its
    combos. A row in which nothing weighs anything gives its hands equal shares.
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
        place = slice(int(lists.start[board]), int(lists.start[board]) + len(here))
        row[place], weight[place] = here, given / np.bincount(here, given, count)[here]
    return SharedRows(start, row, weight)


def rows_by_hand(street: StreetBoards, player: int) -> SharedRows:
    """Every hand has its own row: what is stored is what would be stored without sharing."""
    return shared_rows(
        street, player, [np.arange(len(hands.first)) for hands in street.hands[player]]
    )


class MemberLists(NamedTuple):
    """The hands of each row, for sixteen rows at a time, as `Boards` has them."""

    start: Longs
    hand: NDArray[np.uint16]
    share: Singles


def member_lists(shared: SharedRows, hand_start: Longs) -> MemberLists:
    """The lists of all boards, whose hands begin at `hand_start` [B+1]; padding is in none."""
    held = np.flatnonzero(shared.weight)
    board = np.searchsorted(hand_start, held, side="right") - 1
    row = shared.start[board] + shared.row[held]
    order = np.argsort(row, kind="stable")
    held, board, row = held[order], board[order], row[order]
    sizes = np.bincount(row, minlength=int(shared.start[-1]))
    place = np.arange(len(held)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    longest = sizes.reshape(-1, LANES).max(axis=1)
    start = np.concatenate([[0], np.cumsum(longest)])
    hand = np.zeros(LANES * start[-1], np.uint16)
    share = np.zeros(LANES * start[-1], np.float32)
    at = LANES * (start[row // LANES] + place) + row % LANES
    hand[at], share[at] = held - hand_start[board], shared.weight[held]
    return MemberLists(start.astype(np.int64), hand, share)


def stored_rows(
    boards: Boards,
    own: int,
    actions: tuple[int, int],
    shared: tuple[SharedRows, SharedRows] | None,
    *,
    learns: bool = True,
) -> Boards:
    """The boards with the places of what is stored; `actions` are those of OOP's and IP's nodes.

    Only a game that learns asks which hands a row has.
    """
    other = 1 - own
    own_rows, other_rows = boards.own_start, boards.other_start
    own_row = other_row = np.zeros(0, np.uint16)
    members = MemberLists(np.zeros(0, np.int64), own_row, np.zeros(0, np.float32))
    if shared is not None:
        own_rows, other_rows = shared[own].start, shared[other].start
        own_row, other_row = shared[own].row, shared[other].row
        if learns:
            members = member_lists(shared[own], boards.own_start)
    shared_boards = boards._replace(
        own_rows=own_rows,
        other_rows=other_rows,
        own_row=own_row,
        other_row=other_row,
        member_start=members.start,
        members=members.hand,
        member_share=members.share,
    )
    return with_slots(shared_boards, own, actions)


def with_slots(boards: Boards, own: int, actions: tuple[int, int]) -> Boards:
    """The boards, whose rows are known, with the places of a pot's stored numbers."""
    return boards._replace(
        own_slots=boards.own_rows * actions[own], other_slots=boards.other_rows * actions[1 - own]
    )
