"""What a pass of matrix games on a GPU is about, told to all kernels at once (`ASKED`)."""

from collections.abc import Sequence

import numpy as np

from allstreets.base import Flags, Floats, Longs, Singles
from allstreets.betting import Player
from allstreets.cfr import IterationWeights
from allstreets.engines.cuda.mirrors import Parcel
from allstreets.engines.device import Device
from allstreets.engines.matrix.kernels.passes import LEAST_SHARE, SMALL_SHARE
from allstreets.engines.protocol import Flops

AT_ONCE = 1024  # iterations whose discounts are sent together


class Asked:
    """Flops and pots of a pass, discounts, and the other player's reach at the roots."""

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
                "discounts": (max(flops, AT_ONCE) * len(IterationWeights._fields), np.float32),
                **{f"root.{player}": (pots * length, np.float32) for player in Player},
                **{f"least.{player}": (pots, np.float32) for player in Player},
            },
        )
        self.address, self.send = self._parcel.address, self._parcel.send

    def fields(self, part: int) -> dict[str, int]:
        """`ASKED` for a part."""
        names = "firsts", "call", "discounts", "flop_of", "visits"
        found = {name: self.address(name) for name in names}
        return {**found, "pots": self._shape[0], "part": part}

    def enter(self, player: Player, reach: Floats) -> None:
        """The other's reach [P, 169] at the roots."""
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

    def discounts(self, table: Singles, order: Flops | None = None) -> None:
        """A row for each iteration, or, with the order of the flops, for each of them."""
        rows = table if order is None else table[order]
        self._parcel.here["discounts"][: rows.size] = rows.reshape(-1)
        self._parcel.here["call"][1] = order is not None
