"""Arrays of an engine on a device: what is there, and what the host has of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.engines.device import Buffer, Device

Array = NDArray[Any]

WORD = 16  # bytes: whatever is read at once begins at a multiple of them


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


class Parcel:
    """Small arrays that are sent to a device together: one copy takes as long as another."""

    def __init__(self, device: Device, fields: Mapping[str, tuple[int, Any]]) -> None:
        self._device, self._places = device, dict[str, tuple[int, int]]()
        size = 0
        for name, (count, kind) in fields.items():
            width = count * np.dtype(kind).itemsize
            self._places[name] = size, size + width
            size += -(-width // WORD) * WORD
        self._bytes = np.zeros(max(size, WORD), np.uint8)
        self._there = device.zeros(len(self._bytes), np.uint8)
        self.here: dict[str, Array] = {
            name: self._bytes[slice(*self._places[name])].view(kind)
            for name, (_, kind) in fields.items()
        }

    def address(self, name: str) -> int:
        """Where an array will stand."""
        return self._device.address(self._there) + self._places[name][0]

    def send(self) -> None:
        """Let the device have them as they are `here`."""
        self._device.write(self._there, self._bytes)


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


class BriefMirror(Mirror):
    """A mirror that has an array only from when it is asked for until the device goes on.

    `like` are arrays of the sizes and kinds of those on the device; they are not kept.
    """

    def __init__(self, like: Sequence[Sequence[NDArray[Any]]]) -> None:
        self._kinds = [[(array.size, array.dtype) for array in pair] for pair in like]
        super().__init__([[np.zeros(0, kind) for _, kind in pair] for pair in self._kinds])
        self.forget()

    def array(self, level: int, player: int) -> NDArray[Any]:
        """The host's array, up to date."""
        if (level, player) in self.stale:
            self.host[level][player] = np.zeros(*self._kinds[level][player])
        return super().array(level, player)

    def forget(self) -> None:
        """Let go of all arrays."""
        for level, pair in enumerate(self._kinds):
            self.host[level] = [np.zeros(0, kind) for _, kind in pair]
            self.stale.update((level, player) for player in range(len(pair)))

    def start_anew(self) -> None:
        """Zeros, for somebody who writes all of them."""
        self.host = [[np.zeros(*kind) for kind in pair] for pair in self._kinds]
        self.stale.clear()


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
