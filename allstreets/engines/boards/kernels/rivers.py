"""Turn boards whose rivers are solved in groups: combos into groups, matrix products, and back."""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Singles, inner_kernel, kernel
from allstreets.engines.boards.kernels.layout import MATRIX_ONE, GroupedBoards, GroupSpace, Products
from allstreets.engines.exact.kernels.layout import Boards, Forest, Storage, Workspace
from allstreets.engines.exact.kernels.nodes import backward, forward
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
from allstreets.engines.simd.row_products import multiply_rows
from allstreets.engines.simd.vectors import load, pick, splat, store, transpose_from, transpose_to

ZERO = np.float32(0.0)
SHARE = np.float32(1.0 / MATRIX_ONE)


@inner_kernel
def gather_groups(
    forest: Forest,
    cards: GroupedBoards,
    board: int,
    groups: int,
    lanes: int,
    space: Workspace,
    parent_reach: Singles,
    parent_hands: int,
) -> None:
    """Reach rows of sixteen lines: every group gets the sum over its combos."""
    combos = cards.other
    base = lanes * (parent_hands + SPARE_ROWS)
    firsts, start = board * (groups + 1), combos.start[board]
    zero = splat(ZERO)
    for block in range(0, groups, 16):
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
        transpose_to(space.tile, 0, space.reach, forest.line_reach, 16 * lanes, groups, block)


@inner_kernel
def scatter_groups(
    forest: Forest,
    cards: GroupedBoards,
    board: int,
    groups: int,
    lanes: int,
    space: Workspace,
    parent_values: Singles,
    parent_hands: int,
) -> None:
    """Add a group's values on sixteen lines to every combo of it, by the chance of the card."""
    combos = cards.own
    base = lanes * (parent_hands + SPARE_ROWS)
    firsts, start = board * (groups + 1), combos.start[board]
    chance = splat(cards.chance[board])
    for block in range(0, groups, 16):
        transpose_from(
            space.values, forest.line_value, 16 * lanes, groups, block, space.tile, 0, 16
        )
        for k in range(16):
            value = chance * load(space.tile, 16 * k)
            end = start + pick(combos.first, firsts + block + k + 1)
            for combo in range(start + pick(combos.first, firsts + block + k), end):
                place = 16 * (base + pick(combos.parent, combo))
                store(parent_values, place, load(parent_values, place) + value)


@inner_kernel
def widen_matrix(
    stored: NDArray[np.int8],
    at: int,
    groups: int,
    one: np.float32,
    turn: bool,
    space: GroupSpace,
    out: Singles,
) -> None:
    """A board's matrix in single precision, with OOP's groups as rows or, turned, as columns."""
    factor = splat(one)
    target = space.turned if turn else out
    for place in range(0, groups * groups, 16):
        store(target, place, factor * load(stored, at + place))
    if turn:
        for row in range(0, groups, 16):
            for column in range(0, groups, 16):
                transpose_from(
                    space.turned, space.rows, row, groups, column, out, column * groups + row,
                    groups,
                )  # fmt: skip


@inner_kernel
def add_products(
    products: Products, group: int, groups: int, reach: Singles, values: Singles, space: GroupSpace
) -> None:
    """Value rows of all folds and showdowns of a group of lines."""
    zero = splat(ZERO)
    for place in range(products.group_sums[group], products.group_sums[group + 1]):
        row = products.sums[place] * groups
        for block in range(0, groups, 16):
            store(values, row + block, zero)
    first, last = products.group_shows[group], products.group_shows[group + 1]
    multiply_rows(
        reach,
        products.show_reach[first:last],
        groups,
        space.margin,
        values,
        products.show_value[first:last],
        groups,
        products.show_factor[first:last],
        space.marks,
        space.terms,
        None,
        space.no_union,
    )
    first, last = products.group_folds[group], products.group_folds[group + 1]
    multiply_rows(
        reach,
        products.fold_reach[first:last],
        groups,
        space.pairs,
        values,
        products.fold_value[first:last],
        groups,
        products.fold_factor[first:last],
        space.marks,
        space.terms,
        None,
        space.no_union,
    )


@inner_kernel
def grouped_rivers(
    forest: Forest,
    boards: Boards,
    storage: Storage,
    space: Workspace,
    cards: GroupedBoards,
    products: Products,
    matrices: GroupSpace,
    parent_reach: Singles,
    parent_values: Singles,
    parent_own: int,
    parent_other: int,
    first: int,
    last: int,
    mode: int,
    weights: KernelWeights,
) -> None:
    """River boards first, …, last − 1 of one turn board."""
    groups = boards.own_start[1]
    own = SHARE if cards.own_is_oop else -SHARE
    for board in range(first, last):
        at = board * groups * groups
        turn = cards.own_is_oop
        widen_matrix(cards.margin, at, groups, own, turn, matrices, matrices.margin)
        widen_matrix(cards.pairs, at, groups, SHARE, turn, matrices, matrices.pairs)
        for group in range(len(forest.group_nodes) - 1):
            for lanes in range(forest.group_lanes[group], forest.group_lanes[group + 1]):
                gather_groups(
                    forest, cards, board, groups, lanes, space, parent_reach, parent_other
                )
            forward(forest, group, space, storage, boards, board, mode)
            clear_rows(forest, group, space, groups)
            add_products(products, group, groups, space.reach, space.values, matrices)
            backward(forest, group, space, storage, boards, board, mode, weights)
            for lanes in range(forest.group_lanes[group], forest.group_lanes[group + 1]):
                scatter_groups(
                    forest, cards, board, groups, lanes, space, parent_values, parent_own
                )


@inner_kernel
def share_values(
    leaf_values: Singles, own: int, lane_groups: int, shares: Singles, first: int
) -> None:
    """Divide the sums over a turn hand's combos by how many these are."""
    for lanes in range(lane_groups):
        base = lanes * (own + SPARE_ROWS)
        for hand in range(own):
            place = 16 * (base + hand)
            store(leaf_values, place, splat(shares[first + hand]) * load(leaf_values, place))


@inner_kernel
def grouped_turns(
    turn: Forest,
    turn_cards: Boards,
    turn_storage: Storage,
    turn_space: Workspace,
    river: Forest,
    river_boards: Boards,
    river_storage: Storage,
    river_space: Workspace,
    cards: GroupedBoards,
    products: Products,
    matrices: GroupSpace,
    parent_reach: Singles,
    parent_values: Singles,
    parent_own: int,
    parent_other: int,
    mode: int,
    weights: KernelWeights,
) -> None:
    """All turn boards of a flop, each with all its rivers."""
    line_groups, leaf_groups = len(turn.line_reach) // 16, len(turn.leaf_value) // 16
    for board in range(len(turn_cards.children) - 1):
        own = turn_cards.own_start[board + 1] - turn_cards.own_start[board]
        other = turn_cards.other_start[board + 1] - turn_cards.other_start[board]
        for lanes in range(line_groups):
            reach_lines(
                turn, turn_cards, board, lanes, turn_space, parent_reach, parent_other, other
            )
        early_forward(turn, turn_cards, turn_storage, turn_space, board, mode)
        clear_leaves(turn_space.leaf_values, own, 0, leaf_groups)
        grouped_rivers(
            river,
            river_boards,
            river_storage,
            river_space,
            cards,
            products,
            matrices,
            turn_space.leaf_reach,
            turn_space.leaf_values,
            own,
            other,
            turn_cards.children[board],
            turn_cards.children[board + 1],
            mode,
            weights,
        )
        shares = turn_cards.own_start[board]
        share_values(turn_space.leaf_values, own, leaf_groups, cards.own_share, shares)
        early_backward(
            turn,
            turn_cards,
            turn_storage,
            turn_space,
            turn_space.leaf_values,
            board,
            mode,
            weights,
        )
        for lanes in range(line_groups):
            add_line_values(
                turn, turn_cards, board, lanes, turn_space, parent_values, parent_own, own
            )


@kernel
def grouped_flop(
    forests: tuple[Forest, ...],
    boards: tuple[Boards, ...],
    storages: tuple[Storage, ...],
    spaces: tuple[Workspace, ...],
    cards: GroupedBoards,
    products: Products,
    matrices: GroupSpace,
    reach: Singles,
    values: Singles,
    mode: int,
    weights: KernelWeights,
) -> None:
    """One pass on a flop, all pots of the forests together; tuples are by street.

    The other's reach [P, Hₒ] at the roots comes in, own values [P, Hₓ] go out, hands padded.
    """
    flop, flop_boards, space = forests[0], boards[0], spaces[0]
    zeroth: int = np.int64(0)  # type: ignore[assignment]  # a constant would compile once more
    own, other = flop_boards.own_start[1], flop_boards.other_start[1]
    for pot in range(len(reach)):
        at = flop.line_reach[pot] * other
        space.reach[at : at + other] = reach[pot]
    early_forward(flop, flop_boards, storages[0], space, zeroth, mode)
    clear_leaves(space.leaf_values, own, 0, len(flop.leaf_value) // 16)
    grouped_turns(
        forests[1],
        boards[1],
        storages[1],
        spaces[1],
        forests[2],
        boards[2],
        storages[2],
        spaces[2],
        cards,
        products,
        matrices,
        space.leaf_reach,
        space.leaf_values,
        own,
        other,
        mode,
        weights,
    )
    early_backward(flop, flop_boards, storages[0], space, space.leaf_values, zeroth, mode, weights)
    for pot in range(len(values)):
        at = flop.line_value[pot] * own
        values[pot] = space.values[at : at + own]
