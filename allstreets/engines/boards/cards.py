"""The boards below a flop with the hands of each river board in groups.

Flop and turn are those of the exact engine: combos, the same by suits taken together. A river board
keeps what the kernels of grouped rivers need: the combos of each group, and two matrices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, Singles
from allstreets.betting import Player
from allstreets.cards import COMBO_CARDS, HAND_OF_COMBO
from allstreets.engines.boards.kernels.bucket_hands import (
    CLASS_STEP,
    group_hands,
    turn_rows,
    weigh_hands,
)
from allstreets.engines.boards.kernels.bucket_matrices import group_lists, group_matrices
from allstreets.engines.boards.kernels.layout import GroupedBoards, GroupedCombos
from allstreets.engines.boards.river_street import RiverStreet, river_street
from allstreets.engines.exact.buckets import HandBuckets
from allstreets.engines.exact.cards import (
    HandLists,
    StreetBoards,
    every_combo,
    first_street,
    kernel_boards,
    next_street,
    whole_vectors,
)
from allstreets.engines.exact.kernels.layout import Boards

LEAST_WEIGHT = 0.01
"""Of the largest: hands that a range hardly holds count a little, so that they find their group."""

WEIGHT_ONE = 4096
"""Weights are whole numbers, this one for hands that are always held: sums of them are exact."""

CANDIDATES = 2  # points tried for each first centre
ROUNDS = 6  # of k-means: further ones change no figure that can be told from the choice of seeds


@dataclass(frozen=True)
class RiverGroups:
    """Both players' rows on the turn and groups on the river, for one pair of ranges."""

    rows: tuple[HandBuckets, HandBuckets] | None  # on the turn; None: every hand its own
    groups: tuple[Bytes, Bytes]  # [H]: of each hand of the river street, padded
    combos: tuple[GroupedCombos, GroupedCombos]
    chance: Singles  # [B]
    margin: NDArray[np.int8]  # [B, K, K]
    pairs: NDArray[np.int8]  # [B, K, K]


@dataclass(frozen=True)
class FlopBoards:
    """What all pots on a flop share."""

    streets: tuple[StreetBoards, StreetBoards]  # flop and turn
    kernel: tuple[tuple[Boards, Boards], tuple[Boards, Boards]]  # by own player and street
    river_boards: int
    rivers: tuple[RiverGroups, ...]  # by pair of ranges
    own_share: Singles  # by hand of the turn: 1 / its combos

    def grouped(self, own: Player, ranges: int) -> GroupedBoards:
        """The river boards as the own player sees them."""
        rivers = self.rivers[ranges]
        return GroupedBoards(
            rivers.combos[own],
            rivers.combos[own.opponent],
            own == Player.OOP,
            rivers.chance,
            rivers.margin.reshape(-1),
            rivers.pairs.reshape(-1),
            self.own_share,
        )


def rows_of(lists: HandLists, marks: Bytes, starts: Longs, weights: Floats | None) -> HandBuckets:
    """Rows from the mark of every hand; its share in its row goes by `weights`, or is even."""
    live = np.concatenate(
        [np.arange(at, at + count) for at, count in zip(lists.start, lists.count, strict=False)]
    )
    board = np.repeat(np.arange(len(lists.count)), lists.count)
    given = np.ones(len(live)) if weights is None else weights[live]
    row = starts[board] + marks[live]
    share = np.zeros(len(marks), np.float32)
    share[live] = given / np.bincount(row, given, int(starts[-1]))[row]
    return HandBuckets(starts, marks.astype(np.uint16), share)


def class_table() -> Bytes:
    """[64 · 64]: the class of the combo of two cards, as the kernels look it up."""
    found = np.zeros(CLASS_STEP * CLASS_STEP, np.uint8)
    high, low = COMBO_CARDS.astype(np.int64).T
    found[CLASS_STEP * high + low] = found[CLASS_STEP * low + high] = HAND_OF_COMBO
    return found


HAND_CLASS = class_table()


@dataclass(frozen=True)
class GroupSettings:
    """What groups are made of, beside cards and ranges."""

    groups: int  # of each player on a river board
    rows: int = 0  # on a turn board; 0: every hand its own
    seed: int = 1

    def draws(self, count: int) -> Singles:
        """[K, candidates]: what chooses the first centres of K groups or rows."""
        most = max(self.groups, self.rows)
        drawn = np.random.default_rng(self.seed).random((most, CANDIDATES))
        found: Singles = drawn.astype(np.float32)[:count]
        return found


Grouping = Callable[
    [StreetBoards, RiverStreet, Sequence[Floats], GroupSettings], tuple[RiverGroups, ...]
]
"""Groups both players' hands on turn and river, for pairs of ranges [2, 169] that start a pot."""


def flop_boards(
    flop: tuple[int, ...],
    ranges: Sequence[Floats],
    settings: GroupSettings,
    grouping: Grouping | None = None,
) -> FlopBoards:
    """The boards below a flop; `ranges` [2, 169] are those that players start its pots with."""
    first = first_street(*every_combo(flop))
    turn = next_street(first)
    river = river_street(turn)
    boards = tuple(
        (
            kernel_boards(first, turn, own, all_ins=False),
            kernel_boards(turn, river, own, all_ins=False),
        )
        for own in Player
    )
    lists = turn.lists[0]
    share = np.ones(len(lists.parent), np.float32)
    for board, hands in enumerate(turn.hands[0]):
        share[lists.start[board] : lists.start[board] + len(hands.first)] = 1.0 / hands.sizes
    return FlopBoards(
        (first, turn),
        (boards[0], boards[1]),
        len(river.parents),
        (grouping or group_rivers)(turn, river, ranges, settings),
        share,
    )


def group_rivers(
    turn: StreetBoards, river: RiverStreet, ranges: Sequence[Floats], settings: GroupSettings
) -> tuple[RiverGroups, ...]:
    """The `Grouping` of processors."""
    return tuple(_river_groups(turn, river, both, settings) for both in ranges)


def _river_groups(
    turn: StreetBoards, river: RiverStreet, ranges: Floats, settings: GroupSettings
) -> RiverGroups:
    lists, groups = river.hands, settings.groups
    weights = np.stack([class_weights(row) for row in ranges])
    marks, turn_marks = [], []
    for player in Player:
        found = np.zeros(int(lists.start[-1]), np.uint8)
        equity = np.zeros(len(found), np.float32)
        group_hands(
            lists.strengths,
            lists.cards,
            lists.start,
            lists.count,
            lists.combo_strengths,
            lists.combo_cards,
            lists.combo_hand,
            lists.combo_start,
            HAND_CLASS,
            weights[player],
            weights[player.opponent],
            settings.draws(groups),
            ROUNDS,
            found,
            equity,
        )
        marks.append(found)
        if settings.rows:
            turn_marks.append(_turn_marks(turn, river, ranges[player], settings, equity))
    count = len(river.parents)
    margin = np.zeros((count, groups, groups), np.int8)
    pairs = np.zeros_like(margin)
    group_matrices(
        lists.combo_start,
        lists.combo_strengths,
        lists.combo_cards,
        lists.combo_hand,
        lists.start,
        (marks[0], marks[1]),
        HAND_CLASS,
        weights,
        groups,
        margin.reshape(-1),
        pairs.reshape(-1),
    )
    combos = [_grouped(lists, found, groups) for found in marks]
    rows = shared_rows(turn, ranges, turn_marks, settings)
    return RiverGroups(
        rows, (marks[0], marks[1]), (combos[0], combos[1]), chances(river), margin, pairs
    )


def chances(river: RiverStreet) -> Singles:
    """[B]: of the river cards of each board, given both hands."""
    return river.same.astype(np.float32) / np.float32(44)


def class_weights(row: Floats) -> Floats:
    """[169]: what a combo of each class weighs in a range [169]; whole numbers."""
    weights: Floats = np.rint(WEIGHT_ONE * (row / row.max() + LEAST_WEIGHT))
    return weights


def hand_weights(lists: HandLists, row: Floats) -> Floats:
    """[H]: the weights of all hands of a street, padding included, for a range [169]."""
    weights = np.zeros(int(lists.start[-1]))
    weigh_hands(
        lists.start,
        lists.combo_start,
        lists.combo_cards,
        lists.combo_hand,
        HAND_CLASS,
        class_weights(row),
        weights,
    )
    return weights


def _turn_marks(
    turn: StreetBoards,
    river: RiverStreet,
    row: Floats,
    settings: GroupSettings,
    equity: Singles,
) -> Bytes:
    """A player's rows on the turn, by the equities of the rivers."""
    lists, below = turn.lists[0], river.hands
    marks = np.zeros(int(lists.start[-1]), np.uint8)
    turn_rows(
        lists.start,
        lists.count,
        river.children,
        hand_weights(lists, row),
        below.start,
        below.count,
        below.parent,
        river.mass,
        equity,
        settings.draws(settings.rows),
        ROUNDS,
        marks,
    )
    return marks


def shared_rows(
    turn: StreetBoards, ranges: Floats, marks: Sequence[Bytes], settings: GroupSettings
) -> tuple[HandBuckets, HandBuckets] | None:
    """Both players' rows on the turn, from the mark of every hand; None without any."""
    if not settings.rows:
        return None
    lists = turn.lists[0]
    starts = whole_vectors(settings.rows) * np.arange(len(turn.runouts) + 1, dtype=np.int64)
    oop, ip = (
        rows_of(lists, found, starts, hand_weights(lists, row))
        for found, row in zip(marks, ranges, strict=True)
    )
    return oop, ip


def _grouped(lists: HandLists, marks: Bytes, groups: int) -> GroupedCombos:
    first = np.zeros((len(lists.count), groups + 1), np.uint16)
    parent = np.zeros(int(lists.combo_start[-1]), np.uint16)
    group_lists(
        lists.combo_start,
        lists.combo_hand,
        lists.start,
        lists.parent,
        marks,
        groups,
        first.reshape(-1),
        parent,
    )
    return GroupedCombos(lists.combo_start, first.reshape(-1), parent)
