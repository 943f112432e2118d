"""Flops that forget: regrets live only for the current batch of flops (`memory: per_batch`).

For flops outside the batch only the values remain, which the solver above stores. Whenever the
batch changes, its games start from zero. That fits small machines, and costs soundness: the
strategies of other flops are gone, so that the exploitability of the whole game cannot be computed.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats
from allstreets.betting import Player
from allstreets.cfr import IterationWeights
from allstreets.engines.card_model import CardModel, DealtPairs
from allstreets.engines.protocol import (
    AnyValues,
    Arrays,
    Engine,
    EvaluatesPairs,
    Flops,
    RegretSums,
    Values,
)
from allstreets.engines.quantised import Numbers


class PerBatchEngine:
    """P pots on F flops; only the current batch has games, which `make` builds."""

    def __init__(
        self, model: CardModel, pots: int, dealt: DealtPairs, make: Callable[[Flops], Engine]
    ) -> None:
        self.model, self.pots, self.dealt = model, pots, dealt
        self._make = make
        self._batch = np.zeros(0, np.int64)
        self._engine: Engine | None = None

    @property
    def flops(self) -> int:
        """F."""
        return self.dealt.flops

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies of the batch."""
        return self._engine.memory_bytes if self._engine else 0

    def persists(self, flops: Flops) -> bool:
        """Whether these flops are the current batch."""
        return self._engine is not None and np.array_equal(flops, self._batch)

    def _of(self, flops: Flops) -> Engine:
        """The games of a batch."""
        if self._engine is None or not self.persists(flops):
            self._engine = None  # its memory is freed before the next batch takes some
            self._engine, self._batch = self._make(flops), flops.copy()
        return self._engine

    def _at(self, flop: int) -> tuple[Engine, int]:
        """The games of the current batch, and the index of a flop among them."""
        return self._of(self._batch), int(np.flatnonzero(self._batch == flop)[0])

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> AnyValues:
        """[P, K, 169]: a half-iteration on the flops of a batch."""
        engine, places = self._of(flops), np.arange(len(flops))
        return engine.step(player, player_reach, opponent_reach, places, weights, hand_mask)

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations on the flops of `pairs` as the current batch."""
        flops = np.flatnonzero(pairs.any(axis=0))
        self._of(flops).iterate(reach, pairs[:, flops], weights)

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: for flops of the current batch."""
        return self._of(flops).best_response(player, opponent_reach, np.arange(len(flops)))

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: for flops of the current batch."""
        return self._of(flops).evaluate(player, opponent_reach, np.arange(len(flops)))

    def pair_values(self, pot: int, flops: Flops) -> Values:
        """[K, 169, 169]: for flops of the current batch."""
        engine = self._of(flops)
        assert isinstance(engine, EvaluatesPairs)
        return engine.pair_values(pot, np.arange(len(flops)))

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets for flops of the current batch."""
        return self._of(flops).regret_sums(np.arange(len(flops)))

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision on a flop of the current batch."""
        engine, place = self._at(flop)
        return engine.average(pot, place, node)

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision on a flop of the batch be `strategy`."""
        engine, place = self._at(flop)
        engine.set_average(pot, place, node, strategy)

    def quantised(self, flops: range, numbers: Numbers) -> AbstractContextManager[None]:
        """Quantise the current batch."""
        return self._of(np.array(flops)).quantised(range(len(flops)), numbers)

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The arrays of a flop of the current batch for a bundle."""
        engine, place = self._at(flop)
        return engine.pack(place, reach, numbers)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""
        state = self._engine.state() if self._engine else {}
        return {"batch": self._batch, **state}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same games."""
        batch = np.array(state["batch"])
        if len(batch):
            self._of(batch).restore(state)
