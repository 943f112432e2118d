"""Engines that own a subgame for each pot on each flop, apart from the others."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags
from allstreets.engines.protocol import Flops
from allstreets.engines.state import flop_key
from allstreets.engines.thread_pool import Pool


class Stored(Protocol):
    """A subgame that can be stored and restored."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same subgame."""


Subgame = TypeVar("Subgame", bound=Stored)


class SeparateSubgames(Generic[Subgame]):
    """P pots on F flops, a subgame each; one thread works on one subgame at a time."""

    def __init__(self, subgames: Sequence[Sequence[Subgame]], flops: int, threads: int) -> None:
        self.subgames, self.flops = subgames, flops  # subgames by pot and flop
        self._pool = Pool(threads)

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

        They share what depends on the cards: it is still in the cache when the next pot needs it.
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
        """Go on from a `state()` of the same games."""
        for flop in range(self.flops):
            self._restore_flop(flop, state)

    def _restore_flop(self, flop: int, state: Mapping[str, NDArray[Any]]) -> None:
        for pot, row in enumerate(self.subgames):
            names = row[flop].state()
            row[flop].restore({name: state[flop_key(flop, f"{pot}.{name}")] for name in names})
