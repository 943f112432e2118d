"""Types of arrays, one name for each type of number. Docstrings and comments give the shapes."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Pair = tuple[Floats, Floats]
"""The same numbers of OOP and IP."""


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """Numerator over denominator; NaN where the denominator is not above 0."""
    none = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    with np.errstate(invalid="ignore"):
        ratio: Floats = np.divide(numerator, denominator, out=none, where=denominator > 0)
    return ratio
