"""A counter that threads share: whoever is free takes the next piece of work, without the GIL.

    while True:
        piece = take(counter)
        if piece >= pieces:
            break
        …

Handing out pieces from Python makes threads queue for the interpreter as soon as there are many of
them. Which thread takes which piece is a matter of luck: a piece must write numbers of its own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numpy.typing import NDArray

from allstreets.kernels.simd import aligned, machine_code, pointer_to

Counter = NDArray[np.int64]


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
