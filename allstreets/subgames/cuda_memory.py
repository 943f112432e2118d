"""Arrays of an engine on a device: what is there, and what the host has of it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.cuda.device import Buffer, Device

Array = NDArray[Any]


@dataclass
class Buffers:
    """Arrays on a device, by name: their addresses, and what keeps them alive."""

    device: Device
    kept: dict[str, Buffer]

    def address(self, name: str, array: Array | None = None) -> int:
        """That of an array, which is put there unless it is."""
        if name not in self.kept:
            assert array is not None
            self.kept[name] = self.device.put(np.ascontiguousarray(array))
        return self.device.address(self.kept[name])


class Mirror(Sequence[Any]):
    """Arrays by street and player that live on a device; those that are asked for are fetched."""

    def __init__(self, host: list[list[NDArray[Any]]]) -> None:
        self.host = host
        self.stale: set[tuple[int, int]] = set()
        self.handed_out: set[tuple[int, int]] = set()  # others are zeros until they are fetched
        self.fetch: Callable[[int, int], None] | None = None

    def __len__(self) -> int:
        return len(self.host)

    def __getitem__(self, level: Any) -> Any:
        return _Pair(self, level)

    def __iter__(self) -> Iterator[Any]:
        return (_Pair(self, level) for level in range(len(self.host)))

    def array(self, level: int, player: int) -> NDArray[Any]:
        """The host's array, up to date."""
        if (level, player) in self.stale and self.fetch is not None:
            self.fetch(level, player)
            self.stale.discard((level, player))
        self.handed_out.add((level, player))
        return self.host[level][player]


class _Pair(Sequence[Any]):
    """Both players' arrays of a street."""

    def __init__(self, mirror: Mirror, level: int) -> None:
        self._mirror, self._level = mirror, level

    def __len__(self) -> int:
        return 2

    def __getitem__(self, player: Any) -> Any:
        return self._mirror.array(self._level, int(player))


@contextmanager
def followed(change: AbstractContextManager[None], send: Callable[[], None]) -> Iterator[None]:
    """A change of what the host has that lasts for a while, which the device follows."""
    try:
        with change:
            send()
            yield
    finally:
        send()
