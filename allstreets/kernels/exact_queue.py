"""The boards below a spot's root, piece by piece, by as many threads as there are.

Threads fetch pieces from one queue, the largest first, so that nobody waits for the slowest. Pieces
of a river are a group of lines on a run of boards. Groups write to lanes of their own, and runs of
boards to leaves of their own (*parts*), which are added up in order: who took which piece does not
change the result. How many parts there are depends on the tree and never on the threads.

A piece that needs others stands behind them in the queue and waits for the last of them.

    turn:   ENDS of the root;  RIVERS of group g, part c;  SUM of group g's parts
    flop:   ENDS of the root;  DOWN turn t;  RIVERS below t, of group g, part c;  UP turn t

Letters as in `exact_layout`; C parts.
"""

from typing import NamedTuple

import numpy as np

from allstreets.kernels.counter import Counter, finish, take, wait_for
from allstreets.kernels.exact_boards import (
    SPARE_ROWS,
    clear_leaves,
    early_down,
    early_ends,
    early_up,
    receive,
    river_lines,
    send,
)
from allstreets.kernels.exact_layout import (
    Boards,
    Discounts,
    Floats,
    Forest,
    Longs,
    Storage,
    Workspace,
)
from allstreets.kernels.jit import inner_kernel, kernel
from allstreets.kernels.simd import load, splat, store

ENDS, DOWN, RIVERS, LAST = range(4)
"""Kinds of pieces; the last is the SUM of a turn spot, or UP in a flop spot."""


class Queue(NamedTuple):
    """Pieces of work in the order in which they are handed out."""

    counter: Counter
    pieces: Longs  # […, 6]: kind, turn, group, part, first river board, last
    needed: Longs  # […]: how many pieces must be done before a piece that waits
    done: Longs  # [groups of a turn spot, or turns]: pieces that are done


class Street(NamedTuple):
    """A street for one own player, with the space of one thread."""

    forest: Forest
    boards: Boards
    storage: Storage
    space: Workspace


class TurnSpace(NamedTuple):
    """What outlives a piece, by turn board."""

    values: Floats  # [B, …]: as in `Workspace`
    leaf_reach: Floats  # [B, …]
    leaf_values: Floats  # [B · C, …]
    root_values: Floats  # [B, …]: what each turn adds to the root's leaves


@inner_kernel
def clear_group(leaves: Floats, first: int, last: int, own: int) -> None:
    """Zero the leaves of some lane groups."""
    zero = splat(np.float32(0.0))
    for row in range(first * (own + SPARE_ROWS), last * (own + SPARE_ROWS)):
        store(leaves, 16 * row, zero)


@inner_kernel
def add_parts(leaves: Floats, at: int, parts: int, first: int, last: int, own: int) -> None:
    """Add the leaves [at + 1], … of some lane groups to leaves [at], part after part."""
    target = leaves[at]
    for part in range(at + 1, at + parts):
        source = leaves[part]
        for row in range(first * (own + SPARE_ROWS), last * (own + SPARE_ROWS)):
            store(target, 16 * row, load(target, 16 * row) + load(source, 16 * row))


@inner_kernel
def river_piece(
    river: Street,
    leaf_reach: Floats,
    leaves: Floats,
    own: int,
    other: int,
    group: int,
    first: int,
    last: int,
    mode: int,
    discounts: Discounts,
) -> None:
    """A group of lines on river boards first, …, last − 1 of one parent board."""
    lanes = river.forest.group_lanes
    clear_group(leaves, lanes[group], lanes[group + 1], own)
    for board in range(first, last):
        river_lines(
            river.forest, river.boards, river.storage, river.space, leaf_reach, leaves, own, other,
            board, group, mode, discounts,
        )  # fmt: skip


@kernel
def work_on_turn(
    queue: Queue,
    parts: int,
    root: Street,
    river: Street,
    leaves: Floats,
    mode: int,
    discounts: Discounts,
) -> None:
    """The pieces of a turn spot that this thread gets hold of; leaves [0] hold the sums at last."""
    own, other = root.boards.own_start[1], root.boards.other_start[1]
    lanes = river.forest.group_lanes
    while True:
        number = take(queue.counter)
        if number >= len(queue.pieces):
            break
        piece = queue.pieces[number]
        kind, group, part = piece[0], piece[2], piece[3]
        if kind == ENDS:
            early_ends(root.forest, root.boards, root.storage, root.space, piece[1], mode)
        elif kind == RIVERS:
            river_piece(
                river, root.space.leaf_reach, leaves[part], own, other, group, piece[4], piece[5],
                mode, discounts,
            )  # fmt: skip
            finish(queue.done, group)
        else:
            wait_for(queue.done, group, queue.needed[number])
            add_parts(leaves, 0, parts, lanes[group], lanes[group + 1], own)


@kernel
def work_on_flop(
    queue: Queue,
    parts: int,
    root: Street,
    turn: Street,
    river: Street,
    kept: TurnSpace,
    mode: int,
    discounts: Discounts,
) -> None:
    """The pieces of a flop spot that this thread gets hold of."""
    root_own, root_other = root.boards.own_start[1], root.boards.other_start[1]
    lane_groups = len(turn.forest.line_reach) // 16
    leaf_groups = len(turn.forest.leaf_value) // 16
    forest, boards, storage, mine = turn.forest, turn.boards, turn.storage, turn.space
    while True:
        number = take(queue.counter)
        if number >= len(queue.pieces):
            break
        piece = queue.pieces[number]
        kind, board = piece[0], piece[1]
        if kind == ENDS:
            early_ends(root.forest, root.boards, root.storage, root.space, board, mode)
            continue
        own = boards.own_start[board + 1] - boards.own_start[board]
        other = boards.other_start[board + 1] - boards.other_start[board]
        space = Workspace(
            mine.reach, kept.values[board], mine.tile, kept.leaf_reach[board], mine.leaf_values,
            mine.rows,
        )  # fmt: skip
        if kind == DOWN:
            for lanes in range(lane_groups):
                receive(
                    forest, boards, board, lanes, space, root.space.leaf_reach, root_other, other
                )  # fmt: skip
            early_down(forest, boards, storage, space, board, mode)
            finish(queue.done, board)
        elif kind == RIVERS:
            wait_for(queue.done, board, queue.needed[number])
            river_piece(
                river, space.leaf_reach, kept.leaf_values[board * parts + piece[3]], own, other,
                piece[2], piece[4], piece[5], mode, discounts,
            )  # fmt: skip
            finish(queue.done, board)
        else:
            wait_for(queue.done, board, queue.needed[number])
            at = board * parts
            add_parts(kept.leaf_values, at, parts, 0, leaf_groups, own)
            early_up(
                forest, boards, storage, space, kept.leaf_values[at], board, mode, discounts
            )  # fmt: skip
            values = kept.root_values[board]
            clear_leaves(values, root_own, len(root.forest.leaf_value) // 16)
            for lanes in range(lane_groups):
                send(forest, boards, board, lanes, space, values, root_own, own)
