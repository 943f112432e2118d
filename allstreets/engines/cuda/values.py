"""Values of flops that stay on a device: added up there, brought here when somebody looks."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Singles
from allstreets.engines.cuda.mirrors import Parcel
from allstreets.engines.cuda.sources import VALUES, packed
from allstreets.engines.device import Buffer, Device, Kernels
from allstreets.engines.protocol import Flops

TOGETHER = 64  # flops whose values one thread adds up: TOGETHER of the kernels
THREADS = 192


class FlopSums:
    """Adds up the values of at most F flops, always in the same order."""

    def __init__(self, device: Device, kernels: Kernels, pots: int, flops: int, hands: int) -> None:
        self.device, self._kernels, self._pots, self._hands = device, kernels, pots, hands
        fields = {"values": (len(VALUES), np.int64), "weights": (flops, np.float64)}
        self._asked = Parcel(device, fields)
        self._parts = device.zeros(pots * -(-flops // TOGETHER) * hands, np.float64)
        self._totals = device.zeros(pots * hands, np.float64)

    def weighted(self, values: Buffer, weights: Floats) -> Floats:
        """[P, H]: Σ over K flops of weight · values [P, K, H]."""
        asked, address = self._asked, self.device.address
        asked.here["weights"][: len(weights)] = weights
        asked.here["values"][:] = packed(
            VALUES,
            pots=self._pots,
            places=len(weights),
            hands=self._hands,
            values=address(values),
            weights=asked.address("weights"),
            parts=address(self._parts),
            totals=address(self._totals),
        )
        asked.send()
        argument, parts = asked.address("values"), -(-len(weights) // TOGETHER)
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
        found = device.landing(self.shape)
        device.read(self._there, found.reshape(-1))
        if (np.diff(self._order) > 0).all():
            return found
        return found[:, np.argsort(self._order)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        del copy
        return self.here if dtype is None else self.here.astype(dtype, copy=False)
