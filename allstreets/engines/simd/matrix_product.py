"""The heart of a matrix product: a few rows times a few columns of vectors, all in registers.

BLAS would do, but it cannot leave out the terms that are zero for all rows at hand, gathers its
rows from one dense block, and costs a call from Python for every product. This tile takes rows by
index, adds up over a list of the terms that matter, and adds the result to rows by index. Dense, it
runs at nine tenths of BLAS's speed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from allstreets.base import Bytes, Ints, Longs, Singles, inner_kernel
from allstreets.engines.simd.vectors import (
    IR_VECTOR,
    LANES,
    any_positive,
    as_vectors,
    llvm_function,
    load,
    machine_code,
    maximum,
    pointer_to,
    splat,
    splat_value,
    store,
    where_positive,
)

TILE_ROWS = 6
"""Rows of a tile: with up to four vectors of columns, 24 sums fill most of the 32 registers."""

LONG = ir.IntType(64)
FMA = f"llvm.fma.v{LANES}f32"
ZERO = np.float32(0.0)
ONE = np.float32(1.0)


def _tile(columns: int) -> Any:
    """The instruction for tiles of so many vectors of columns."""

    @machine_code
    def multiply(
        typing_context: Any,
        terms: Any,
        count: Any,
        matrix: Any,
        start: Any,
        stride: Any,
        inputs: Any,
        input_rows: Any,
        input_stride: Any,
        outputs: Any,
        output_rows: Any,
        output_stride: Any,
        column: Any,
        factors: Any,
        first: Any,
    ) -> Any:
        """outputs[output_rows[r]] += factors[r] · Σ over terms k of inputs[input_rows[r], k] · m[k]

        for the TILE_ROWS rows from `first` on, where m[k] are the vectors at matrix[start + k ·
        stride]. The first `count` of `terms` (int32) are added; what comes out belongs to the
        columns of `outputs` from `column` on.
        """
        del typing_context, count, start, stride, input_stride, output_stride, column, first

        def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
            (
                term_list,
                term_count,
                matrix_data,
                matrix_start,
                matrix_stride,
                input_data,
                input_index,
                input_length,
                output_data,
                output_index,
                output_length,
                first_column,
                factor_data,
                first_row,
            ) = arguments
            kinds = signature.args

            def element(position: int, array: Any, index: Any) -> Any:
                return pointer_to(context, builder, kinds[position], array, index)

            def row_start(position: int, index: Any, row: int, length: Any) -> Any:
                place = element(position, index, builder.add(first_row, LONG(row)))
                return builder.mul(builder.load(place), length)

            rows = [
                element(5, input_data, row_start(6, input_index, row, input_length))
                for row in range(TILE_ROWS)
            ]
            base = element(2, matrix_data, matrix_start)
            zero = ir.Constant(IR_VECTOR, [0.0] * LANES)
            before = builder.block
            loop = builder.append_basic_block("terms")
            after = builder.append_basic_block("sums")
            builder.cbranch(builder.icmp_signed(">", term_count, LONG(0)), loop, after)

            builder.position_at_end(loop)
            step = builder.phi(LONG)
            sums = [builder.phi(IR_VECTOR) for _ in range(TILE_ROWS * columns)]
            term = builder.sext(builder.load(element(0, term_list, step)), LONG)
            line = builder.gep(base, [builder.mul(term, matrix_stride)])
            vectors = [
                builder.load(
                    as_vectors(builder, builder.gep(line, [LONG(LANES * column)]), IR_VECTOR),
                    align=4,
                )
                for column in range(columns)
            ]
            grown = []
            for row in range(TILE_ROWS):
                number = splat_value(builder, builder.load(builder.gep(rows[row], [term])))
                for column in range(columns):
                    inputs_now = [number, vectors[column], sums[row * columns + column]]
                    grown.append(llvm_function(builder, FMA, IR_VECTOR, inputs_now))
            following = builder.add(step, LONG(1))
            step.add_incoming(LONG(0), before)
            step.add_incoming(following, loop)
            for old, new in zip(sums, grown, strict=True):
                old.add_incoming(zero, before)
                old.add_incoming(new, loop)
            builder.cbranch(builder.icmp_signed("<", following, term_count), loop, after)

            builder.position_at_end(after)
            results = []
            for new in grown:
                result = builder.phi(IR_VECTOR)
                result.add_incoming(zero, before)
                result.add_incoming(new, loop)
                results.append(result)
            for row in range(TILE_ROWS):
                place = element(12, factor_data, builder.add(first_row, LONG(row)))
                factor = splat_value(builder, builder.load(place))
                start_of_row = builder.add(
                    row_start(9, output_index, row, output_length), first_column
                )
                for column in range(columns):
                    offset = builder.add(start_of_row, LONG(LANES * column))
                    target = as_vectors(builder, element(8, output_data, offset), IR_VECTOR)
                    added = [factor, results[row * columns + column], builder.load(target, align=4)]
                    builder.store(llvm_function(builder, FMA, IR_VECTOR, added), target, align=4)
            return context.get_dummy_value()

        number = types.intp
        return (
            types.void(
                terms,
                number,
                matrix,
                number,
                number,
                inputs,
                input_rows,
                number,
                outputs,
                output_rows,
                number,
                number,
                factors,
                number,
            ),
            generate,
        )

    return multiply


tile_of_1, tile_of_2, tile_of_3, tile_of_4 = (_tile(columns) for columns in (1, 2, 3, 4))


@inner_kernel
def unite(needed: Bytes, rows: Longs, first: int, count: int, union: Bytes) -> bool:
    """The blocks that any of so many rows from rows[first] on needs; whether there are any."""
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
    """How many neighbours from `block` on are needed, up to `most`."""
    count = 0
    while count < most and union[block + count]:
        count += 1
    return count


@inner_kernel
def column_sizes(inputs: Singles, rows: Longs, first: int, length: int, column: int) -> Any:
    """How large the sixteen columns from `column` on are in the tile's rows taken together."""
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
    needed: Bytes | None,
    union: Bytes,
) -> None:
    """outputs[output_rows[r]] += factors[r] · (inputs[input_rows[r]] · matrix), for all r.

    `matrix` is [input_length, output_length] in a row; both lengths are multiples of 16, the number
    of rows is one of TILE_ROWS. Columns that none of a tile's rows needs are left as they are.
    """
    for first in range(0, len(input_rows), TILE_ROWS):
        if needed is not None and not unite(needed, output_rows, first, TILE_ROWS, union):
            continue
        count = find_terms(inputs, input_rows, first, input_length, marks, terms)
        if count == 0:
            continue
        column = 0
        while column < output_length:
            width = min(64, output_length - column)
            if needed is not None:
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
