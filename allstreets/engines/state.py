"""The state of games by flop: names that say which flop an array is of.

A flop's numbers have nothing to do with those of other flops, so whoever owns some flops stores and
restores these alone: the same arrays under the same names, whoever owned them when they were
stored. What all flops share has a name without a flop.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from allstreets.base import Longs

Flops = Longs
State = Mapping[str, NDArray[Any]]

_OF_FLOP = re.compile(r"flop\.(\d{4})\.(.+)")


def flop_key(flop: int, name: str) -> str:
    """The name of an array of a flop.

    >>> flop_key(17, "regrets.0")
    'flop.0017.regrets.0'
    """
    return f"flop.{flop:04d}.{name}"


def flop_of(key: str) -> int | None:
    """The place of the flop that an array is of; None: all flops share it."""
    found = _OF_FLOP.fullmatch(key)
    return int(found[1]) if found else None


def moved_key(key: str, places: Flops) -> str:
    """The name of an array where the flop at place k stands at `places[k]`.

    >>> import numpy as np
    >>> moved_key("flop.0001.regrets.0", np.array([5, 17])), moved_key("ranges", np.array([5]))
    ('flop.0017.regrets.0', 'ranges')
    """
    found = _OF_FLOP.fullmatch(key)
    return flop_key(int(places[int(found[1])]), found[2]) if found else key


class SomeFlops(Mapping[str, NDArray[Any]]):
    """The state of all flops as that of some of them, which are named by their own order."""

    def __init__(self, state: State, places: Flops) -> None:
        self._state, self._places = state, places

    def __getitem__(self, key: str) -> NDArray[Any]:
        return self._state[moved_key(key, self._places)]

    def __iter__(self) -> Iterator[str]:
        own = {place: number for number, place in enumerate(self._places.tolist())}
        for key in self._state:
            flop = flop_of(key)
            if flop is None:
                yield key
            elif flop in own:
                yield flop_key(own[flop], key[len(flop_key(flop, "")) :])

    def __len__(self) -> int:
        return sum(1 for _ in self)
