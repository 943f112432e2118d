"""Whether a stored state belongs to the solver that resumes from it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError


def check_state(given: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays that differ from the solver's own in name, shape or type, or are not finite."""
    missing = sorted(set(expected) - set(given))
    unknown = sorted(set(given) - set(expected))
    if missing or unknown:
        raise InputError(
            f"this state is from another solver: missing {missing}, unknown {unknown}. "
            "Restore it with the game, algorithm and pruning it was made with"
        )
    for name, own in expected.items():
        array = given[name]
        if array.shape != own.shape or array.dtype != own.dtype:
            raise InputError(
                f"this state is from another game: {name} is {array.dtype}{list(array.shape)}, "
                f"but {own.dtype}{list(own.shape)} was expected. Restore it with its own game"
            )
        if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
            raise InputError(f"this state is damaged: {name} holds values that are not numbers")
