"""Moving stored numbers when the list of stored hands changes."""

import numpy as np

from allstreets.base import Longs, Singles, kernel

ZERO = np.float32(0.0)


@kernel
def move_numbers(old: Singles, new: Singles, source: Longs, first: int, last: int) -> None:
    """new[f, i] = old[f, source[i]] for flops first, …, last − 1; 0 where `source` is negative."""
    for flop in range(first, last):
        for place in range(len(source)):
            origin = source[place]
            new[flop, place] = old[flop, origin] if origin >= 0 else ZERO
