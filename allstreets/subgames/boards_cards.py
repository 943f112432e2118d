"""The boards below a flop with the hands of each river board in groups.

Flop and turn are those of the exact engine: combos, the same by suits taken together. A river board
keeps what the kernels of grouped rivers need: the combos of each group, and two matrices.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import Player
from allstreets.cards import HAND_OF_COMBO
from allstreets.kernels.exact_layout import Boards
from allstreets.kernels.group_hands import group_hands, group_lists, group_matrices, turn_rows
from allstreets.kernels.group_layout import GroupedBoards, GroupedCombos
from allstreets.subgames.exact_cards import (
    HandLists,
    StreetBoards,
    every_combo,
    first_street,
    kernel_boards,
    next_street,
    whole_vectors,
)
from allstreets.subgames.exact_sharing import SharedRows

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

LEAST_WEIGHT = 0.01
"""Of the largest: hands that a range hardly holds count a little, so that they find their group."""

CANDIDATES = 2  # points tried for each first centre
ROUNDS = 6  # of k-means: further ones change no figure that can be told from the choice of seeds


@dataclass(frozen=True)
class RiverGroups:
    """Both players' rows on the turn and groups on the river, for one pair of ranges."""

    rows: tuple[SharedRows, SharedRows] | None  # on the turn; None: every hand its own
    groups: tuple[Bytes, Bytes]  # [H]: of each hand of the river street, padded
    combos: tuple[GroupedCombos, GroupedCombos]
    chance: NDArray[np.float32]  # [B]
    margin: NDArray[np.int8]  # [B, K, K]
    pairs: NDArray[np.int8]  # [B, K, K]


@dataclass(frozen=True)
class FlopBoards:
    """What all pots on a flop share."""

    streets: tuple[StreetBoards, StreetBoards]  # flop and turn
    kernel: tuple[tuple[Boards, Boards], tuple[Boards, Boards]]  # by own player and street
    river_boards: int
    rivers: tuple[RiverGroups, ...]  # by pair of ranges
    own_share: NDArray[np.float32]  # by hand of the turn: 1 / its combos

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


def rows_of(
    lists: HandLists, marks: Bytes, starts: NDArray[np.int64], weights: Floats | None
) -> SharedRows:
    """Rows from the mark of every hand; its share in its row goes by `weights`, or is even."""
    live = np.concatenate(
        [np.arange(at, at + count) for at, count in zip(lists.start, lists.count, strict=False)]
    )
    board = np.repeat(np.arange(len(lists.count)), lists.count)
    given = np.ones(len(live)) if weights is None else weights[live]
    row = starts[board] + marks[live]
    share = np.zeros(len(marks), np.float32)
    share[live] = given / np.bincount(row, given, int(starts[-1]))[row]
    return SharedRows(starts, marks.astype(np.uint16), share)


def flop_boards(
    flop: tuple[int, ...], ranges: Sequence[Floats], groups: int, rows: int = 0, seed: int = 1
) -> FlopBoards:
    """The boards below a flop; `ranges` [2, 169] are those that players start its pots with.

    Each river board has `groups` of hands, each turn board `rows` (0: every hand its own).
    """
    first = first_street(*every_combo(flop))
    turn = next_street(first)
    river = next_street(turn)
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
        len(river.runouts),
        tuple(river_groups(turn, river, both, groups, rows, seed) for both in ranges),
        share,
    )


def river_groups(
    turn: StreetBoards,
    river: StreetBoards,
    ranges: Floats,
    groups: int,
    rows: int = 0,
    seed: int = 1,
) -> RiverGroups:
    """Group both players' hands on every river board by the ranges [2, 169] that start the pot."""
    lists = river.lists[0]
    draws = np.random.default_rng(seed).random((max(groups, rows), CANDIDATES))
    sizes = [dict(zip(up.representatives, up.multiplicities, strict=True)) for up in turn.runouts]
    same = np.array(
        [
            sizes[parent][runout.board[-1]]
            for runout, parent in zip(river.runouts, river.parents, strict=True)
        ],
        np.float32,
    )
    weights = [_combo_weights(river, row) for row in ranges]
    hand_of_combo = _hand_of_combo(lists)
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
            lists.combo_start,
            hand_weights(river, ranges[player]),
            weights[player.opponent],
            draws[:groups],
            ROUNDS,
            found,
            equity,
        )
        marks.append(found)
        if rows:
            turn_marks.append(_turn_rows(turn, river, ranges[player], draws[:rows], same, equity))
    count = len(river.runouts)
    margin = np.zeros((count, groups, groups), np.int8)
    pairs = np.zeros_like(margin)
    group_matrices(
        lists.combo_start,
        lists.combo_strengths,
        lists.combo_cards,
        (marks[0][hand_of_combo], marks[1][hand_of_combo]),
        (weights[0], weights[1]),
        groups,
        margin.reshape(-1),
        pairs.reshape(-1),
    )
    chance = same / np.float32(44)
    by_group = tuple(_grouped(lists, found, groups) for found in marks)
    shared = (turn_marks[0], turn_marks[1]) if rows else None
    both = (marks[0], marks[1])
    return RiverGroups(shared, both, (by_group[0], by_group[1]), chance, margin, pairs)


def _hand_of_combo(lists: HandLists) -> NDArray[np.int64]:
    """[C]: the hand of each combo among all hands of a street, padding included."""
    starts = np.repeat(lists.start[:-1], np.diff(lists.combo_start))
    found: NDArray[np.int64] = starts + lists.combo_hand
    return found


def _combo_weights(street: StreetBoards, row: Floats) -> NDArray[np.float32]:
    """[C]: the weights of all combos of a street for a range [169]."""
    combos = np.concatenate([hands.combos for hands in street.hands[0]])
    weights: NDArray[np.float32] = (row / row.max() + LEAST_WEIGHT)[HAND_OF_COMBO[combos]]
    return weights.astype(np.float32)


def hand_weights(street: StreetBoards, row: Floats) -> Floats:
    """[H]: the weights of all hands of a street, padding included, for a range [169]."""
    lists = street.lists[0]
    by_combo = _combo_weights(street, row)
    return np.bincount(_hand_of_combo(lists), by_combo, int(lists.start[-1])).astype(np.float64)


def _turn_rows(
    turn: StreetBoards,
    river: StreetBoards,
    row: Floats,
    draws: Floats,
    same: NDArray[np.float32],
    equity: NDArray[np.float32],
) -> SharedRows:
    """A player's rows on the turn, by the equities of the rivers."""
    lists, below = turn.lists[0], river.lists[0]
    marks = np.zeros(int(lists.start[-1]), np.uint8)
    children = np.zeros(len(turn.runouts) + 1, np.int64)
    np.cumsum(np.bincount(river.parents, minlength=len(turn.runouts)), out=children[1:])
    river_combos = np.bincount(_hand_of_combo(below), minlength=int(below.start[-1]))
    weights = hand_weights(turn, row)
    turn_rows(
        lists.start,
        lists.count,
        children,
        weights,
        below.start,
        below.count,
        below.parent,
        (river_combos * np.repeat(same, np.diff(below.start))).astype(np.float64),
        equity,
        draws,
        ROUNDS,
        marks,
    )
    starts = whole_vectors(len(draws)) * np.arange(len(turn.runouts) + 1, dtype=np.int64)
    return rows_of(lists, marks, starts, weights)


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
