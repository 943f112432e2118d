"""The heart of a matrix product: a few rows times a few columns of vectors, all in registers.

BLAS would do, but it cannot leave out the terms that are zero for all rows at hand, gathers its
rows from one dense block, and costs a call from Python for every product. This tile takes rows by
index, adds up over a list of the terms that matter, and adds the result to rows by index. Dense, it
runs at nine tenths of BLAS's speed.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types

from allstreets.engines.simd.vectors import (
    IR_VECTOR,
    LANES,
    as_vectors,
    llvm_function,
    machine_code,
    pointer_to,
    splat_value,
)

TILE_ROWS = 6
"""Rows of a tile: with up to four vectors of columns, 24 sums fill most of the 32 registers."""

LONG = ir.IntType(64)
FMA = f"llvm.fma.v{LANES}f32"


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
