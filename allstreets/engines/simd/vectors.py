"""Sixteen floats as one value inside kernels: `<16 x float>` of LLVM, with + − × and friends.

On AVX-512 such a value is one register; on other machines LLVM splits it into two or four, with the
same results. Everything here works on flat contiguous float32 arrays and offsets in elements.

    v = load(array, i)          array[i : i + 16]
    store(array, i, v)
    store_dithered(array, i, v, d)   as store; where that rounds to integers, v + d is rounded
    steps(array)                what stands for 1 in an array of fractions
    pick(array, i)              array[i] of an unsigned array, without a test for i < 0
    gather(array, i, index, k)  array[i + index[k]], …, array[i + index[k + 15]]
    splat(x)                    sixteen times x
    v + w, v - w, v * w, v / w
    fma(v, w, u)                v · w + u, rounded once
    maximum(v, w)
    total(v)                    the sum of the sixteen
    where_positive(t, v, w)     v where t > 0, else w
    any_positive(v)             whether any of the sixteen is > 0
    compress(v, bits)           those whose bit is set, side by side, and zeros after them
    transpose_from(…)           sixteen rows, chosen by an index, turned into a dense block
    transpose_to(…)             a dense block, turned into sixteen rows chosen by an index
    prefetch(array, i)          fetch array[i] before it is needed
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.extending import intrinsic, lower_builtin, register_model
from numba.core.typing.templates import ConcreteTemplate, infer_global

LANES = 16
ALIGNMENT = 64

LARGEST = 32767
"""The integer that stands for 1 in fractions of 16 bits, and for the largest of scaled numbers."""

TINY = np.float32(1e-30)
"""Sums of positive numbers that are no larger count as 0: their inverse would overflow."""


def machine_code(function: Callable[..., Any]) -> Any:
    """Numba's `intrinsic`: `function` gives the types of a call and what generates its code."""
    return intrinsic(function)


class Vector(types.Type):
    """Numba's name for sixteen float32."""

    def __init__(self) -> None:
        super().__init__(name="float32x16")


VECTOR = Vector()
IR_FLOAT = ir.FloatType()
IR_VECTOR = ir.VectorType(IR_FLOAT, LANES)
IR_HALVES = ir.VectorType(ir.HalfType(), LANES)
IR_BYTES = ir.VectorType(ir.IntType(8), LANES)
IR_SHORTS = ir.VectorType(ir.IntType(16), LANES)
IR_WORDS = ir.VectorType(ir.IntType(32), LANES)
IR_FLAGS = ir.VectorType(ir.IntType(1), LANES)


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """The value is the LLVM vector itself."""

    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, IR_VECTOR)


def pointer_to(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """The address of array[index]."""
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.gep(data, [index])


def as_vectors(builder: Any, pointer: Any, vector: Any) -> Any:
    return builder.bitcast(pointer, vector.as_pointer())


@machine_code
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """Sixteen elements of a float32, float16 (as uint16 bits), int16 or int8 array, widened."""
    del typing_context, index
    half, short = array.dtype == types.uint16, array.dtype == types.int16
    byte = array.dtype == types.int8

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], arguments[1])
        if half:
            halves = builder.load(as_vectors(builder, pointer, IR_HALVES), align=2)
            return builder.fpext(halves, IR_VECTOR)
        if short:
            shorts = builder.load(as_vectors(builder, pointer, IR_SHORTS), align=2)
            return builder.sitofp(shorts, IR_VECTOR)
        if byte:
            bytes_ = builder.load(as_vectors(builder, pointer, IR_BYTES), align=1)
            return builder.sitofp(bytes_, IR_VECTOR)
        return builder.load(as_vectors(builder, pointer, IR_VECTOR), align=4)

    return VECTOR(array, types.intp), generate


@machine_code
def pick(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index] of an unsigned array as a plain number: Numba's own would test for index < 0."""
    del typing_context, index

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], arguments[1])
        return builder.zext(builder.load(pointer), ir.IntType(64))

    return types.int64(array, types.intp), generate


@machine_code
def gather(typing_context: Any, array: Any, start: Any, index: Any, first: Any) -> Any:
    """Sixteen elements of a float32 array, `index` [first], … (unsigned) places behind `start`."""
    del typing_context, start, first

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        array, start, index, first = arguments
        found = ir.Constant(IR_VECTOR, ir.Undefined)
        for lane in range(LANES):
            at = builder.add(first, first.type(lane))
            pointer = pointer_to(context, builder, signature.args[2], index, at)
            place = builder.add(start, builder.zext(builder.load(pointer), start.type))
            pointer = pointer_to(context, builder, signature.args[0], array, place)
            number = ir.Constant(ir.IntType(32), lane)
            found = builder.insert_element(found, builder.load(pointer), number)
        return found

    return VECTOR(array, types.intp, index, types.intp), generate


def _write(context: Any, builder: Any, array_type: Any, array: Any, index: Any, value: Any) -> Any:
    """Sixteen elements, in the array's own kind of number."""
    pointer = pointer_to(context, builder, array_type, array, index)
    if array_type.dtype == types.uint16:
        halves = builder.fptrunc(value, IR_HALVES)
        builder.store(halves, as_vectors(builder, pointer, IR_HALVES), align=2)
    elif array_type.dtype == types.int16:
        whole = llvm_function(builder, f"llvm.rint.v{LANES}f32", IR_VECTOR, [value])
        shorts = builder.trunc(builder.fptosi(whole, IR_WORDS), IR_SHORTS)
        builder.store(shorts, as_vectors(builder, pointer, IR_SHORTS), align=2)
    else:
        builder.store(value, as_vectors(builder, pointer, IR_VECTOR), align=4)
    return context.get_dummy_value()


@machine_code
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Write sixteen elements; as float16 into uint16 bits, rounded into int16."""
    del typing_context, index, value

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        return _write(context, builder, signature.args[0], *arguments)

    return types.void(array, types.intp, VECTOR), generate


@machine_code
def store_dithered(typing_context: Any, array: Any, index: Any, value: Any, dither: Any) -> Any:
    """As `store`, but into int16 what is rounded is value + dither; floats need no dither."""
    del typing_context, index, value, dither

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        array, index, value, dither = arguments
        if signature.args[0].dtype == types.int16:
            value = builder.fadd(value, dither)
        return _write(context, builder, signature.args[0], array, index, value)

    return types.void(array, types.intp, VECTOR, VECTOR), generate


@machine_code
def steps(typing_context: Any, array: Any) -> Any:
    """Sixteen times the number that stands for 1 in an array of fractions: 32767 in int16."""
    del typing_context
    one = float(LARGEST) if array.dtype == types.int16 else 1.0

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, builder, signature, arguments
        return ir.Constant(IR_VECTOR, [one] * LANES)

    return VECTOR(array), generate


def splat_value(builder: Any, scalar: Any) -> Any:
    first = builder.insert_element(
        ir.Constant(IR_VECTOR, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0)
    )
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(IR_VECTOR, ir.Undefined), zeros)


@machine_code
def splat(typing_context: Any, value: Any) -> Any:
    """Sixteen times one number."""
    del typing_context, value

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, signature
        return splat_value(builder, arguments[0])

    return VECTOR(types.float32), generate


def _define_operator(python_operator: Callable[..., Any], instruction: str) -> None:
    """Give vectors one of Python's operators: its type, and the LLVM instruction behind it."""

    @infer_global(python_operator)
    class Template(ConcreteTemplate):
        cases = [VECTOR(VECTOR, VECTOR)]  # noqa: RUF012

    @lower_builtin(python_operator, VECTOR, VECTOR)
    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, signature
        return getattr(builder, instruction)(arguments[0], arguments[1])


for _operator, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_operator(_operator, _instruction)


def llvm_function(builder: Any, name: str, result: Any, arguments: Sequence[Any]) -> Any:
    signature = ir.FunctionType(result, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    return builder.call(function, arguments)


@machine_code
def fma(typing_context: Any, left: Any, right: Any, addend: Any) -> Any:
    """left · right + addend."""
    del typing_context, left, right, addend

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, signature
        return llvm_function(builder, f"llvm.fma.v{LANES}f32", IR_VECTOR, arguments)

    return VECTOR(VECTOR, VECTOR, VECTOR), generate


@machine_code
def maximum(typing_context: Any, left: Any, right: Any) -> Any:
    """The larger of the two, lane by lane."""
    del typing_context, left, right

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, signature
        larger = builder.fcmp_ordered(">", arguments[0], arguments[1])
        return builder.select(larger, arguments[0], arguments[1])

    return VECTOR(VECTOR, VECTOR), generate


@machine_code
def where_positive(typing_context: Any, test: Any, yes: Any, no: Any) -> Any:
    """`yes` where test > 0, else `no`, lane by lane."""
    del typing_context, test, yes, no

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, signature
        zero = ir.Constant(IR_VECTOR, [0.0] * LANES)
        positive = builder.fcmp_ordered(">", arguments[0], zero)
        return builder.select(positive, arguments[1], arguments[2])

    return VECTOR(VECTOR, VECTOR, VECTOR), generate


@machine_code
def any_positive(typing_context: Any, value: Any) -> Any:
    """Whether any of a vector's numbers is > 0."""
    del typing_context, value

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, signature
        zero = ir.Constant(IR_VECTOR, [0.0] * LANES)
        lanes = ir.IntType(LANES)
        found = builder.bitcast(builder.fcmp_ordered(">", arguments[0], zero), lanes)
        return builder.icmp_unsigned("!=", found, lanes(0))

    return types.boolean(VECTOR), generate


@machine_code
def compress(typing_context: Any, value: Any, bits: Any) -> Any:
    """The lanes whose bit is set (lane 0: the lowest) moved to the front, zeros behind them."""
    del typing_context, value, bits

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, signature
        mask = builder.bitcast(builder.trunc(arguments[1], ir.IntType(LANES)), IR_FLAGS)
        zero = ir.Constant(IR_VECTOR, [0.0] * LANES)
        name = f"llvm.experimental.vector.compress.v{LANES}f32"
        return llvm_function(builder, name, IR_VECTOR, [arguments[0], mask, zero])

    return VECTOR(VECTOR, types.int64), generate


@machine_code
def total(typing_context: Any, value: Any) -> Any:
    """The sum of the sixteen numbers, in a fixed order."""
    del typing_context, value

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del context, signature
        vector = arguments[0]
        undefined = ir.Constant(IR_VECTOR, ir.Undefined)
        lanes = ir.VectorType(ir.IntType(32), LANES)
        width = LANES // 2
        while width:
            moved = [(lane + width) % LANES for lane in range(LANES)]
            other = builder.shuffle_vector(vector, undefined, ir.Constant(lanes, moved))
            vector = builder.fadd(vector, other)
            width //= 2
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    return types.float32(VECTOR), generate


@machine_code
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Fetch the cache line that holds array[index] into the second-level cache."""
    del typing_context, index

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], arguments[1])
        byte = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        settings = [ir.Constant(word, 0), ir.Constant(word, 2), ir.Constant(word, 1)]
        llvm_function(builder, "llvm.prefetch.p0", ir.VoidType(), [byte, *settings])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """The columns of sixteen rows, by four rounds of interleaving.

    Round k exchanges, between rows whose numbers differ in bit k, the lanes that differ in it.
    """
    lanes = ir.VectorType(ir.IntType(32), LANES)
    turned = list(rows)
    for width in (1, 2, 4, 8):
        keep = [lane if not lane & width else lane - width + LANES for lane in range(LANES)]
        move = [lane + width if not lane & width else lane + LANES for lane in range(LANES)]
        for row in range(LANES):
            if row & width:
                continue
            low, high = turned[row], turned[row + width]
            turned[row] = builder.shuffle_vector(low, high, ir.Constant(lanes, keep))
            turned[row + width] = builder.shuffle_vector(low, high, ir.Constant(lanes, move))
    return turned


def _row_start(
    context: Any, builder: Any, index_type: Any, index: Any, first: Any, row: int, length: Any
) -> Any:
    """index[first + row] · length, as an offset in elements."""
    pointer = pointer_to(context, builder, index_type, index, builder.add(first, first.type(row)))
    number = builder.load(pointer)
    if number.type != length.type:
        number = builder.zext(number, length.type)
    return builder.mul(number, length)


@machine_code
def transpose_from(
    typing_context: Any,
    source: Any,
    index: Any,
    first: Any,
    row_length: Any,
    column: Any,
    target: Any,
    target_start: Any,
    target_length: Any,
) -> Any:
    """Turn the sixteen rows index[first], … of `source`, at `column`, into a block of `target`.

    target[target_start + c · target_length + r]
        = source[index[first + r] · row_length + column + c]
    """
    del typing_context, first, row_length, column, target_start, target_length

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        source, index, first, length, column, target, start, target_length = arguments
        rows = []
        for row in range(LANES):
            offset = _row_start(context, builder, signature.args[1], index, first, row, length)
            offset = builder.add(offset, column)
            pointer = pointer_to(context, builder, signature.args[0], source, offset)
            rows.append(builder.load(as_vectors(builder, pointer, IR_VECTOR), align=4))
        for row, vector in enumerate(_turned(builder, rows)):
            offset = builder.add(start, builder.mul(target_length, start.type(row)))
            pointer = pointer_to(context, builder, signature.args[5], target, offset)
            builder.store(vector, as_vectors(builder, pointer, IR_VECTOR), align=4)
        return context.get_dummy_value()

    number = types.intp
    return (
        types.void(source, index, number, number, number, target, number, number),
        generate,
    )


@machine_code
def transpose_to(
    typing_context: Any,
    source: Any,
    source_start: Any,
    target: Any,
    index: Any,
    first: Any,
    row_length: Any,
    column: Any,
) -> Any:
    """Turn a dense 16 × 16 block of `source` into the sixteen rows index[first], … of `target`.

    target[index[first + c] · row_length + column + r] = source[source_start + 16 · r + c]
    """
    del typing_context, source_start, first, row_length, column

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        source, start, target, index, first, length, column = arguments
        rows = []
        for row in range(LANES):
            offset = builder.add(start, start.type(LANES * row))
            pointer = pointer_to(context, builder, signature.args[0], source, offset)
            rows.append(builder.load(as_vectors(builder, pointer, IR_VECTOR), align=4))
        for row, vector in enumerate(_turned(builder, rows)):
            offset = _row_start(context, builder, signature.args[3], index, first, row, length)
            offset = builder.add(offset, column)
            pointer = pointer_to(context, builder, signature.args[2], target, offset)
            builder.store(vector, as_vectors(builder, pointer, IR_VECTOR), align=4)
        return context.get_dummy_value()

    number = types.intp
    return types.void(source, number, target, index, number, number, number), generate


def aligned(shape: int | tuple[int, ...], dtype: Any = np.float32) -> Any:
    """A zeroed array that begins at a cache line, so that no vector straddles two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def widen(array: Any) -> Any:
    """Stored numbers as float32: half floats are stored as their bits, integers up to a scale."""
    if array.dtype == np.uint16:
        return array.view(np.float16).astype(np.float32)
    return array.astype(np.float32) if array.dtype == np.int16 else array


def narrow(array: Any, dtype: Any) -> Any:
    """Numbers as they are stored: what `widen` reads back, rounded."""
    if dtype == np.uint16:
        return array.astype(np.float16).view(np.uint16)
    return np.rint(array).astype(np.int16) if dtype == np.int16 else array.astype(dtype)
