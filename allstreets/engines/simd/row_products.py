"""Rows times a matrix, some rows and columns left out, by the tiles of `matrix_product`.

Terms that are zero in all rows of a tile are skipped. A pruned pass says which blocks of sixteen
columns each row needs; blocks that none of a tile's rows needs are left out. Where nothing is
pruned that list is empty: one type for both, so that kernels are compiled once.
"""

from typing import Any

import numpy as np

from allstreets.base import Bytes, Ints, Longs, Singles, inner_kernel
from allstreets.engines.simd.matrix_product import (
    TILE_ROWS,
    dense_tile_of_1,
    dense_tile_of_2,
    dense_tile_of_3,
    dense_tile_of_4,
    tile_of_1,
    tile_of_2,
    tile_of_3,
    tile_of_4,
)
from allstreets.engines.simd.vectors import (
    any_positive,
    load,
    maximum,
    splat,
    store,
    where_positive,
)

ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@inner_kernel
def unite(needed: Bytes, rows: Longs, first: int, count: int, union: Bytes) -> bool:
    """The blocks that any of these rows from rows[first] on needs; whether there are any."""
    blocks = len(union)
    union[:] = 0
    for row in range(first, first + count):
        start = rows[row] * blocks
        for block in range(blocks):
            union[block] |= needed[start + block]
    some = np.uint8(0)
    for block in range(blocks):
        some |= union[block]
    return bool(some)


@inner_kernel
def run_length(union: Bytes, block: int, most: int) -> int:
    """The number of neighbours from `block` on that are needed, up to `most`."""
    count = 0
    while count < most and union[block + count]:
        count += 1
    return count


@inner_kernel
def column_sizes(inputs: Singles, rows: Longs, first: int, length: int, column: int) -> Any:
    """The size of the sixteen columns from `column` on, in the tile's rows taken together."""
    zero = splat(ZERO)
    size = zero
    for row in range(first, first + TILE_ROWS):
        here = load(inputs, rows[row] * length + column)
        size = size + maximum(here, zero - here)
    return size


@inner_kernel
def find_terms(
    inputs: Singles, rows: Longs, first: int, length: int, marks: Singles, terms: Ints
) -> int:
    """The columns in which any of the tile's rows is not zero; returns how many."""
    zero, one = splat(ZERO), splat(ONE)
    absent = zero
    for column in range(0, length, 16):
        size = column_sizes(inputs, rows, first, length, column)
        absent = maximum(absent, where_positive(size, zero, one))
    if not any_positive(absent):  # nothing to look for one by one
        for column in range(length):
            terms[column] = column
        return length
    count = 0
    for column in range(0, length, 16):
        store(marks, 0, column_sizes(inputs, rows, first, length, column))
        for lane in range(16):
            terms[count] = column + lane
            count += marks[lane] > ZERO
    return count


@inner_kernel
def multiply_rows(
    inputs: Singles,
    input_rows: Longs,
    input_length: int,
    matrix: Singles,
    outputs: Singles,
    output_rows: Longs,
    output_length: int,
    factors: Singles,
    marks: Singles,
    terms: Ints,
    needed: Bytes,
    union: Bytes,
) -> None:
    """outputs[output_rows[r]] += factors[r] · (inputs[input_rows[r]] · matrix), for all r.

    `matrix` is [input_length, output_length] in a row; both lengths are multiples of 16, the number
    of rows is one of TILE_ROWS. Columns that none of a tile's rows needs are left as they are; an
    empty `needed` means all of them.
    """
    pruned = len(needed) > 0
    for first in range(0, len(input_rows), TILE_ROWS):
        if pruned and not unite(needed, output_rows, first, TILE_ROWS, union):
            continue
        count = find_terms(inputs, input_rows, first, input_length, marks, terms)
        if count == 0:
            continue
        column = 0
        while column < output_length:
            width = min(64, output_length - column)
            if pruned:
                width = 16 * run_length(union, column // 16, width // 16)
            if width == 64:
                tile_of_4(
                    terms, count, matrix, column, output_length, inputs, input_rows, input_length,
                    outputs, output_rows, output_length, column, factors, first,
                )  # fmt: skip
            elif width == 48:
                tile_of_3(
                    terms, count, matrix, column, output_length, inputs, input_rows, input_length,
                    outputs, output_rows, output_length, column, factors, first,
                )  # fmt: skip
            elif width == 32:
                tile_of_2(
                    terms, count, matrix, column, output_length, inputs, input_rows, input_length,
                    outputs, output_rows, output_length, column, factors, first,
                )  # fmt: skip
            elif width == 16:
                tile_of_1(
                    terms, count, matrix, column, output_length, inputs, input_rows, input_length,
                    outputs, output_rows, output_length, column, factors, first,
                )  # fmt: skip
            column += max(16, width)


@inner_kernel
def multiply_dense(
    inputs: Singles,
    input_rows: Longs,
    matrix: Singles,
    length: int,
    outputs: Singles,
    output_rows: Longs,
    factors: Singles,
    first: int,
    last: int,
) -> None:
    """outputs[output_rows[r]] += factors[r] · (inputs[input_rows[r]] · matrix), `first` to `last`.

    For small matrices [length, length]: looking for terms that are zero would take longer than
    they do.
    """
    for row in range(first, last, TILE_ROWS):
        for column in range(0, length, 64):
            width = min(64, length - column)
            if width == 64:
                dense_tile_of_4(
                    length, matrix, column, length, inputs, input_rows, length, outputs,
                    output_rows, length, column, factors, row,
                )  # fmt: skip
            elif width == 48:
                dense_tile_of_3(
                    length, matrix, column, length, inputs, input_rows, length, outputs,
                    output_rows, length, column, factors, row,
                )  # fmt: skip
            elif width == 32:
                dense_tile_of_2(
                    length, matrix, column, length, inputs, input_rows, length, outputs,
                    output_rows, length, column, factors, row,
                )  # fmt: skip
            else:
                dense_tile_of_1(
                    length, matrix, column, length, inputs, input_rows, length, outputs,
                    output_rows, length, column, factors, row,
                )  # fmt: skip
