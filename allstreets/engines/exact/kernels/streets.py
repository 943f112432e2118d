"""One pass over the boards of a street: reach comes in, values go out.

A street is entered from the leaves of the street before, where a card was dealt. There a hand is
one vector over sixteen lines (`leaf_reach`, `leaf_values`), so that leaving out the hands that the
new card blocks and putting the rest in the new street's order moves whole vectors.
"""

from typing import NamedTuple

import numpy as np

from allstreets.base import Longs, Singles, inlined_kernel, inner_kernel, kernel
from allstreets.engines.exact.kernels.layout import (
    EVALUATE,
    OTHER_FOLDS,
    OWN_FOLDS,
    UPDATE,
    Boards,
    Forest,
    Storage,
    Workspace,
)
from allstreets.engines.exact.kernels.nodes import backward, forward, pot_start
from allstreets.engines.exact.kernels.terminals import Ahead, mixed_tile, other_tile, own_tile
from allstreets.engines.simd.iteration_weights import KernelWeights, kernel_weights
from allstreets.engines.simd.vectors import (
    fma,
    load,
    pick,
    splat,
    store,
    transpose_from,
    transpose_to,
)

ZERO = np.float32(0.0)
SPARE_ROWS = 16
"""Rows behind the hands of a leaf buffer; the first stands for absent hands."""


class Passes(NamedTuple):
    """K passes from the root and back: the halves of iterations, or a single one."""

    players: Longs  # [K]: the own player
    weights: Singles  # [K, 8]: `KernelWeights`
    reach: tuple[
        Singles, Singles
    ]  # what enters at the root when OOP, and when IP, is the own player
    mode: int  # of all passes


@kernel
def reach_lines(
    forest: Forest,
    boards: Boards,
    board: int,
    lanes: int,
    space: Workspace,
    parent_reach: Singles,
    parent_hands: int,
    other: int,
) -> None:
    """Reach rows of sixteen lines on a board, from the leaves of its parent board."""
    first = boards.other_start[board]
    base = lanes * (parent_hands + SPARE_ROWS)
    for block in range(0, other, 16):
        for k in range(16):
            parent = base + pick(boards.other_parent, first + block + k)
            store(space.tile, 16 * k, load(parent_reach, 16 * parent))
        transpose_to(space.tile, 0, space.reach, forest.line_reach, 16 * lanes, other, block)


@inner_kernel
def add_line_values(
    forest: Forest,
    boards: Boards,
    board: int,
    lanes: int,
    space: Workspace,
    parent_values: Singles,
    parent_hands: int,
    own: int,
) -> None:
    """Add the values of sixteen lines to the parent's leaves, for all boards that are the same."""
    first = boards.own_start[board]
    base = lanes * (parent_hands + SPARE_ROWS)
    for block in range(0, own, 16):
        transpose_from(space.values, forest.line_value, 16 * lanes, own, block, space.tile, 0, 16)
        for k in range(16):
            parent = 16 * (base + pick(boards.own_parent, first + block + k))
            weight = splat(boards.own_weight[first + block + k])
            sum_so_far = load(parent_values, parent)
            store(parent_values, parent, fma(weight, load(space.tile, 16 * k), sum_so_far))


@inner_kernel
def clear_rows(forest: Forest, group: int, space: Workspace, own: int) -> None:
    """Zero the value rows that are only ever added to."""
    zero = splat(ZERO)
    for place in range(forest.group_zeros[group], forest.group_zeros[group + 1]):
        row = forest.zeros[place] * own
        for block in range(0, own, 16):
            store(space.values, row + block, zero)


@inlined_kernel
def terminal_values(
    forest: Forest,
    boards: Boards,
    storage: Storage,
    space: Workspace,
    board: int,
    group: int,
    mode: int,
    river: bool,
    averages: bool,
) -> None:
    """The value rows of a group's folds and showdowns from all of its reach rows."""
    own = boards.own_start[board + 1] - boards.own_start[board]
    other = boards.other_start[board + 1] - boards.other_start[board]
    clear_rows(forest, group, space, own)
    rows = boards.own_rows[board + 1] - boards.own_rows[board]
    slots = pot_start(forest.own_actions, 0, boards.own_rows, board)
    slots += forest.group_slots[group] * rows
    ahead_by = 0 if boards.own_row.size else 16  # buckets are few
    regrets = ahead_by if mode == UPDATE else 0
    average = ahead_by if averages or mode == EVALUATE else 0
    for tile in range(forest.group_tiles[group], forest.group_tiles[group + 1]):
        ahead = Ahead(slots, regrets, average)
        kind = forest.tile_kind[tile]
        if kind == OWN_FOLDS:
            own_tile(forest, boards, board, tile, space, own, other, storage, ahead, river)
        elif kind == OTHER_FOLDS:
            other_tile(forest, boards, board, tile, space, own, other, storage, ahead, river)
        else:
            mixed_tile(forest, boards, board, tile, space, own, other, storage, ahead, river)
        slots += 16 * other


@kernel
def river_group(
    forest: Forest,
    boards: Boards,
    storage: Storage,
    space: Workspace,
    board: int,
    group: int,
    mode: int,
    weights: KernelWeights,
) -> None:
    """Everything between the reach rows of a group's lines and their value rows."""
    averages = bool(weights.weight > ZERO)
    forward(forest, group, space, storage, boards, board, mode)
    terminal_values(forest, boards, storage, space, board, group, mode, True, averages)
    backward(forest, group, space, storage, boards, board, mode, weights)


@inner_kernel
def enter(forest: Forest, boards: Boards, space: Workspace, reach: Singles) -> None:
    """Put the other player's reach into the row of the root's only line."""
    other = boards.other_start[1]
    row = forest.line_reach[0] * other
    for hand in range(other):
        space.reach[row + hand] = reach[hand]


@kernel
def river_passes(
    views: tuple[tuple[Forest, Boards, Storage], tuple[Forest, Boards, Storage]],
    space: Workspace,
    passes: Passes,
) -> None:
    """Passes of a spot that starts on the river, which `views` shows by own player.

    A river takes tens of microseconds, about as long as a call from Python.
    """
    zeroth: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    players, table, reach, mode = passes
    for number in range(len(players)):
        player, weights = players[number], kernel_weights(table[number])
        forest, boards, storage = views[player]
        enter(forest, boards, space, reach[player])
        river_group(forest, boards, storage, space, zeroth, zeroth, mode, weights)


@kernel
def early_forward(
    forest: Forest,
    boards: Boards,
    storage: Storage,
    space: Workspace,
    board: int,
    mode: int,
) -> None:
    """A board before the river: from its lines down to folds, all-ins and the cards' leaves."""
    early_reach(forest, boards, storage, space, board, mode)
    early_terminals(forest, boards, storage, space, board, mode)


@kernel
def early_terminals(
    forest: Forest,
    boards: Boards,
    storage: Storage,
    space: Workspace,
    board: int,
    mode: int,
) -> None:
    """A board before the river: the values of its folds and all-ins, once reach is known."""
    only: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    terminal_values(forest, boards, storage, space, board, only, mode, False, True)


@kernel
def early_reach(
    forest: Forest,
    boards: Boards,
    storage: Storage,
    space: Workspace,
    board: int,
    mode: int,
) -> None:
    """A board before the river: from its lines down to the reach of the cards' leaves."""
    only: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    forward(forest, only, space, storage, boards, board, mode)
    other = boards.other_start[board + 1] - boards.other_start[board]
    zero = splat(ZERO)
    for lanes in range(len(forest.leaf_reach) // 16):
        base = lanes * (other + SPARE_ROWS)
        for block in range(0, other, 16):
            transpose_from(
                space.reach,
                forest.leaf_reach,
                16 * lanes,
                other,
                block,
                space.leaf_reach,
                16 * (base + block),
                16,
            )
        store(space.leaf_reach, 16 * (base + other), zero)


@inner_kernel
def clear_leaves(leaf_values: Singles, own: int, first: int, last: int) -> None:
    """Zero the leaves of lane groups first, …, last − 1 before boards add their values."""
    zero = splat(ZERO)
    for row in range(first * (own + SPARE_ROWS), last * (own + SPARE_ROWS)):
        store(leaf_values, 16 * row, zero)


@inner_kernel
def send_leaves(
    source: Singles, target: Singles, own: int, first: int, last: int, new: bool
) -> None:
    """Add leaves of lane groups first, …, last − 1 to others, or replace these if they are new."""
    for row in range(first * (own + SPARE_ROWS), last * (own + SPARE_ROWS)):
        value = load(source, 16 * row)
        if not new:
            value = value + load(target, 16 * row)
        store(target, 16 * row, value)


@kernel
def early_backward(
    forest: Forest,
    boards: Boards,
    storage: Storage,
    space: Workspace,
    leaf_values: Singles,
    board: int,
    mode: int,
    weights: KernelWeights,
) -> None:
    """A board before the river: from the values of the cards' leaves up to those of its lines."""
    own = boards.own_start[board + 1] - boards.own_start[board]
    for lanes in range(len(forest.leaf_value) // 16):
        base = lanes * (own + SPARE_ROWS)
        for block in range(0, own, 16):
            transpose_to(
                leaf_values,
                16 * (base + block),
                space.values,
                forest.leaf_value,
                16 * lanes,
                own,
                block,
            )
    for pair in range(0, len(forest.leaf_sums), 2):
        leaf, target = forest.leaf_sums[pair] * own, forest.leaf_sums[pair + 1] * own
        for block in range(0, own, 16):
            total = load(space.values, target + block) + load(space.values, leaf + block)
            store(space.values, target + block, total)
    only: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    backward(forest, only, space, storage, boards, board, mode, weights)
