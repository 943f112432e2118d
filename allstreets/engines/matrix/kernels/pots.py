"""All pots on all flops in one call: threads fetch pieces of work from a counter and share nothing
else.

A call from Python takes arrays apart one by one, with the interpreter held; for the dozens of a pot
that takes as long as a pass over a small one. So the lists of all pots stand in two long arrays,
and `PotTables` says where. Learned numbers are passed by address, since every pot has its own
arrays, which come and go (`tables` keeps them alive).

Letters as in `layout`; P pots, K flops of a pass.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.np import arrayobj

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.engines.matrix.kernels.layout import (
    UPDATE,
    Pot,
    StageCards,
    StageHands,
    StagePlan,
    StageSpace,
    StageStore,
)
from allstreets.engines.matrix.kernels.passes import run_flop
from allstreets.engines.simd.iteration_weights import kernel_weights
from allstreets.engines.simd.vectors import machine_code
from allstreets.engines.simd.work_counter import Counter, take

ZERO = np.float32(0.0)
FIRST, SECOND, THIRD = cast(tuple[int, ...], np.arange(3))
"""Stages, as NumPy numbers: Numba would compile a version for each Python constant."""
MATRIX = types.Array(types.float32, 2, "C")
numba_arrays: Any = arrayobj  # without types


class PotTables(NamedTuple):
    """P pots for one own player and the hands of a pass.

    `plans` and `hands` hold (start, stop) in `longs` or `floats` for each list of `StagePlan` and
    `StageHands`, and (number, 0) for each number; `stores` (address, length of a flop's row) for
    each array of `StageStore`.
    """

    stages: Longs  # [P]
    longs: Longs
    floats: Singles
    plans: Longs  # [P, stages, fields, 2]
    hands: Longs  # [P, stages, fields, 2]
    stores: Longs  # [P, stages, 4, 2]


@machine_code
def matrix_at(typing_context: Any, address: Any, rows: Any, columns: Any) -> Any:
    """The float32 matrix at an address; the caller keeps it alive."""
    del typing_context, address, rows, columns

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        address, rows, columns = arguments
        matrix = numba_arrays.make_array(MATRIX)(context, builder)
        size = ir.Constant(columns.type, 4)
        numba_arrays.populate_array(
            matrix,
            data=builder.inttoptr(address, matrix.data.type),
            shape=[rows, columns],
            strides=[builder.mul(columns, size), size],
            itemsize=size,
            meminfo=None,
        )
        del signature
        return matrix._getvalue()

    return MATRIX(types.intp, types.intp, types.intp), generate


@inner_kernel
def plan_at(tables: PotTables, pot: int, stage: int) -> StagePlan:
    """The betting of a pot's stage."""
    at, longs, floats = tables.plans[pot, stage], tables.longs, tables.floats
    return StagePlan(
        at[0, 0], at[1, 0], at[2, 0],
        longs[at[3, 0]:at[3, 1]], longs[at[4, 0]:at[4, 1]], longs[at[5, 0]:at[5, 1]],
        longs[at[6, 0]:at[6, 1]], longs[at[7, 0]:at[7, 1]], longs[at[8, 0]:at[8, 1]],
        longs[at[9, 0]:at[9, 1]], longs[at[10, 0]:at[10, 1]], longs[at[11, 0]:at[11, 1]],
        longs[at[12, 0]:at[12, 1]], longs[at[13, 0]:at[13, 1]], floats[at[14, 0]:at[14, 1]],
        longs[at[15, 0]:at[15, 1]], longs[at[16, 0]:at[16, 1]], floats[at[17, 0]:at[17, 1]],
        longs[at[18, 0]:at[18, 1]], longs[at[19, 0]:at[19, 1]], longs[at[20, 0]:at[20, 1]],
        longs[at[21, 0]:at[21, 1]], floats[at[22, 0]:at[22, 1]],
    )  # fmt: skip


@inner_kernel
def hands_at(tables: PotTables, pot: int, stage: int) -> StageHands:
    """The hands of a pot's stage."""
    at, longs = tables.hands[pot, stage], tables.longs
    return StageHands(
        longs[at[0, 0]:at[0, 1]], at[1, 0], longs[at[2, 0]:at[2, 1]], longs[at[3, 0]:at[3, 1]],
        longs[at[4, 0]:at[4, 1]], at[5, 0],
    )  # fmt: skip


@inner_kernel
def store_at(tables: PotTables, pot: int, stage: int, flops: int) -> StageStore:
    """The learned numbers of a pot's stage."""
    at = tables.stores[pot, stage]
    return StageStore(
        matrix_at(at[0, 0], flops, at[0, 1]),
        matrix_at(at[1, 0], flops, at[1, 1]),
        matrix_at(at[2, 0], flops, at[2, 1]),
        matrix_at(at[3, 0], flops, at[3, 1]),
    )


@inner_kernel
def pot_at(tables: PotTables, pot: int, flops: int) -> Pot:
    """A pot on `flops` flops, taken out of the tables."""
    return Pot(
        tables.stages[pot],
        (
            plan_at(tables, pot, FIRST),
            plan_at(tables, pot, SECOND),
            plan_at(tables, pot, THIRD),
        ),
        (
            hands_at(tables, pot, FIRST),
            hands_at(tables, pot, SECOND),
            hands_at(tables, pot, THIRD),
        ),
        (
            store_at(tables, pot, FIRST, flops),
            store_at(tables, pot, SECOND, flops),
            store_at(tables, pot, THIRD, flops),
        ),
    )


NO_ROOTS = np.zeros((1, 0, 0))
"""Where hands are classes. One type for all, so that kernels are compiled once."""
NOT_PRUNED = np.zeros((1, 1, 0), np.uint8)
"""The blocks that are wanted of one pot on one flop where nothing is pruned."""


@inner_kernel
def enter(space: StageSpace, here: StageHands, reach: Floats, root: Floats) -> None:
    """Put the other's reach [169] into the root's row, in the hands of the first stage.

    `root` [169, H] leads there from the classes; it is empty where hands are classes.
    """
    row = space.reach[: here.other_length]
    row[:] = ZERO
    if root.size == 0:
        for place in range(len(here.other)):
            hand = here.other[place]
            if hand < len(reach):  # what is above is padding
                row[place] = reach[hand]
    else:
        hands = root.shape[1]
        sums = np.zeros(hands)
        for hand in range(len(reach)):
            if reach[hand] > 0.0:
                for place in range(hands):
                    sums[place] += reach[hand] * root[hand, place]
        for place in range(hands):
            row[place] = sums[place]


@inner_kernel
def leave(space: StageSpace, here: StageHands, root: Floats, values: Singles) -> None:
    """Own values at the root's row, by class [169]; 0 for classes that the pass does not cover."""
    row_values = space.values
    if root.size == 0:
        values[:] = ZERO
        for place in range(len(here.own)):
            hand = here.own[place]
            if hand < len(values):
                values[hand] = row_values[place]
    else:
        for hand in range(len(values)):
            total = 0.0
            for place in range(root.shape[1]):
                total += root[hand, place] * row_values[place]
            values[hand] = total


@inner_kernel
def root_of(roots: Floats, flop: int) -> Floats:
    """The root of a flop; empty where hands are classes."""
    root: Floats = roots[flop if roots.size else 0]
    return root


@kernel
def run_pots(
    counter: Counter,
    pieces: Longs,
    order: Longs,
    tables: PotTables,
    cards: tuple[StageCards, ...],
    spaces: tuple[StageSpace, ...],
    flops: Longs,
    reach: Floats,
    roots: Floats,
    values: Singles,
    mode: int,
    table: Singles,
    wanted: Bytes,
    limited: Bytes,
) -> None:
    """Passes on the pieces that this thread takes.

    A piece [4] is flops[piece[0] : piece[1]] with the pots order[piece[2] : piece[3]]. `reach`
    [P, 169] is the other's, `values` [P, K, 169] come out, `roots` [F, 169, H] lead from classes to
    hands, or are `NO_ROOTS`. `table` [K or 1, 7] holds iteration weights. `wanted` [P, K or 1,
    H / 16] are the blocks of own hands that an update computes in the pots that are `limited` [P];
    [P, 1, 0]: in none.
    """
    count = len(cards[0].combos)
    while True:
        piece = take(counter)
        if piece >= len(pieces):
            break
        for place in range(pieces[piece, 0], pieces[piece, 1]):
            weights = kernel_weights(table[place if len(table) > 1 else 0])
            flop = flops[place]
            root = root_of(roots, flop)
            for number in range(pieces[piece, 2], pieces[piece, 3]):
                pot = order[number]
                game = pot_at(tables, pot, count)
                enter(spaces[0], game.hands[0], reach[pot], root)
                blocks = wanted[pot, place if wanted.shape[1] > 1 else 0]
                blocks = blocks[: game.hands[0].own_length // 16 if limited[pot] else 0]
                run_flop(game, cards, spaces, flop, mode, weights, blocks)
                leave(spaces[0], game.hands[0], root, values[pot, place])


@kernel
def iterate_pots(
    counter: Counter,
    pieces: Longs,
    tables: tuple[PotTables, PotTables],
    cards: tuple[StageCards, ...],
    spaces: tuple[StageSpace, ...],
    reach: Floats,
    roots: Floats,
    table: Singles,
    wanted: Bytes,
) -> None:
    """Whole iterations of both players' hands on the pieces that this thread takes.

    A piece [2] is a pot on a flop; both players' reach [2, P, 169] stays the same. `table`
    [iterations, 7] holds iteration weights; `wanted` [H / 16] are the blocks of own hands that are
    computed if these iterations are pruned, else [0].
    """
    # A plain number: Numba would compile for the constant as well.
    mode: int = np.int64(UPDATE)  # type: ignore[assignment]
    count = len(cards[0].combos)
    while True:
        piece = take(counter)
        if piece >= len(pieces):
            break
        pot, flop = pieces[piece, 0], pieces[piece, 1]
        root = root_of(roots, flop)
        for iteration in range(len(table)):
            weights = kernel_weights(table[iteration])
            for player in range(2):
                game = pot_at(tables[player], pot, count)
                enter(spaces[0], game.hands[0], reach[1 - player, pot], root)
                run_flop(game, cards, spaces, flop, mode, weights, wanted)
