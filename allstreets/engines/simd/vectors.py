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
from dataclasses import dataclass
from inspect import Parameter, Signature
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

UNDEFINED = ir.Constant(IR_VECTOR, ir.Undefined)
ZEROS = ir.Constant(IR_VECTOR, [0.0] * LANES)

INDEX = types.intp
ARRAY = None
"""Stands for a type: an array of any numbers."""


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """The value is the LLVM vector itself."""

    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, IR_VECTOR)


@dataclass(frozen=True)
class Call:
    """A call of an instruction, for which code is generated."""

    context: Any
    builder: Any
    types: dict[str, Any]  # of the arguments
    values: dict[str, Any]  # the arguments

    def __getitem__(self, argument: str) -> Any:
        return self.values[argument]

    def address(self, array: str, index: Any, vector: Any = None) -> Any:
        """The address of an element of an array argument; with `vector`, of a vector there."""
        proxy = cgutils.create_struct_proxy(self.types[array])
        data = proxy(self.context, self.builder, self.values[array]).data
        pointer = self.builder.gep(data, [index])
        return pointer if vector is None else self.builder.bitcast(pointer, vector.as_pointer())

    def llvm(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        """The result of one of LLVM's functions."""
        signature = ir.FunctionType(result, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, signature, name)
        return self.builder.call(function, arguments)


def instruction(result: Any, **parameters: Any) -> Callable[[Callable[[Call], Any]], Any]:
    """Make a function of kernels out of one that generates the code of a call.

    `result` is its type, `parameters` are names and types of its arguments; `ARRAY` stands for any
    array.
    """

    def define(generate: Callable[[Call], Any]) -> Any:
        def typed(_: Any, *given: Any) -> Any:
            kinds = [
                own if kind is ARRAY else kind
                for kind, own in zip(parameters.values(), given, strict=True)
            ]

            def code(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
                types_, values_ = (
                    dict(zip(parameters, each, strict=True)) for each in (signature.args, values)
                )
                value = generate(Call(context, builder, types_, values_))
                return context.get_dummy_value() if value is None else value

            return result(*kinds), code

        typed.__name__, typed.__doc__ = generate.__name__, generate.__doc__
        names = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in ("typing", *parameters)]
        typed.__signature__ = Signature(names)  # type: ignore[attr-defined]  # Numba asks for it
        return machine_code(typed)

    return define


@instruction(VECTOR, array=ARRAY, index=INDEX)
def load(call: Call) -> Any:
    """Sixteen elements of a float32, float16 (as uint16 bits), int16 or int8 array, widened."""
    builder, kind, index = call.builder, call.types["array"].dtype, call["index"]
    if kind == types.uint16:
        return builder.fpext(
            builder.load(call.address("array", index, IR_HALVES), align=2), IR_VECTOR
        )
    if kind == types.int16:
        return builder.sitofp(
            builder.load(call.address("array", index, IR_SHORTS), align=2), IR_VECTOR
        )
    if kind == types.int8:
        return builder.sitofp(
            builder.load(call.address("array", index, IR_BYTES), align=1), IR_VECTOR
        )
    return builder.load(call.address("array", index, IR_VECTOR), align=4)


@instruction(types.int64, array=ARRAY, index=INDEX)
def pick(call: Call) -> Any:
    """array[index] of an unsigned array as a plain number: Numba's own would test for index < 0."""
    return call.builder.zext(
        call.builder.load(call.address("array", call["index"])), ir.IntType(64)
    )


@instruction(VECTOR, array=ARRAY, start=INDEX, index=ARRAY, first=INDEX)
def gather(call: Call) -> Any:
    """Sixteen elements of a float32 array, `index` [first], … (unsigned) places behind `start`."""
    builder, start, first = call.builder, call["start"], call["first"]
    vector = UNDEFINED
    for lane in range(LANES):
        offset = builder.load(call.address("index", builder.add(first, first.type(lane))))
        index = builder.add(start, builder.zext(offset, start.type))
        element = builder.load(call.address("array", index))
        vector = builder.insert_element(vector, element, ir.Constant(ir.IntType(32), lane))
    return vector


def _write(call: Call, value: Any) -> None:
    """Sixteen elements, in the array's own kind of number."""
    builder, kind, index = call.builder, call.types["array"].dtype, call["index"]
    if kind == types.uint16:
        halves = builder.fptrunc(value, IR_HALVES)
        builder.store(halves, call.address("array", index, IR_HALVES), align=2)
    elif kind == types.int16:
        whole = call.llvm(f"llvm.rint.v{LANES}f32", IR_VECTOR, [value])
        shorts = builder.trunc(builder.fptosi(whole, IR_WORDS), IR_SHORTS)
        builder.store(shorts, call.address("array", index, IR_SHORTS), align=2)
    else:
        builder.store(value, call.address("array", index, IR_VECTOR), align=4)


@instruction(types.void, array=ARRAY, index=INDEX, value=VECTOR)
def store(call: Call) -> Any:
    """Write sixteen elements; as float16 into uint16 bits, rounded into int16."""
    _write(call, call["value"])


@instruction(types.void, array=ARRAY, index=INDEX, value=VECTOR, dither=VECTOR)
def store_dithered(call: Call) -> Any:
    """Store like `store`, but into int16 the value + dither is rounded; floats need no dither."""
    rounds = call.types["array"].dtype == types.int16
    value = call["value"]
    _write(call, call.builder.fadd(value, call["dither"]) if rounds else value)


@instruction(VECTOR, array=ARRAY)
def steps(call: Call) -> Any:
    """Sixteen times the number that stands for 1 in an array of fractions: 32767 in int16."""
    unit = float(LARGEST) if call.types["array"].dtype == types.int16 else 1.0
    return ir.Constant(IR_VECTOR, [unit] * LANES)


def splat_value(builder: Any, scalar: Any) -> Any:
    first = builder.insert_element(UNDEFINED, scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, UNDEFINED, zeros)


@instruction(VECTOR, number=types.float32)
def splat(call: Call) -> Any:
    """Sixteen times one number."""
    return splat_value(call.builder, call["number"])


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


@instruction(VECTOR, left=VECTOR, right=VECTOR, addend=VECTOR)
def fma(call: Call) -> Any:
    """left · right + addend."""
    return call.llvm(f"llvm.fma.v{LANES}f32", IR_VECTOR, list(call.values.values()))


@instruction(VECTOR, left=VECTOR, right=VECTOR)
def maximum(call: Call) -> Any:
    """The larger of the two, lane by lane."""
    left, right = call["left"], call["right"]
    return call.builder.select(call.builder.fcmp_ordered(">", left, right), left, right)


@instruction(VECTOR, test=VECTOR, yes=VECTOR, no=VECTOR)
def where_positive(call: Call) -> Any:
    """`yes` where test > 0, else `no`, lane by lane."""
    positive = call.builder.fcmp_ordered(">", call["test"], ZEROS)
    return call.builder.select(positive, call["yes"], call["no"])


@instruction(types.boolean, value=VECTOR)
def any_positive(call: Call) -> Any:
    """Whether any of a vector's numbers is > 0."""
    lanes = ir.IntType(LANES)
    positive = call.builder.bitcast(call.builder.fcmp_ordered(">", call["value"], ZEROS), lanes)
    return call.builder.icmp_unsigned("!=", positive, lanes(0))


@instruction(VECTOR, value=VECTOR, bits=types.int64)
def compress(call: Call) -> Any:
    """The lanes whose bit is set (lane 0: the lowest) moved to the front, zeros behind them."""
    mask = call.builder.bitcast(call.builder.trunc(call["bits"], ir.IntType(LANES)), IR_FLAGS)
    name = f"llvm.experimental.vector.compress.v{LANES}f32"
    return call.llvm(name, IR_VECTOR, [call["value"], mask, ZEROS])


@instruction(types.float32, value=VECTOR)
def total(call: Call) -> Any:
    """The sum of the sixteen numbers, in a fixed order."""
    builder, vector = call.builder, call["value"]
    lanes = ir.VectorType(ir.IntType(32), LANES)
    width = LANES // 2
    while width:
        moved = [(lane + width) % LANES for lane in range(LANES)]
        other = builder.shuffle_vector(vector, UNDEFINED, ir.Constant(lanes, moved))
        vector = builder.fadd(vector, other)
        width //= 2
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


@instruction(types.void, array=ARRAY, index=INDEX)
def prefetch(call: Call) -> Any:
    """Fetch the cache line that holds array[index] into the second-level cache."""
    byte = call.builder.bitcast(call.address("array", call["index"]), ir.IntType(8).as_pointer())
    settings = [ir.Constant(ir.IntType(32), number) for number in (0, 2, 1)]
    call.llvm("llvm.prefetch.p0", ir.VoidType(), [byte, *settings])


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


def _row_start(call: Call, row: int) -> Any:
    """index[first + row] · row_length + column, as an offset in elements."""
    builder, first, length = call.builder, call["first"], call["row_length"]
    number = builder.load(call.address("index", builder.add(first, first.type(row))))
    if number.type != length.type:
        number = builder.zext(number, length.type)
    return builder.add(builder.mul(number, length), call["column"])


@instruction(
    types.void,
    source=ARRAY,
    index=ARRAY,
    first=INDEX,
    row_length=INDEX,
    column=INDEX,
    target=ARRAY,
    target_start=INDEX,
    target_length=INDEX,
)
def transpose_from(call: Call) -> Any:
    """Turn the sixteen rows index[first], … of `source`, at `column`, into a block of `target`.

    target[target_start + c · target_length + r]
        = source[index[first + r] · row_length + column + c]
    """
    builder, start = call.builder, call["target_start"]
    rows = [
        builder.load(call.address("source", _row_start(call, row), IR_VECTOR), align=4)
        for row in range(LANES)
    ]
    for row, vector in enumerate(_turned(builder, rows)):
        offset = builder.add(start, builder.mul(call["target_length"], start.type(row)))
        builder.store(vector, call.address("target", offset, IR_VECTOR), align=4)


@instruction(
    types.void,
    source=ARRAY,
    source_start=INDEX,
    target=ARRAY,
    index=ARRAY,
    first=INDEX,
    row_length=INDEX,
    column=INDEX,
)
def transpose_to(call: Call) -> Any:
    """Turn a dense 16 × 16 block of `source` into the sixteen rows index[first], … of `target`.

    target[index[first + c] · row_length + column + r] = source[source_start + 16 · r + c]
    """
    builder, start = call.builder, call["source_start"]
    rows = []
    for row in range(LANES):
        offset = builder.add(start, start.type(LANES * row))
        rows.append(builder.load(call.address("source", offset, IR_VECTOR), align=4))
    for row, vector in enumerate(_turned(builder, rows)):
        builder.store(vector, call.address("target", _row_start(call, row), IR_VECTOR), align=4)


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
