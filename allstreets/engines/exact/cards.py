"""The boards below a spot, street by street, and both players' hands on each.

A street's boards are the representatives of suit-isomorphic runouts. Each board has the combos that
it does not block, on the river in order of strength. Renamings of suits that leave a board as it is
exchange combos that are equivalent there: such an *orbit* of combos is one hand, stored once, so
that its combos play alike whatever is rounded. Hands are padded to whole vectors.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, Protocol

import numpy as np

from allstreets.base import Floats, Longs, Singles
from allstreets.cards import (
    COMBO_CARDS,
    COMBO_COUNT,
    COMBO_MASKS,
    DECK_SIZE,
    Runouts,
    combo_orbits,
    combo_strengths,
    live_combos,
    runouts,
)
from allstreets.engines.exact.kernels.all_ins import fill_nets
from allstreets.engines.exact.kernels.layout import PADDING_CARD, Boards, HandLists
from allstreets.engines.exact.kernels.terminals import place_hands
from allstreets.engines.simd.vectors import LANES

NO_BUCKETS: dict[str, Any] = {
    "own_row": np.zeros(0, np.uint16),
    "other_row": np.zeros(0, np.uint16),
    "member_start": np.zeros(0, np.int64),
    "members": np.zeros(0, np.uint16),
    "member_share": np.zeros(0, np.float32),
}
"""`Boards` on which every hand plays for itself."""


@dataclass(frozen=True)
class BoardHands:
    """One player's hands on one board: C combos in H orbits."""

    combos: Longs  # [C]: those of a hand side by side
    hand: Longs  # [C]: the hand that each combo is; never falls
    first: Longs  # [H]: the lowest combo of each hand, rising; on the river by rising strength
    sizes: Longs  # [H]: combos of each hand
    parent: Longs  # [H]: the hand that it is on the board one street up
    weight: Floats  # [H]: share of its value that the hand above gets
    absent: int  # the row of that board that stands for absent hands


class Below(Protocol):
    """A street one further down."""

    @property
    def parents(self) -> Sequence[int]:
        """[B]: board one street up."""


@dataclass(frozen=True)
class StreetBoards:
    """All boards of one street; `hands[p]` holds, board by board, the hands of player p."""

    runouts: Sequence[Runouts]  # [B]
    parents: tuple[int, ...]  # [B]: board one street up
    hands: tuple[Sequence[BoardHands], Sequence[BoardHands]]  # [2][B]

    @property
    def boards(self) -> list[tuple[int, ...]]:
        """The cards of each board."""
        return [runout.board for runout in self.runouts]

    def combos(self, player: int, board: int) -> Longs:
        """[C]: the combos of a player on a board."""
        return self.hands[player][board].combos

    @cached_property
    def lists(self) -> tuple[HandLists, HandLists]:
        """The hands of OOP and IP as the kernels read them, whichever the player is."""
        first = _hand_lists(self.boards, self.hands[0])
        if self.hands[1] is self.hands[0]:
            return first, first
        return first, _hand_lists(self.boards, self.hands[1])


def _hand_lists(
    boards: Sequence[tuple[int, ...]], hands_by_board: Sequence[BoardHands]
) -> HandLists:
    start = starts_of([whole_vectors(len(hands.first)) for hands in hands_by_board])
    cards = np.full((start[-1], 2), PADDING_CARD, np.uint8)
    strengths, parent = np.zeros(start[-1], np.uint16), np.zeros(start[-1], np.uint16)
    weight = np.zeros(start[-1], np.float32)
    by_combo = []
    for number, (board, hands) in enumerate(zip(boards, hands_by_board, strict=True)):
        parent[start[number] : start[number + 1]] = hands.absent
        rows_here = slice(start[number], start[number] + len(hands.first))
        cards[rows_here], parent[rows_here], weight[rows_here] = (
            COMBO_CARDS[hands.first],
            hands.parent,
            hands.weight,
        )
        if len(board) == 5:
            strengths[rows_here] = combo_strengths([board], COMBO_CARDS[hands.first])[0]
        by_combo.append(strengths[rows_here][hands.hand])
    combos = np.concatenate([hands.combos for hands in hands_by_board])
    return HandLists(
        start,
        np.array([len(hands.first) for hands in hands_by_board], np.int64),
        cards.reshape(-1),
        strengths,
        parent,
        weight,
        starts_of([len(hands.combos) for hands in hands_by_board]),
        COMBO_CARDS[combos].astype(np.uint8).reshape(-1),
        np.concatenate(by_combo),
        np.concatenate([hands.hand for hands in hands_by_board]).astype(np.uint16),
    )


def starts_of(sizes: Sequence[int] | Longs) -> Longs:
    """Sums before each, and all."""
    start = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=start[1:])
    return start


def whole_vectors(count: int) -> int:
    """The next multiple of sixteen, at least one vector."""
    return max(LANES, -(-count // LANES) * LANES)


def every_combo(board: tuple[int, ...]) -> tuple[Runouts, tuple[Longs, Longs]]:
    """The root of a game in which both players may hold every combo, and these combos."""
    combos = np.flatnonzero(live_combos(board))
    return runouts(board, [np.ones(COMBO_COUNT)]), (combos, combos)


def first_street(root: Runouts, combos: tuple[Longs, Longs]) -> StreetBoards:
    """The street of the spot itself: one board."""
    oop = [_board_hands(root, combos[0])]
    ip = oop if np.array_equal(*combos) else [_board_hands(root, combos[1])]
    return StreetBoards((root,), (0,), (oop, ip))


def next_street(street: StreetBoards) -> StreetBoards:
    """One more card: the representatives of the cards that may fall on each board."""
    runouts: list[Runouts] = []
    parents: list[int] = []
    alike = street.hands[1] is street.hands[0]  # players with the same combos share the lists
    oop: list[BoardHands] = []
    hands = (oop, oop if alike else [])
    for number, here in enumerate(street.runouts):
        chance = 1 / (48 - len(here.board))  # of each card that neither hand nor the board holds
        for card, same in zip(here.representatives, here.multiplicities, strict=True):
            below = here.after(card)
            runouts.append(below)
            parents.append(number)
            for player in (0,) if alike else (0, 1):
                above = street.hands[player][number]
                live = (COMBO_MASKS[above.combos] & np.uint64(1 << card)) == 0
                board_hands = _board_hands(below, above.combos[live])
                hands[player].append(_below(board_hands, above, same * chance))
    return StreetBoards(tuple(runouts), tuple(parents), hands)


def _board_hands(runouts: Runouts, combos: Longs) -> BoardHands:
    """The hands that combos are on a board, by the renamings that change neither it nor them."""
    combos = np.sort(combos)
    orbits = combo_orbits(runouts.symmetries)[combos]
    first = combos[orbits == combos]
    if len(runouts.board) == 5:
        strengths = combo_strengths([runouts.board], COMBO_CARDS[first])[0]
        first = first[np.argsort(strengths, kind="stable")]
    rank = np.zeros(COMBO_COUNT, np.int64)
    rank[first] = np.arange(len(first))
    order = np.argsort(rank[orbits], kind="stable")
    combos, hand = combos[order], rank[orbits][order]
    count = len(first)
    sizes = np.bincount(hand, minlength=count)
    return BoardHands(combos, hand, first, sizes, np.zeros(count, np.int64), np.zeros(count), 0)


def _below(hands: BoardHands, above: BoardHands, chance: float) -> BoardHands:
    """Hands with their place on the board one street up; `chance` is that of all same cards.

    A hand up there is O combos and the card one of S that are the same. Each of the S · O pairs of
    card and combo is, renamed, one of the combos of the hands below, and by symmetry each of the O
    combos gets as many of a hand's S · o pairs as the others: S · o / O.
    """
    hand_above = np.zeros(COMBO_COUNT, np.int64)
    hand_above[above.combos] = above.hand
    parent = hand_above[hands.first]
    weight = chance * hands.sizes / above.sizes[parent]
    return replace(hands, parent=parent, weight=weight, absent=whole_vectors(len(above.first)))


HandsByBoard = Sequence[tuple[Longs, Longs]]
"""By street: [B] of OOP and IP, the padded hands on each of its boards."""


def hands_by_board(root: Runouts, combos: Sequence[Longs], streets: int) -> HandsByBoard:
    """The hands on every board of the first streets; `combos` are those of both players."""
    dealt: list[tuple[Runouts, int]] = [(root, 0)]
    boards = [(root.symmetries, 0)]
    hands = [(_padded_counts(combos[0], boards), _padded_counts(combos[1], boards))]
    for street in range(1, streets):
        cards = [
            (runouts, card, blocked | 1 << card)
            for runouts, blocked in dealt
            for card in runouts.representatives
        ]
        boards = [(runouts.symmetries_after(card), blocked) for runouts, card, blocked in cards]
        hands.append((_padded_counts(combos[0], boards), _padded_counts(combos[1], boards)))
        if street + 1 < streets:
            dealt = [(runouts.after(card), blocked) for runouts, card, blocked in cards]
    return hands


def _padded_counts(combos: Longs, boards: Sequence[tuple[tuple[int, ...], int]]) -> Longs:
    """[B]: hands on boards of which the renamings that leave them alike and the cards are given."""
    counts = np.zeros(len(boards), np.int64)
    for symmetries in {renamings for renamings, _ in boards}:
        alike = [board for board, (renamings, _) in enumerate(boards) if renamings == symmetries]
        first = combos[combo_orbits(symmetries)[combos] == combos]
        dealt = np.array([boards[board][1] for board in alike], np.uint64)
        live = ((COMBO_MASKS[first][None, :] & dealt[:, None]) == 0).sum(axis=1)
        counts[alike] = [whole_vectors(int(count)) for count in live]
    return counts


@dataclass(frozen=True)
class TurnPart:
    """One turn of a flop: where its boards, and the hands on them, are among those of all turns."""

    boards: tuple[slice, slice]  # of turn and river
    hands: tuple[tuple[slice, slice], tuple[slice, slice]]  # the same, of OOP and IP; padded

    @property
    def rows(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The first hands of turn and river, of OOP and IP."""
        turn, river = ((oop.start, ip.start) for oop, ip in self.hands)
        return turn, river


def turn_parts(root: Runouts, combos: tuple[Longs, Longs]) -> dict[int, TurnPart]:
    """The parts of a flop by turn card: the boards of a street are stored turn by turn."""
    hands = hands_by_board(root, combos, 3)[1:]
    rivers = [len(root.after(card).representatives) for card in root.representatives]
    boards = [np.arange(len(rivers) + 1), np.cumsum([0, *rivers])]
    hand_starts = [[np.cumsum([0, *counts]) for counts in street] for street in hands]

    def part(number: int) -> TurnPart:
        turn, river = (slice(*of[number : number + 2].tolist()) for of in boards)
        rows = [
            [slice(*start[[of.start, of.stop]].tolist()) for start in starts]
            for of, starts in zip((turn, river), hand_starts, strict=True)
        ]
        return TurnPart((turn, river), ((rows[0][0], rows[0][1]), (rows[1][0], rows[1][1])))

    return {card: part(number) for number, card in enumerate(root.representatives)}


def turn_alone(root: Runouts, card: int) -> Runouts:
    """The root of a game in which only one turn card, with its isomorphic ones, is dealt.

    A subgame with one turn is built and read much faster than one with all turns.
    """
    card = int(root.representative[card])
    same = root.multiplicities[root.representatives.index(card)]
    return replace(root, representatives=(card,), multiplicities=(same,))


def kernel_boards(
    street: StreetBoards, below: Below | None, own: int, all_ins: bool, threads: int = 1
) -> Boards:
    """The street as the kernels read it when player `own` is computed, with a slot for each hand.

    `all_ins` says whether the betting of this street can end in an all-in with cards to come:
    `threads` threads count the matrices for that.
    Where the numbers of its nodes are stored, `buckets.with_buckets` adds.
    """
    other = 1 - own
    count = len(street.runouts)
    mine, his = street.lists[own], street.lists[other]
    starts = [lists.start for lists in street.lists]
    own_total = int(mine.start[-1])
    tables: dict[str, Any] = {
        "below": np.zeros(own_total, np.uint16),
        "upto": np.zeros(own_total, np.uint16),
        "own_twin": np.zeros(own_total, np.uint16),
    }
    place_hands(
        mine.strengths,
        mine.cards,
        mine.start,
        mine.counts,
        his.start,
        his.combo_strengths,
        his.combo_cards,
        his.combo_hand,
        his.combo_start,
        **tables,
    )
    children = np.zeros(count + 1, np.int64)
    if below is not None:
        np.cumsum(np.bincount(below.parents, minlength=count), out=children[1:])
    equity_start, equity = np.zeros(count, np.int64), np.zeros(0, np.float32)
    if all_ins:
        equity_start, equity = _all_in_matrices(street, own, starts, threads)
    return Boards(
        own_start=mine.start,
        other_start=his.start,
        own_slots=mine.start,
        other_slots=his.start,
        own_rows=mine.start,
        other_rows=his.start,
        **NO_BUCKETS,
        other_parent=his.parent,
        own_parent=mine.parent,
        own_weight=mine.weight,
        children=children,
        own_cards=mine.cards,
        combo_start=his.combo_start,
        combo_cards=his.combo_cards,
        combo_hand=his.combo_hand,
        equity_start=equity_start,
        equity=equity,
        **tables,
    )


def _all_in_matrices(
    street: StreetBoards, own: int, starts: list[Longs], threads: int
) -> tuple[Longs, Singles]:
    """Share won − share lost of own hands against all combos of each of the other's hands."""
    other = 1 - own
    sizes = [np.diff(starts[own]), np.diff(starts[other])]
    equity_start = starts_of(sizes[0] * sizes[1])
    equity = np.zeros(equity_start[-1], np.float32)

    parts = -(-threads // len(street.runouts))  # of a board's rows

    def fill(piece: int) -> None:
        board, part = divmod(piece, parts)
        dealt = street.runouts[board].board
        mine, his = street.hands[own][board], street.hands[other][board]
        left = 5 - len(dealt)
        deck = [card for card in range(DECK_SIZE) if card not in dealt]
        boards = [(*dealt, *cards) for cards in combinations(deck, left)]
        rows = slice(*(len(mine.first) * edge // parts for edge in (part, part + 1)))
        own_cards, his_cards = COMBO_CARDS[mine.first[rows]], COMBO_CARDS[his.combos]
        matrix = equity[equity_start[board] : equity_start[board + 1]]
        fill_nets(
            np.ascontiguousarray(combo_strengths(boards, own_cards).T),
            combo_strengths(boards, his_cards),
            own_cards,
            his_cards,
            his.hand,
            comb(len(deck) - 4, left),
            matrix.reshape(sizes[0][board], sizes[1][board])[rows],
        )

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(parts * len(street.runouts))))
    return equity_start[:-1], equity
