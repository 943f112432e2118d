"""Passes of matrix games on a GPU: their input, their launches, and the values they leave.

Hand classes (`matrix_classes`) and chains of buckets (`matrix_chain`) differ in their kernels. The
input of a pass is the same, and so is the handling of its values: they stay on the device, are
added up over flops, and are fetched when they are read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs, Singles
from allstreets.betting import Player
from allstreets.cfr import IterationWeights
from allstreets.engines.cuda.programs import Buffers, Parcel, fields, packed, source
from allstreets.engines.cuda.residence import FlopStore, store_table
from allstreets.engines.device import Buffer, Device, Kernels
from allstreets.engines.matrix.kernels.passes import LEAST_SHARE, SMALL_SHARE
from allstreets.engines.protocol import Flops

AT_ONCE = 1024  # iterations whose weights are sent together
FLOPS_TOGETHER = 64  # flops whose values one thread adds up: FLOPS_TOGETHER of the kernels
THREADS = 192  # of a block that adds them up
NODE = np.dtype(
    [("row", np.int32), ("child", np.int32), ("slot", np.int32), ("actions", np.uint16),
     ("locked", np.uint16)]
)  # fmt: skip


class Step(NamedTuple):
    """A decision as `Node` of the kernels has it."""

    row: int  # of its reach or value
    child: int  # of its first action
    slot: int  # of what is stored
    actions: int
    locked: bool = False  # only for decisions of the player


class Request:
    """The input of a pass: flops, pots, iteration weights, the opponent's reach at the roots."""

    def __init__(self, device: Device, parts: Sequence[range], pots: int, length: int) -> None:
        flops = sum(len(part) for part in parts)
        self._part_of = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        self._parts, self._shape = len(parts), (pots, length)
        self._parcel = Parcel(
            device,
            {
                "call": (3, np.int32),
                "firsts": (len(parts) + 1, np.int32),
                "flop_of": (flops, np.int32),
                "visits": (flops * pots, np.uint8),
                "weights": (max(flops, AT_ONCE) * len(IterationWeights._fields), np.float32),
                **{f"root.{player}": (pots * length, np.float32) for player in Player},
                **{f"least.{player}": (pots, np.float32) for player in Player},
            },
        )
        self.address, self.send = self._parcel.address, self._parcel.send

    def fields(self, part: int) -> dict[str, int]:
        """`Request` of the kernels for a part."""
        names = "firsts", "call", "weights", "flop_of", "visits"
        addresses = {name: self.address(name) for name in names}
        return {**addresses, "pots": self._shape[0], "part": part}

    def enter(self, player: Player, reach: Floats) -> None:
        """The opponent's reach [P, 169] at the roots."""
        here, rows = self._parcel.here, np.zeros(self._shape, np.float32)
        rows[:, : reach.shape[1]] = reach
        here[f"root.{player}"][:] = rows.reshape(-1)
        here[f"least.{player}"][:] = np.maximum(SMALL_SHARE * rows.max(axis=1), LEAST_SHARE)

    def flops(self, flops: Flops, visits: Flags) -> tuple[Flops, Longs]:
        """Flops [K], and the pots to be visited there [P, K].

        Returns the order in which they stand, part by part, and how many each part has.
        """
        here, parts = self._parcel.here, self._part_of[flops]
        order = np.argsort(parts, kind="stable")
        counts = np.bincount(parts, minlength=self._parts)
        here["firsts"][1:] = np.cumsum(counts)
        here["flop_of"][: len(flops)] = flops[order]
        here["visits"][: visits.size] = visits[:, order].T.reshape(-1)
        here["call"][:] = 0, 0, len(flops)
        return order, counts

    def weights(self, table: Singles, order: Flops | None = None) -> None:
        """A row for each iteration, or, with the order of the flops, for each of them."""
        rows = table if order is None else table[order]
        self._parcel.here["weights"][: rows.size] = rows.reshape(-1)
        self._parcel.here["call"][1] = order is not None


@dataclass(frozen=True)
class FlopLaunch:
    """A kernel on a part of the flops: `tasks` for each flop, in blocks of `block`."""

    kernel: str
    tasks: int
    block: int
    threads: int
    shared: int
    argument: int


class Passes:
    """The launches of passes over all pots on a part of the flops."""

    root_length: int  # of the opponent's reach at a root
    room_bytes: int  # of the rows of a flop

    def __init__(self, device: Device, file: str, defines: tuple[str, ...] = ()) -> None:
        self.file, self.buffers = file, Buffers(device)
        self.kernels = device.compile(source(file), defines)
        self.launches: dict[tuple[Player, int, int], list[FlopLaunch]] = {}

    def arrange(self, request: Request, store: FlopStore, out: Buffer) -> None:
        """Prepare passes over the parts of a store; values go to `out` [P, K, 169].

        Again when other hands are stored.
        """
        self.request, self.store = request, store
        self.out = self.buffers.device.address(out)
        self.structures = Buffers(self.buffers.device)
        if not self.launches:
            self.make_room(max(len(part) for part in store.parts))
        for player in Player:
            for part in range(len(store.parts)):
                for mode in range(3):
                    self.launches[player, mode, part] = self.launches_of(player, mode, part)

    def make_room(self, flops: int) -> None:
        """Cards, and rows of `flops` flops, the same memory for both players."""
        raise NotImplementedError

    def launches_of(self, player: Player, mode: int, part: int) -> list[FlopLaunch]:
        """A pass on a part, one launch after the other."""
        raise NotImplementedError

    def structure(self, name: str, structure: str, part: int, given: Mapping[str, int]) -> int:
        """The address of a structure that begins as a `Request`."""
        words = packed(self.file, structure, {**self.request.fields(part), **given})
        return self.structures.address(name, words)

    def stores(self, part: int, stage: int, player: Player) -> int:
        """The address of `Store`s by pot."""
        name = f"stores.{player}.{part}.{stage}"
        if name not in self.structures.kept:
            return self.structures.address(name, store_table(self.store, part, stage, player))
        return self.structures.address(name)

    def launch(self, player: Player, mode: int, part: int, places: int) -> None:
        """Launch a pass on this many flops of a part."""
        for launch in self.launches[player, mode, part]:
            blocks = -(-places * launch.tasks // launch.block)
            self.kernels.launch(
                launch.kernel, blocks, launch.threads, launch.shared, launch.argument
            )


class FlopSums:
    """Adds up the values of at most F flops, always in the same order."""

    def __init__(self, device: Device, kernels: Kernels, pots: int, flops: int, hands: int) -> None:
        self.device, self._kernels, self._pots, self._hands = device, kernels, pots, hands
        words = len(fields("matrix.cuh", "Values"))
        sizes = {"values": (words, np.int64), "weights": (flops, np.float64)}
        self._parcel = Parcel(device, sizes)
        self._parts = device.zeros(pots * -(-flops // FLOPS_TOGETHER) * hands, np.float64)
        self._totals = device.zeros(pots * hands, np.float64)

    def weighted(self, values: Buffer, weights: Floats) -> Floats:
        """[P, H]: Σ over K flops of weight · values [P, K, H]."""
        parcel, address = self._parcel, self.device.address
        parcel.here["weights"][: len(weights)] = weights
        parcel.here["values"][:] = packed(
            "matrix.cuh",
            "Values",
            {
                "pots": self._pots,
                "places": len(weights),
                "hands": self._hands,
                "values": address(values),
                "weights": parcel.address("weights"),
                "parts": address(self._parts),
                "totals": address(self._totals),
            },
        )
        parcel.send()
        argument, parts = parcel.address("values"), -(-len(weights) // FLOPS_TOGETHER)
        self._kernels.launch("sum_flops", self._pots * parts, THREADS, 0, argument)
        self._kernels.launch("sum_parts", self._pots, THREADS, 0, argument)
        totals = np.empty((self._pots, self._hands))
        self.device.read(self._totals, totals.reshape(-1))
        return totals


class DeviceValues:
    """[P, K, H] on a device, for K flops in the `order` in which they stand there."""

    def __init__(self, sums: FlopSums, there: Buffer, shape: tuple[int, ...], order: Flops) -> None:
        self._sums, self._there, self.shape, self._order = sums, there, shape, order

    def weighted(self, weights: Floats) -> Floats:
        """[P, H]: Σ over flops of weight · values."""
        return self._sums.weighted(self._there, weights[self._order])

    @cached_property
    def here(self) -> Singles:
        """All of them."""
        device = self._sums.device
        values = device.landing(self.shape)
        device.read(self._there, values.reshape(-1))
        if (np.diff(self._order) > 0).all():
            return values
        return values[:, np.argsort(self._order)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        del copy
        return self.here if dtype is None else self.here.astype(dtype, copy=False)
