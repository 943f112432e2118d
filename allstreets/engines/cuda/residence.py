"""The home of the numbers that a GPU learns: its own memory while there is room, else the host.

Flops are cut into *parts*. Of the first of them regrets and averages stay on the device; all others
live in pinned memory of the host, and a part comes into one of a few *slots* for the time of a
pass: while one is played the next is copied there, and the one before goes back. A pass asks for a
part (`FlopStore.lent`) and never knows which kind it is, so that the same kernels see the same
numbers either way.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError, Longs, Singles
from allstreets.betting import Player
from allstreets.engines.device import Buffer, Device, Ticket
from allstreets.engines.matrix.cards import matrix_cells

SLOTS = 3  # a part that comes, one that is played, one that goes
SLOT_BYTES = 600_000_000  # of a part: copies that fill the bus, and enough flops for all of a GPU
ROOM_BYTES = 2_000_000_000  # of the rows that passes work on, at most
SPARE_BYTES = 500_000_000  # for small arrays, and for other programs on the device
COPIED_IN, COPIED_OUT = 1.5, 1.0  # of what is stored, in an iteration: both players' passes
COPIES_PER_SECOND = 50e9  # bytes each way: PCIe 5.0 with sixteen lanes


@dataclass(frozen=True)
class Residence:
    """The split of F flops: some stay on a device, the others come there in parts."""

    flops: int
    resident: int
    part: int  # flops of a part

    @property
    def streamed(self) -> int:
        """Flops that come and go."""
        return self.flops - self.resident

    def parts(self, most: int) -> list[range]:
        """The flops of each part, of which no pass takes more than `most` at a time."""
        step = max(1, min(self.part, most))
        parts = []
        for first, last in ((0, self.resident), (self.resident, self.flops)):
            parts += [range(at, min(at + step, last)) for at in range(first, last, step)]
        return parts


def everything_resident(flops: int) -> Residence:
    """All flops stay on the device."""
    return Residence(flops, flops, flops)


def device_room(stored: int, tables: int) -> int:
    """Bytes that a device must have free for this many stored bytes to stay there."""
    return stored + tables + min(2 * stored, ROOM_BYTES) + SPARE_BYTES


def residence(flops: int, stored: int, tables: int, free: int) -> Residence:
    """The largest number of flops that fit beside the `tables` in `free` bytes of a device.

    `stored` are the bytes of regrets and averages of all F flops.
    """
    if device_room(stored, tables) <= free:
        return everything_resident(flops)
    each = max(1, -(-stored // flops))  # no pot may see a flop
    part = max(1, min(flops // (2 * SLOTS), SLOT_BYTES // each))
    always = device_room(stored, tables) - stored
    resident = (free - always) // each - SLOTS * part
    if resident < 0:
        need = always + SLOTS * part * each
        raise InputError(
            f"device: even with flops streamed over PCIe this needs {need / 1e9:.1f} GB there, and "
            f"{free / 1e9:.1f} GB are free.\nUse fewer flops, buckets or sizes, or device: cpu"
        )
    return Residence(flops, resident, part)


@dataclass(frozen=True)
class Streaming:
    """The cost of streamed flops, in an iteration of a whole game."""

    copied_bytes: int  # both ways
    seconds: float  # at least: copies to the device and back run side by side


def streaming(flops: Residence, stored: int) -> Streaming | None:
    """The copies of a residence; None: it copies nothing."""
    if not flops.streamed:
        return None
    moved = stored * flops.streamed / flops.flops
    copied = int((COPIED_IN + COPIED_OUT) * moved)
    return Streaming(copied, COPIED_IN * moved / COPIES_PER_SECOND)


def table_bytes(lengths: Sequence[int], flops: int) -> int:
    """Bytes of the flops' matrices on a device."""
    return 4 * matrix_cells(lengths) * flops


class Name(NamedTuple):
    """An array of all flops [F, …]."""

    kind: str  # "regrets" or "averages"
    pot: int
    stage: int
    player: Player


Which = frozenset[tuple[str, Player]]
"""Kinds of arrays, by player."""

NOWHERE = 255
"""The place of a hand that is not stored."""

Move = Callable[[Buffer, Buffer, Longs, int], None]
"""(from, to, source, flops): `to` [F, …] gets the numbers at `source` of each flop; −1: 0."""


class FlopStore:
    """Regrets and averages of F flops; `arrays` are the host's, by kind and pot."""

    def __init__(
        self,
        device: Device,
        arrays: dict[tuple[str, int], list[list[Singles]]],
        where: Residence,
        parts: Sequence[range],
    ) -> None:
        self.device, self.where, self.parts = device, where, parts
        self.host = {
            Name(kind, pot, stage, player): pair[player]
            for (kind, pot), stages in arrays.items()
            for stage, pair in enumerate(stages)
            for player in Player
        }
        self._resident = self._room(where.resident)
        coming = (len(part) for part in parts if part.start >= where.resident)
        self._longest = max(coming, default=0)  # flops of a part that comes and goes
        self._slots = [self._room(self._longest) for _ in range(SLOTS if self._longest else 0)]
        self._free: list[Ticket | None] = [None] * len(self._slots)
        self._back: dict[int, Ticket] = {}  # by part: when its numbers are on the host again
        # By pot and player, where only some hands are stored: how many, padded, and by hand its
        # place among them.
        self.some_hands: dict[tuple[int, Player], tuple[int, Buffer]] = {}

    def _room(self, flops: int) -> dict[Name, Buffer]:
        return {
            name: self.device.zeros(flops * array.shape[1])
            for name, array in self.host.items()
            if flops
        }

    def _is_resident(self, part: int) -> bool:
        return self.parts[part].start < self.where.resident

    def _slot(self, part: int) -> int:
        return part % len(self._slots)

    def address(self, part: int, name: Name) -> int:
        """The address at which an array of all flops would begin, given where its part will be."""
        if self._is_resident(part):
            return self.device.address(self._resident[name])
        there = self.device.address(self._slots[self._slot(part)][name])
        return int(there - 4 * self.parts[part].start * self.host[name].shape[1])

    def order(self) -> list[int]:
        """Parts as a pass takes them: those that stay between those that come and go."""
        stay = [part for part in range(len(self.parts)) if self._is_resident(part)]
        come = range(len(stay), len(self.parts))
        timed = [((i + 0.5) / len(stay), part) for i, part in enumerate(stay)]
        timed += [(i / len(come), part) for i, part in enumerate(come)]
        return [part for _, part in sorted(timed)]

    @contextmanager
    def lent(self, part: int, reads: Which, writes: Which) -> Iterator[None]:
        """Lend a part's arrays of some kinds to launches within this context; some are changed."""
        if self._is_resident(part):
            yield
            return
        slot, device = self._slot(part), self.device
        after = [event for event in (self._free[slot], self._back.get(part)) if event is not None]
        here = None
        for buffer, array in self._copies(part, reads):
            here = device.copy_in(buffer, array, after)
            after = []
        if here is not None:
            device.wait(here)
        yield
        done = device.mark()
        self._free[slot] = done
        for buffer, array in self._copies(part, writes):
            self._free[slot] = self._back[part] = device.copy_out(buffer, array, [done])

    def _copies(self, part: int, which: Which) -> Iterator[tuple[Buffer, NDArray[Any]]]:
        flops, there = self.parts[part], self._slots[self._slot(part)]
        for name, array in self.host.items():
            if (name.kind, name.player) in which and array.size:
                rows = array[flops.start : flops.stop].reshape(-1)
                yield there[name][: rows.size], rows

    def finish(self) -> None:
        """Wait until everything sent back has arrived."""
        for ticket in self._back.values():
            self.device.finish(ticket)
        self._back.clear()

    def move(self, name: Name, host: Singles, source: Longs, move: Move) -> None:
        """Store other numbers of each flop; `host` [F, …] has those of flops that come and go."""
        self.host[name] = host
        if self.where.resident:
            there = self.device.zeros(self.where.resident * len(source))
            move(self._resident[name], there, source, self.where.resident)
            self._resident[name] = there
        for slot in self._slots:
            slot[name] = self.device.zeros(self._longest * len(source))

    def fetch(self, name: Name) -> None:
        """Copy the device's array to the host."""
        self.finish()
        if self.where.resident:
            rows = self.host[name][: self.where.resident].reshape(-1)
            self.device.read(self._resident[name], rows)

    def send(self, flops: range, kinds: Sequence[str]) -> None:
        """Bring what the host has of some flops to the device, as far as they are there."""
        last = min(flops.stop, self.where.resident)
        for name, array in self.host.items() if last > flops.start else ():
            if name.kind in kinds:
                width = array.shape[1]
                part = self._resident[name][flops.start * width : last * width]
                self.device.write(part, array[flops.start : last].reshape(-1))
        self.device.finish(self.device.mark())  # pinned arrays are read as late as may be


def store_table(store: FlopStore, part: int, stage: int, player: Player) -> Longs:
    """[P, 10]: the arrays of a stage for a part of the flops, as `Store` of the kernels has them.

    A pot that ends before the stage has none.
    """
    both = player, player.opponent
    pots = 1 + max(name.pot for name in store.host)
    table = np.zeros((pots, 10), np.int64)
    for pot in range(pots):
        if Name("regrets", pot, stage, player) not in store.host:
            continue
        arrays = [Name(kind, pot, stage, who) for who in both for kind in ("regrets", "averages")]
        lengths = [store.host[Name("regrets", pot, stage, who)].shape[1] for who in both]
        some = [store.some_hands.get((pot, who)) for who in both]
        hands = [0 if hands_of is None else hands_of[0] for hands_of in some]
        places = [0 if hands_of is None else store.device.address(hands_of[1]) for hands_of in some]
        addresses = (store.address(part, name) for name in arrays)
        table[pot] = [*addresses, *lengths, *hands, *places]
    return table


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

    def fall_behind(self) -> None:
        """The device continues: mark the host's copies as old."""
        self.stale = _places(self.host)

    def hand_out(self) -> None:
        """Mark all arrays as handed out: they are written already."""
        self.handed_out = _places(self.host)

    def array(self, level: int, player: int) -> NDArray[Any]:
        """The host's array, up to date."""
        if (level, player) in self.stale and self.fetch is not None:
            self.fetch(level, player)
            self.stale.discard((level, player))
        self.handed_out.add((level, player))
        return self.host[level][player]


def _places(host: Sequence[Sequence[NDArray[Any]]]) -> set[tuple[int, int]]:
    """All levels and players."""
    return {(level, player) for level, pair in enumerate(host) for player in range(len(pair))}


class BriefMirror(Mirror):
    """A mirror that has an array only from when it is asked for until the device continues.

    `like` are arrays of the sizes and kinds of those on the device; they are not kept.
    """

    def __init__(self, like: Sequence[Sequence[NDArray[Any]]]) -> None:
        self._kinds = [[(array.size, array.dtype) for array in pair] for pair in like]
        super().__init__([])
        self.forget()

    def array(self, level: int, player: int) -> NDArray[Any]:
        """The host's array, up to date."""
        if (level, player) in self.stale:
            self.host[level][player] = np.zeros(*self._kinds[level][player])
        return super().array(level, player)

    def forget(self) -> None:
        """Let go of all arrays."""
        self.host = [[np.zeros(0, kind) for _, kind in pair] for pair in self._kinds]
        self.fall_behind()

    def start_anew(self) -> None:
        """Zeros, for a caller who writes all of them."""
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
    """A temporary change of the host's copies, which the device follows."""
    try:
        with change:
            send()
            yield
    finally:
        send()
