"""The heart of a matrix product: a few rows times a few columns of vectors, all in registers.

BLAS would do, but it cannot leave out the terms that are zero for all rows at hand, gathers its
rows from one dense block, and costs a call from Python for every product. This tile takes rows by
index, adds up over a list of the terms that matter, and adds the result to rows by index. Dense, it
runs at nine tenths of BLAS's speed.
"""

from typing import Any

from llvmlite import ir
from numba import types

from allstreets.engines.simd.vectors import (
    ARRAY,
    INDEX,
    IR_VECTOR,
    LANES,
    ZEROS,
    Call,
    instruction,
    splat_value,
)

TILE_ROWS = 6
"""Rows of a tile: with up to four vectors of columns, 24 sums fill most of the 32 registers."""

LONG = ir.IntType(64)
FMA = f"llvm.fma.v{LANES}f32"


def _tile(columns: int, dense: bool = False) -> Any:
    """The instruction for tiles of this many vectors of columns.

    A dense one has no list: it adds up the terms 0, …, count − 1.
    """
    listed = {} if dense else {"terms": ARRAY}

    @instruction(
        types.void,
        **listed,
        count=INDEX,
        matrix=ARRAY,
        start=INDEX,
        stride=INDEX,
        inputs=ARRAY,
        input_rows=ARRAY,
        input_stride=INDEX,
        outputs=ARRAY,
        output_rows=ARRAY,
        output_stride=INDEX,
        column=INDEX,
        factors=ARRAY,
        first=INDEX,
    )
    def multiply(call: Call) -> Any:
        """outputs[output_rows[r]] += factors[r] · Σ over terms k of inputs[input_rows[r], k] · m[k]

        for the TILE_ROWS rows from `first` on, where m[k] are the vectors at matrix[start + k ·
        stride]. The first `count` of `terms` (int32) are added; the results belong to the columns
        of `outputs` from `column` on.
        """
        builder = call.builder
        first, count = call["first"], call["count"]

        def row_start(index: str, row: int, length: Any) -> Any:
            address = call.address(index, builder.add(first, LONG(row)))
            return builder.mul(builder.load(address), length)

        rows = [
            call.address("inputs", row_start("input_rows", row, call["input_stride"]))
            for row in range(TILE_ROWS)
        ]
        base = call.address("matrix", call["start"])
        before = builder.block
        loop = builder.append_basic_block("terms")
        after = builder.append_basic_block("sums")
        builder.cbranch(builder.icmp_signed(">", count, LONG(0)), loop, after)

        builder.position_at_end(loop)
        step = builder.phi(LONG)
        sums = [builder.phi(IR_VECTOR) for _ in range(TILE_ROWS * columns)]
        term = step
        if not dense:
            term = builder.sext(builder.load(call.address("terms", step)), LONG)
        line = builder.gep(base, [builder.mul(term, call["stride"])])
        pointers = [builder.gep(line, [LONG(LANES * column)]) for column in range(columns)]
        vectors = [
            builder.load(builder.bitcast(pointer, IR_VECTOR.as_pointer()), align=4)
            for pointer in pointers
        ]
        grown = []
        for row in range(TILE_ROWS):
            number = splat_value(builder, builder.load(builder.gep(rows[row], [term])))
            for column in range(columns):
                factors = [number, vectors[column], sums[row * columns + column]]
                grown.append(call.llvm(FMA, IR_VECTOR, factors))
        following = builder.add(step, LONG(1))
        step.add_incoming(LONG(0), before)
        step.add_incoming(following, loop)
        for old, new in zip(sums, grown, strict=True):
            old.add_incoming(ZEROS, before)
            old.add_incoming(new, loop)
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)

        builder.position_at_end(after)
        results = []
        for new in grown:
            result = builder.phi(IR_VECTOR)
            result.add_incoming(ZEROS, before)
            result.add_incoming(new, loop)
            results.append(result)
        for row in range(TILE_ROWS):
            address = call.address("factors", builder.add(first, LONG(row)))
            factor = splat_value(builder, builder.load(address))
            start_of_row = row_start("output_rows", row, call["output_stride"])
            start_of_row = builder.add(start_of_row, call["column"])
            for column in range(columns):
                offset = builder.add(start_of_row, LONG(LANES * column))
                target = call.address("outputs", offset, IR_VECTOR)
                added = [factor, results[row * columns + column], builder.load(target, align=4)]
                builder.store(call.llvm(FMA, IR_VECTOR, added), target, align=4)

    return multiply


tile_of_1, tile_of_2, tile_of_3, tile_of_4 = (_tile(columns) for columns in (1, 2, 3, 4))
dense_tile_of_1, dense_tile_of_2, dense_tile_of_3, dense_tile_of_4 = (
    _tile(columns, dense=True) for columns in (1, 2, 3, 4)
)
