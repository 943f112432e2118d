"""A counter that threads share: a free thread takes the next piece of work without the GIL.

    while True:
        piece = take(counter)
        if piece >= pieces:
            break
        …

Handing out pieces from Python makes threads queue for the interpreter as soon as there are many of
them. Which thread takes which piece is left to chance: pieces must not write the same numbers.
"""

import os
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from allstreets.base import Longs, inner_kernel
from allstreets.engines.simd.vectors import ARRAY, INDEX, Call, aligned, instruction

Counter = Longs

LOOKS_BEFORE_YIELDING = 20_000
"""Looks at a counter before a thread gives way: some hundred microseconds."""


def new_counter() -> Counter:
    """A counter that starts at 0, on a cache line of its own."""
    counter: Counter = aligned(8, np.int64)
    return counter


@instruction(types.int64, counter=ARRAY)
def take(call: Call) -> Any:
    """The next number of a counter; no two threads get the same."""
    number = ir.IntType(64)
    # Nothing is passed from thread to thread but the number itself.
    return call.builder.atomic_rmw(
        "add", call.address("counter", number(0)), number(1), "monotonic"
    )


@instruction(types.void, counters=ARRAY, index=INDEX, pieces=INDEX)
def finish(call: Call) -> Any:
    """Count pieces as done: threads that see it in `wait_for` also see the numbers they wrote."""
    pointer = call.address("counters", call["index"])
    call.builder.atomic_rmw("add", pointer, call["pieces"], "acq_rel")


@instruction(types.int64, counters=ARRAY, index=INDEX)
def finished(call: Call) -> Any:
    """The number of pieces done."""
    return call.builder.load_atomic(call.address("counters", call["index"]), "acquire", 8)


@instruction(types.void)
def give_way(call: Call) -> Any:
    """Let another thread run, where there are more threads than processors."""
    if os.name == "posix":
        call.llvm("sched_yield", ir.IntType(32), [])


@inner_kernel
def wait_for(counters: Counter, index: int, count: int) -> None:
    """Wait until this many pieces are done. They must have been handed out before this one.

    Other threads are working on them, so the wait ends, and soon if they were handed out long ago.
    Yielding to another program costs milliseconds, so it is put off for a while.
    """
    patience = LOOKS_BEFORE_YIELDING
    while finished(counters, index) < count:
        if patience > 0:
            patience -= 1
        else:
            give_way()
