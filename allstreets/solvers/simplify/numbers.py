"""Simple strategies in the numbers that a bundle stores: what is judged is what is stored.

What is read back is an action's share of the numbers of a hand (`engines.quantised`). So on a grid
of N steps an action's number is how many of them it gets, and its frequency is on the grid to the
last bit. Without a grid numbers are rounded as those of any solution, and an action that is given
up is exactly 0. A hand whose strategy stays keeps its numbers.
"""

from typing import Any

import numpy as np

from allstreets.base import Floats
from allstreets.engines import TWO_BYTES, Shares, encode
from allstreets.solvers.simplify.rule import Simplification


def stored_numbers(
    rule: Simplification, stored: Shares, chances: Floats, simple: Floats, numbers: np.dtype[Any]
) -> Shares:
    """[A, H]: what to store of `simple` where `stored` held `chances`.

    Off a grid strategies are rounded to `numbers`, bytes or words; floats hold them as they are.
    """
    whole, steps = np.issubdtype(numbers, np.integer), rule.steps
    most = np.iinfo(TWO_BYTES).max if whole else np.inf
    if steps is not None and steps <= most:
        kind = np.min_scalar_type(steps) if whole else np.float32
        fresh: Shares = np.rint(simple * steps).astype(kind)
    elif whole:
        fresh = encode(simple, numbers)
    else:
        fresh = simple.astype(np.float32)
    return np.where((chances == simple).all(axis=0), stored, fresh)
