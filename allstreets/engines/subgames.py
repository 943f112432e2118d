"""The state of games by flop: names that say which flop an array is of.

A flop's numbers are independent of other flops, so the owner of some flops stores and restores only
these: the same arrays under the same names, whichever owner stored them. Arrays that all flops
share have a name without a flop.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags
from allstreets.engines.machine import Pool
from allstreets.engines.protocol import Flops

State = Mapping[str, NDArray[Any]]

_OF_FLOP = re.compile(r"flop\.(\d{4})\.(.+)")


def flop_key(flop: int, name: str) -> str:
    """The name of an array of a flop.

    >>> flop_key(17, "regrets.0")
    'flop.0017.regrets.0'
    """
    return f"flop.{flop:04d}.{name}"


def flop_of(key: str) -> int | None:
    """The index of an array's flop; None: all flops share it."""
    match = _OF_FLOP.fullmatch(key)
    return int(match[1]) if match else None


def moved_key(key: str, places: Flops) -> str:
    """The name of an array where the flop at place k is at `places[k]`.

    >>> import numpy as np
    >>> moved_key("flop.0001.regrets.0", np.array([5, 17])), moved_key("ranges", np.array([5]))
    ('flop.0017.regrets.0', 'ranges')
    """
    match = _OF_FLOP.fullmatch(key)
    return flop_key(int(places[int(match[1])]), match[2]) if match else key


class SomeFlops(Mapping[str, NDArray[Any]]):
    """The state of some flops within the state of all flops, with indices of their own."""

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


class Stored(Protocol):
    """A subgame that can be stored and restored."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same subgame."""


Subgame = TypeVar("Subgame", bound=Stored)


class SeparateSubgames(Generic[Subgame]):
    """P pots on F flops, a subgame each; one thread works on one subgame at a time."""

    def __init__(self, subgames: Sequence[Sequence[Subgame]], flops: int, pool: Pool) -> None:
        self.subgames, self.flops = subgames, flops  # subgames by pot and flop
        self._pool = pool

    @property
    def pots(self) -> int:
        """P."""
        return len(self.subgames)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(subgame.memory_bytes for row in self.subgames for subgame in row)

    def _each(self, pairs: Flags, work: Callable[[int, int], None]) -> None:
        """Call work(pot, flop) wherever `pairs` [P, F] is set, the pots of a flop together.

        They share the arrays that depend on the cards: these are still cached for the next pot.
        """
        pieces = np.argwhere(pairs.T).tolist()
        self._pool.run(len(pieces), lambda _, number: work(*reversed(pieces[number])))

    def _pairs(self, flops: Flops) -> Flags:
        """[P, F]: all pots on some flops."""
        pairs = np.zeros((self.pots, self.flops), np.bool_)
        pairs[:, flops] = True
        return pairs

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on, flop by flop."""
        return {
            flop_key(flop, f"{pot}.{name}"): array
            for flop in range(self.flops)
            for pot, row in enumerate(self.subgames)
            for name, array in row[flop].state().items()
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same games."""
        for flop in range(self.flops):
            self._restore_flop(flop, state)

    def _restore_flop(self, flop: int, state: Mapping[str, NDArray[Any]]) -> None:
        for pot, row in enumerate(self.subgames):
            names = row[flop].state()
            row[flop].restore({name: state[flop_key(flop, f"{pot}.{name}")] for name in names})
