"""Turn boards whose rivers are solved in buckets: combos into buckets, matrix products, and back.

Lines stand sixteen at a time in the lanes of vectors; *groups* are groups of lines.

Threads share the turn boards of a flop. Every board writes its own numbers, and values are added
to the flop's leaves in the order of the boards: the result does not depend on which thread took
which.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Singles, inner_kernel, kernel
from allstreets.engines.boards.kernels.layout import (
    MATRIX_ONE,
    BucketBoards,
    BucketSpace,
    FlopLeaves,
    Products,
    RiverGame,
    StreetGame,
)
from allstreets.engines.exact.kernels.layout import Boards, Forest, Storage, Workspace
from allstreets.engines.exact.kernels.nodes import backward, forward, pot_start
from allstreets.engines.exact.kernels.streets import (
    SPARE_ROWS,
    add_line_values,
    clear_leaves,
    clear_rows,
    early_backward,
    early_forward,
    reach_lines,
)
from allstreets.engines.simd.iteration_weights import KernelWeights
from allstreets.engines.simd.row_products import multiply_dense
from allstreets.engines.simd.vectors import (
    load,
    pick,
    prefetch,
    splat,
    store,
    transpose_from,
    transpose_to,
)
from allstreets.engines.simd.work_counter import finish, take, wait_for

ZERO = np.float32(0.0)
SHARE = np.float32(1.0 / MATRIX_ONE)


@inner_kernel
def gather_buckets(
    forest: Forest,
    cards: BucketBoards,
    board: int,
    buckets: int,
    lanes: int,
    space: Workspace,
    parent_reach: Singles,
    parent_hands: int,
) -> None:
    """Reach rows of sixteen lines: every bucket gets the sum over its combos."""
    combos = cards.opponent
    base = lanes * (parent_hands + SPARE_ROWS)
    firsts, start = board * (buckets + 1), combos.start[board]
    zero = splat(ZERO)
    for block in range(0, buckets, 16):
        for k in range(16):
            combo = start + pick(combos.first, firsts + block + k)
            end = start + pick(combos.first, firsts + block + k + 1)
            even = odd = zero  # two sums, so that one addition need not wait for the other
            while combo + 1 < end:
                even = even + load(parent_reach, 16 * (base + pick(combos.parent, combo)))
                odd = odd + load(parent_reach, 16 * (base + pick(combos.parent, combo + 1)))
                combo += 2
            if combo < end:
                even = even + load(parent_reach, 16 * (base + pick(combos.parent, combo)))
            store(space.tile, 16 * k, even + odd)
        transpose_to(space.tile, 0, space.reach, forest.line_reach, 16 * lanes, buckets, block)


@inner_kernel
def scatter_buckets(
    forest: Forest,
    cards: BucketBoards,
    board: int,
    buckets: int,
    lanes: int,
    space: Workspace,
    parent_values: Singles,
    parent_hands: int,
) -> None:
    """Add a bucket's values on sixteen lines to every combo of it, by the chance of the card."""
    combos = cards.player
    base = lanes * (parent_hands + SPARE_ROWS)
    firsts, start = board * (buckets + 1), combos.start[board]
    chance = splat(cards.chance[board])
    for block in range(0, buckets, 16):
        transpose_from(
            space.values, forest.line_value, 16 * lanes, buckets, block, space.tile, 0, 16
        )
        for k in range(16):
            value = chance * load(space.tile, 16 * k)
            end = start + pick(combos.first, firsts + block + k + 1)
            for combo in range(start + pick(combos.first, firsts + block + k), end):
                offset = 16 * (base + pick(combos.parent, combo))
                store(parent_values, offset, load(parent_values, offset) + value)


@inner_kernel
def widen_matrix(
    stored: NDArray[np.int8],
    at: int,
    buckets: int,
    one: np.float32,
    turn: bool,
    space: BucketSpace,
    out: Singles,
) -> None:
    """A board's matrix in single precision, with OOP's buckets as rows or, turned, as columns."""
    factor = splat(one)
    target = space.turned if turn else out
    for place in range(0, buckets * buckets, 16):
        store(target, place, factor * load(stored, at + place))
    if turn:
        for row in range(0, buckets, 16):
            for column in range(0, buckets, 16):
                transpose_from(
                    space.turned, space.rows, row, buckets, column, out, column * buckets + row,
                    buckets,
                )  # fmt: skip


@inner_kernel
def fetch_stored(forest: Forest, group: int, storage: Storage, boards: Boards, board: int) -> None:
    """Prefetch what the backward pass will update: 2 bytes a number, so 32 to a cache line.

    The numbers of a node on a board are a few lines, too short a run for the processor to foresee.
    """
    rows = boards.own_rows[board + 1] - boards.own_rows[board]
    for node in range(forest.group_nodes[group + 1] - 1, forest.group_nodes[group] - 1, -1):
        if forest.is_own[node]:
            start = pot_start(forest.own_actions, forest.pot[node], boards.own_rows, board)
            first = start + forest.slot[node] * rows
            for place in range(first, first + forest.actions[node] * rows, 32):
                prefetch(storage.own_regrets, place)
                prefetch(storage.own_average, place)


@inner_kernel
def add_products(
    products: Products,
    group: int,
    buckets: int,
    reach: Singles,
    values: Singles,
    space: BucketSpace,
) -> None:
    """Value rows of all folds and showdowns of a group of lines."""
    zero = splat(ZERO)
    for place in range(products.group_sums[group], products.group_sums[group + 1]):
        row = products.sums[place] * buckets
        for block in range(0, buckets, 16):
            store(values, row + block, zero)
    shows, folds = products.shows, products.folds
    multiply_dense(
        reach, shows.reach, space.margin, buckets, values, shows.value, shows.factor,
        shows.groups[group], shows.groups[group + 1],
    )  # fmt: skip
    multiply_dense(
        reach, folds.reach, space.pairs, buckets, values, folds.value, folds.factor,
        folds.groups[group], folds.groups[group + 1],
    )  # fmt: skip


@inner_kernel
def bucketed_rivers(
    river: RiverGame,
    parent_reach: Singles,
    parent_values: Singles,
    player_hands: int,
    opponent_hands: int,
    first: int,
    last: int,
    mode: int,
    weights: KernelWeights,
) -> None:
    """River boards first, …, last − 1 of one turn board."""
    forest, boards, storage, space = river.street
    cards, matrices = river.cards, river.space
    buckets = boards.own_start[1]
    turn = cards.player_is_oop
    factor = SHARE if turn else -SHARE
    for board in range(first, last):
        at = board * buckets * buckets
        widen_matrix(cards.margin, at, buckets, factor, turn, matrices, matrices.margin)
        widen_matrix(cards.pairs, at, buckets, SHARE, turn, matrices, matrices.pairs)
        for group in range(len(forest.group_nodes) - 1):
            for lanes in range(forest.group_lanes[group], forest.group_lanes[group + 1]):
                gather_buckets(
                    forest, cards, board, buckets, lanes, space, parent_reach, opponent_hands
                )
            forward(forest, group, space, storage, boards, board, mode)
            fetch_stored(forest, group, storage, boards, board)
            clear_rows(forest, group, space, buckets)
            add_products(river.products, group, buckets, space.reach, space.values, matrices)
            backward(forest, group, space, storage, boards, board, mode, weights)
            for lanes in range(forest.group_lanes[group], forest.group_lanes[group + 1]):
                scatter_buckets(
                    forest, cards, board, buckets, lanes, space, parent_values, player_hands
                )


@inner_kernel
def share_values(
    leaf_values: Singles, hands: int, lane_groups: int, shares: Singles, first: int
) -> None:
    """Divide the sums over a turn hand's combos by how many these are."""
    for lanes in range(lane_groups):
        base = lanes * (hands + SPARE_ROWS)
        for hand in range(hands):
            offset = 16 * (base + hand)
            store(leaf_values, offset, splat(shares[first + hand]) * load(leaf_values, offset))


@inner_kernel
def turn_pass(
    turn: StreetGame,
    river: RiverGame,
    leaves: FlopLeaves,
    board: int,
    mode: int,
    weights: KernelWeights,
) -> None:
    """A turn board with all its rivers, from the flop's leaves to the values of its lines."""
    forest, boards, storage, space = turn
    leaf_groups = len(forest.leaf_value) // 16
    player = boards.own_start[board + 1] - boards.own_start[board]
    opponent = boards.other_start[board + 1] - boards.other_start[board]
    for lanes in range(len(forest.line_reach) // 16):
        reach_lines(
            forest, boards, board, lanes, space, leaves.reach, leaves.opponent_hands, opponent
        )
    early_forward(forest, boards, storage, space, board, mode)
    clear_leaves(space.leaf_values, player, 0, leaf_groups)
    bucketed_rivers(
        river,
        space.leaf_reach,
        space.leaf_values,
        player,
        opponent,
        boards.children[board],
        boards.children[board + 1],
        mode,
        weights,
    )
    first = boards.own_start[board]
    share_values(space.leaf_values, player, leaf_groups, river.cards.turn_share, first)
    early_backward(forest, boards, storage, space, space.leaf_values, board, mode, weights)


@inner_kernel
def send_values(turn: StreetGame, leaves: FlopLeaves, board: int) -> None:
    """Add a turn board's values to the flop's leaves when all boards before it have done so."""
    forest, boards, _, space = turn
    player = boards.own_start[board + 1] - boards.own_start[board]
    wait_for(leaves.sent, 0, board)
    lane_groups = len(forest.line_reach) // 16
    if board == 0:
        clear_leaves(leaves.values, leaves.player_hands, 0, lane_groups)
    for lanes in range(lane_groups):
        add_line_values(
            forest, boards, board, lanes, space, leaves.values, leaves.player_hands, player
        )
    finish(leaves.sent, 0, 1)


@kernel
def bucketed_turns(
    turn: StreetGame,
    other_values: Singles,
    river: RiverGame,
    leaves: FlopLeaves,
    mode: int,
    weights: KernelWeights,
) -> None:
    """The turn boards of a flop that this thread takes, all pots of the forests together.

    A thread sends the values of a board after it has finished its next board, and so hardly ever
    waits for earlier boards: `other_values` are rows for every second board.
    """
    forest, boards, storage, space = turn
    other = Workspace(
        space.reach, other_values, space.tile, space.leaf_reach, space.leaf_values, space.rows
    )
    now, before = turn, StreetGame(forest, boards, storage, other)
    count, waiting = len(boards.children) - 1, -1
    while True:
        board = take(leaves.counter)
        if board < count:
            turn_pass(now, river, leaves, board, mode, weights)
        if waiting >= 0:
            send_values(before, leaves, waiting)
        if board >= count:
            break
        waiting = board
        now, before = before, now
