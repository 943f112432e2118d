"""A counter that threads share: whoever is free takes the next piece of work, without the GIL.

    while True:
        piece = take(counter)
        if piece >= pieces:
            break
        …

Handing out pieces from Python makes threads queue for the interpreter as soon as there are many of
them. Which thread takes which piece is a matter of luck: a piece must write numbers of its own.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from allstreets.base import Longs, inner_kernel
from allstreets.engines.simd.vectors import aligned, llvm_function, machine_code, pointer_to

Counter = Longs

PATIENCE = 20_000
"""Looks at a counter before a thread gives way: some hundred microseconds."""


def new_counter() -> Counter:
    """A counter that starts at 0, on a cache line of its own."""
    counter: Counter = aligned(8, np.int64)
    return counter


@machine_code
def take(typing_context: Any, counter: Any) -> Any:
    """The next number of a counter; no two threads get the same."""
    del typing_context

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        number = ir.IntType(64)
        start = number(0)
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], start)
        # Nothing is passed from thread to thread but the number itself.
        return builder.atomic_rmw("add", pointer, number(1), "monotonic")

    return types.int64(counter), generate


@machine_code
def finish(typing_context: Any, counters: Any, index: Any) -> Any:
    """Count a piece as done: whoever sees that with `wait_for` sees what the piece wrote, too."""
    del typing_context, index

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.atomic_rmw("add", pointer, ir.IntType(64)(1), "acq_rel")
        return context.get_dummy_value()

    return types.void(counters, types.intp), generate


@machine_code
def finished(typing_context: Any, counters: Any, index: Any) -> Any:
    """How many pieces are done."""
    del typing_context, index

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], arguments[1])
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(counters, types.intp), generate


@machine_code
def give_way(typing_context: Any) -> Any:
    """Let another thread run, where there are more threads than processors."""
    del typing_context

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        del signature, arguments
        if os.name == "posix":
            llvm_function(builder, "sched_yield", ir.IntType(32), [])
        return context.get_dummy_value()

    return types.void(), generate


@inner_kernel
def wait_for(counters: Counter, index: int, count: int) -> None:
    """Wait until so many pieces are done. They must have been handed out before this one.

    Whoever has them is at work on them, so that this ends; and soon, if they came long before.
    Giving way to another program costs milliseconds, so that it is put off for a while.
    """
    patience = PATIENCE
    while finished(counters, index) < count:
        if patience > 0:
            patience -= 1
        else:
            give_way()
