"""Flops that forget: regrets live for the batch of flops at hand and no longer (`memory: values`).

Of flops outside the batch only the values remain that the solver above has kept. Whenever the batch
changes, its games start from nothing. That fits small machines, and costs soundness: the strategies
of other flops are gone, so that the exploitability of the whole game cannot be computed.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.subgames.flop_games import Flags, Floats, FlopGames, Flops
from allstreets.subgames.flop_pairs import FlopPairs


class FreshFlops:
    """P pots on F flops of which only a batch has games, which `make` builds."""

    def __init__(
        self, model: str, pots: int, dealt: FlopPairs, make: Callable[[Flops], FlopGames]
    ) -> None:
        self.model, self.pots, self.dealt = f"{model}, values only", pots, dealt
        self._make = make
        self._batch = np.zeros(0, np.int64)
        self._games: FlopGames | None = None

    @property
    def flops(self) -> int:
        """F."""
        return self.dealt.flops

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies of the batch."""
        return self._games.memory_bytes if self._games else 0

    def keeps(self, flops: Flops) -> bool:
        """Whether these flops are the batch at hand."""
        return self._games is not None and np.array_equal(flops, self._batch)

    def _of(self, flops: Flops) -> FlopGames:
        if self._games is None or not self.keeps(flops):
            self._games = None  # its memory goes before the next batch takes some
            self._games, self._batch = self._make(flops), flops.copy()
        return self._games

    def step(
        self,
        player: int,
        own: Floats,
        other: Floats,
        flops: Flops,
        discounts: Floats,
        asked: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on the flops of a batch."""
        games = self._of(flops)
        return games.step(player, own, other, np.arange(len(flops)), discounts, asked)

    def judge(self, player: int, other: Floats, flops: Flops, *, best: bool) -> Floats:
        """[P, K, 169]: of the flops of the batch at hand."""
        return self._of(flops).judge(player, other, np.arange(len(flops)), best=best)

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision on a flop of the batch at hand."""
        place = int(np.flatnonzero(self._batch == flop)[0])
        return self._of(self._batch).average(pot, place, node)

    def regret_sums(self, weights: Floats) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many) of the batch at hand."""
        return self._games.regret_sums(weights[self._batch]) if self._games else (0.0, 0.0, 0)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""
        games = self._games.state() if self._games else {}
        return {"batch": self._batch, **games}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same games."""
        batch = np.array(state["batch"])
        if len(batch):
            self._of(batch).restore(state)
