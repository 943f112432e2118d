"""The boards below a spot's root, piece by piece, on any number of threads.

Threads fetch pieces from one queue, so that no thread waits for the slowest:

    TERMINALS     the root's folds and all-ins
    FORWARD t     a turn board, from the root's leaves to its own
    RIVERS        groups of lines on runs of river boards of one parent board
    BACKWARD t    back to the root's leaves

The result does not depend on which thread takes which piece: the values of boards are added to the
leaves above them in the order of the boards; a thread that is ready sooner waits its turn. A piece
comes in the queue after those that it waits for, ideally as far after them as there are threads, so
that it hardly ever waits.

A call runs a table of passes, each with a queue of its own. The leading thread takes reach through
the root, announces that the pass has begun, works like the others, and carries values back up when
all pieces are done. It waits for pieces, not for threads: one that the system has put aside holds
up nobody, and finds the queues that it missed empty.

Letters as in `exact.kernels.layout`; K passes, S slots for the turn boards that are at work.
"""

from typing import NamedTuple

import numpy as np

from allstreets.base import Longs, Singles, inner_kernel, kernel
from allstreets.engines.exact.kernels.layout import Boards, Forest, Storage, Workspace
from allstreets.engines.exact.kernels.streets import (
    Passes,
    add_line_values,
    clear_leaves,
    early_backward,
    early_forward,
    early_reach,
    early_terminals,
    enter,
    reach_lines,
    river_group,
    send_leaves,
)
from allstreets.engines.simd.iteration_weights import KernelWeights, kernel_weights
from allstreets.engines.simd.work_counter import Counter, finish, take, wait_for

TERMINALS, FORWARD, RIVERS, BACKWARD = range(4)
"""Kinds of pieces."""

RUN = 4
"""River boards that are added up before the sum goes to their parent: few enough that threads get
equal shares, and enough that they seldom write what another has just written."""


class Queue(NamedTuple):
    """Pieces of work in the order in which they are handed out."""

    counter: Counter
    pieces: Longs  # […, 6]: kind, parent board, groups from … to, river boards from … to
    sent: Longs  # [parent boards · groups]: river boards whose values have arrived above
    forward: Longs  # [B]: 1 where a turn board's leaves are reached
    backward: Longs  # [1]: turn boards whose values have arrived at the root
    done: Longs  # [1]: pieces


class Queues(NamedTuple):
    """The queues of K passes, none of whose pieces is done."""

    pieces: tuple[Longs, Longs]  # of passes for OOP and for IP
    counters: Longs  # [K, 8]
    sent: Longs  # [K, …]
    forward: Longs  # [K, B]
    backward: Longs  # [K, 1]
    done: Longs  # [K, 1]
    begun: Longs  # [K]: 1 where reach has arrived at the root's leaves


@inner_kernel
def queue_of(queues: Queues, number: int, player: int) -> Queue:
    """The queue of a pass."""
    return Queue(
        queues.counters[number],
        queues.pieces[player],
        queues.sent[number],
        queues.forward[number],
        queues.backward[number],
        queues.done[number],
    )


class Street(NamedTuple):
    """A street for one own player, with the space of one thread."""

    forest: Forest
    boards: Boards
    storage: Storage
    space: Workspace


PlayersStreets = tuple[tuple[Street, ...], tuple[Street, ...]]
"""All streets of one thread, as OOP and as IP see them; the root's space is the leader's."""


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
    """Some groups of lines on runs of river boards of a parent, whose rivers begin at `before`.

    The values of a run are summed in leaves of this thread's own, and only their sum goes to those
    of the parent, which other threads write too. sent[group] counts the boards that are in it.
    """
    for first in range(piece[4], piece[5], RUN):
        last = min(first + RUN, piece[5])
        for board in range(first, last):
            here = boards.own_start[board + 1] - boards.own_start[board]
            there = boards.other_start[board + 1] - boards.other_start[board]
            for group in range(piece[2], piece[3]):
                begin, end = forest.group_lanes[group], forest.group_lanes[group + 1]
                for lanes in range(begin, end):
                    reach_lines(forest, boards, board, lanes, space, leaf_reach, other, there)
                river_group(forest, boards, storage, space, board, group, mode, weights)
                if board == first:
                    clear_leaves(space.leaf_values, own, begin, end)
                for lanes in range(begin, end):
                    add_line_values(
                        forest, boards, board, lanes, space, space.leaf_values, own, here
                    )
        for group in range(piece[2], piece[3]):
            begin, end = forest.group_lanes[group], forest.group_lanes[group + 1]
            wait_for(sent, group, first - before)
            send_leaves(space.leaf_values, leaves, own, begin, end, first == before)
            finish(sent, group, last - first)


@inner_kernel
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
        finish(queue.done, 0, 1)


@inner_kernel
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
            finish(queue.done, 0, 1)
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
            finish(queue.forward, board, 1)
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
            finish(queue.backward, 0, 1)
        finish(queue.done, 0, 1)


@inner_kernel
def begin_pass(queues: Queues, number: int, root: Street, reach: Singles, mode: int) -> None:
    """Take reach through the root's street, and let all threads begin with the boards below."""
    only: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    forest, boards, storage, space = root
    enter(forest, boards, space, reach)
    early_reach(forest, boards, storage, space, only, mode)
    finish(queues.begun, number, 1)


@inner_kernel
def end_pass(
    queues: Queues, number: int, pieces: int, root: Street, mode: int, weights: KernelWeights
) -> None:
    """Carry the values of the root's leaves back up when all pieces are done."""
    only: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    forest, boards, storage, space = root
    wait_for(queues.done[number], 0, pieces)
    early_backward(forest, boards, storage, space, space.leaf_values, only, mode, weights)


@kernel
def turn_passes(
    queues: Queues,
    streets: PlayersStreets,
    passes: Passes,
    leads: bool,
) -> None:
    """The part of one thread in passes of a turn spot, whose streets are given by own player."""
    for number in range(len(passes.players)):
        player, weights = passes.players[number], kernel_weights(passes.weights[number])
        root, river = streets[player]
        if leads:
            begin_pass(queues, number, root, passes.reach[player], passes.mode)
        wait_for(queues.begun, number, 1)
        work_on_turn(queue_of(queues, number, player), root, river, passes.mode, weights)
        if leads:
            end_pass(queues, number, len(queues.pieces[player]), root, passes.mode, weights)


@kernel
def flop_passes(
    queues: Queues,
    streets: PlayersStreets,
    kept: TurnSpace,
    passes: Passes,
    leads: bool,
) -> None:
    """The part of one thread in passes of a flop spot, whose streets are given by own player."""
    for number in range(len(passes.players)):
        player, weights = passes.players[number], kernel_weights(passes.weights[number])
        root, turn, river = streets[player]
        if leads:
            begin_pass(queues, number, root, passes.reach[player], passes.mode)
        wait_for(queues.begun, number, 1)
        queue = queue_of(queues, number, player)
        work_on_flop(queue, root, turn, river, kept, passes.mode, weights)
        if leads:
            end_pass(queues, number, len(queues.pieces[player]), root, passes.mode, weights)
