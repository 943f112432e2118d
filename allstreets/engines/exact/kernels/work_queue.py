"""The boards below a spot's root, piece by piece, on any number of threads.

Threads fetch pieces from one queue, so that no thread waits for the slowest:

    TERMINALS     the root's folds and all-ins
    FORWARD t     a turn board, from the root's leaves to its own
    RIVERS        groups of lines on a few river boards of one parent board
    BACKWARD t    back to the root's leaves

The result does not depend on which thread takes which piece: the values of boards are added to the
leaves above them in the order of the boards; a thread that is ready sooner waits its turn. A piece
comes in the queue after those that it waits for, ideally as far after them as there are threads, so
that it hardly ever waits.

Letters as in `exact.kernels.layout`; S slots for the turn boards that are at work.
"""

from typing import NamedTuple

import numpy as np

from allstreets.base import Longs, Singles, inner_kernel, kernel
from allstreets.engines.exact.kernels.layout import Boards, Forest, Storage, Workspace
from allstreets.engines.exact.kernels.streets import (
    add_line_values,
    clear_leaves,
    early_backward,
    early_forward,
    early_terminals,
    reach_lines,
    river_group,
)
from allstreets.engines.simd.iteration_weights import KernelWeights
from allstreets.engines.simd.work_counter import Counter, finish, take, wait_for

TERMINALS, FORWARD, RIVERS, BACKWARD = range(4)
"""Kinds of pieces."""


class Queue(NamedTuple):
    """Pieces of work in the order in which they are handed out."""

    counter: Counter
    pieces: Longs  # […, 6]: kind, parent board, groups from … to, river boards from … to
    sent: Longs  # [parent boards · groups]: river boards whose values have arrived above
    forward: Longs  # [B]: 1 where a turn board's leaves are reached
    backward: Longs  # [1]: turn boards whose values have arrived at the root


class Street(NamedTuple):
    """A street for one own player, with the space of one thread."""

    forest: Forest
    boards: Boards
    storage: Storage
    space: Workspace


class TurnSpace(NamedTuple):
    """The data of a turn board that outlives a piece; board t has slot t mod S."""

    values: Singles  # [S, …]: as in `Workspace`
    leaf_reach: Singles  # [S, …]
    leaf_values: Singles  # [S, …]


@inner_kernel
def river_piece(
    forest: Forest,
    boards: Boards,
    storage: Storage,
    space: Workspace,
    leaf_reach: Singles,
    leaves: Singles,
    own: int,
    other: int,
    before: int,
    piece: Longs,
    sent: Longs,
    mode: int,
    weights: KernelWeights,
) -> None:
    """Some groups of lines on some river boards of a parent, whose rivers begin at `before`.

    sent[group] counts the boards whose values are in the parent's leaves.
    """
    for board in range(piece[4], piece[5]):
        here = boards.own_start[board + 1] - boards.own_start[board]
        there = boards.other_start[board + 1] - boards.other_start[board]
        for group in range(piece[2], piece[3]):
            begin, end = forest.group_lanes[group], forest.group_lanes[group + 1]
            for lanes in range(begin, end):
                reach_lines(forest, boards, board, lanes, space, leaf_reach, other, there)
            river_group(forest, boards, storage, space, board, group, mode, weights)
            if board == before:
                clear_leaves(leaves, own, begin, end)
            wait_for(sent, group, board - before)
            for lanes in range(begin, end):
                add_line_values(forest, boards, board, lanes, space, leaves, own, here)
            finish(sent, group)


@kernel
def work_on_turn(
    queue: Queue, root: Street, river: Street, mode: int, weights: KernelWeights
) -> None:
    """The pieces of a turn spot that this thread takes; the root's space is shared."""
    # Taken apart once: Numba counts references to every array that it takes out of a tuple.
    root_forest, root_boards, root_storage, root_space = root
    forest, boards, storage, space = river
    sent, leaf_reach, leaf_values = queue.sent, root_space.leaf_reach, root_space.leaf_values
    own, other = root_boards.own_start[1], root_boards.other_start[1]
    only: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    while True:
        number = take(queue.counter)
        if number >= len(queue.pieces):
            break
        piece = queue.pieces[number]
        if piece[0] == TERMINALS:
            early_terminals(root_forest, root_boards, root_storage, root_space, only, mode)
        else:
            river_piece(
                forest, boards, storage, space, leaf_reach, leaf_values, own, other, only, piece,
                sent, mode, weights,
            )  # fmt: skip


@kernel
def work_on_flop(
    queue: Queue,
    root: Street,
    turn: Street,
    river: Street,
    kept: TurnSpace,
    mode: int,
    weights: KernelWeights,
) -> None:
    """The pieces of a flop spot that this thread takes; the root's space is shared."""
    root_forest, root_boards, root_storage, root_space = root
    forest, boards, storage, mine = turn
    river_forest, river_boards, river_storage, river_space = river
    sent, root_values = queue.sent, root_space.leaf_values
    root_own, root_other = root_boards.own_start[1], root_boards.other_start[1]
    lane_groups, root_groups = len(forest.line_reach) // 16, len(root_forest.leaf_value) // 16
    groups, slots = len(river_forest.group_nodes) - 1, len(kept.values)
    only: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    while True:
        number = take(queue.counter)
        if number >= len(queue.pieces):
            break
        piece = queue.pieces[number]
        kind, board = piece[0], piece[1]
        if kind == TERMINALS:
            early_terminals(root_forest, root_boards, root_storage, root_space, only, mode)
            continue
        own = boards.own_start[board + 1] - boards.own_start[board]
        other = boards.other_start[board + 1] - boards.other_start[board]
        rivers = boards.children[board + 1] - boards.children[board]
        slot = board % slots
        leaves = kept.leaf_values[slot]
        space = Workspace(
            mine.reach, kept.values[slot], mine.tile, kept.leaf_reach[slot], leaves, mine.rows
        )
        if kind == FORWARD:
            wait_for(queue.backward, 0, board - slots + 1)  # then the slot is no longer needed
            for lanes in range(lane_groups):
                reach_lines(
                    forest, boards, board, lanes, space, root_space.leaf_reach, root_other, other
                )  # fmt: skip
            early_forward(forest, boards, storage, space, board, mode)
            finish(queue.forward, board)
        elif kind == RIVERS:
            wait_for(queue.forward, board, 1)
            river_piece(
                river_forest, river_boards, river_storage, river_space, space.leaf_reach, leaves,
                own, other, boards.children[board], piece, sent[board * groups :], mode, weights,
            )  # fmt: skip
        else:
            for group in range(groups):
                wait_for(sent, board * groups + group, rivers)
            early_backward(forest, boards, storage, space, leaves, board, mode, weights)
            wait_for(queue.backward, 0, board)
            if board == 0:
                clear_leaves(root_values, root_own, only, root_groups)
            for lanes in range(lane_groups):
                add_line_values(forest, boards, board, lanes, space, root_values, root_own, own)
            finish(queue.backward, 0)
