"""The one idea: P pots on F flops are a function from both players' reach to counterfactual values.

    values = engine.step(player, player_reach, opponent_reach, flops, weights)  # a half-iteration
    values = engine.best_response(player, opponent_reach, flops)                # updates nothing

Everything below the flop is behind this protocol: the solver above knows neither cards nor arrays
nor their owners. P · F subgames share nothing but these vectors. Hands are the 169 classes at their
roots, whatever a card model does with them below, and values are totals over the combos of a class,
in chips times pairs of combos. Flops are identified by their index in the list of flops.

`spec.EngineSpec` builds an engine, wherever it is to live. Abilities of only some engines have
separate protocols below.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs, Place, Singles
from allstreets.betting import Player
from allstreets.cfr import IterationWeights
from allstreets.engines.card_model import CardModel, DealtPairs
from allstreets.engines.quantised import Numbers

Flops = Longs  # [K] places of flops
Arrays = dict[str, NDArray[Any]]
Values = Floats | Singles


ASIDE_BYTES = 200_000_000  # of sums that are set aside while quantised flops are evaluated
LEAST_FLOPS = 8  # that are evaluated at a time, so that threads have something to do


class FarValues(Protocol):
    """Values [P, K, 169] that stay where they were computed: a device, or another machine.

    `np.asarray` fetches them. Mostly only their sum is wanted, which is computed there.
    """

    def weighted(self, weights: Floats) -> Floats:
        """[P, 169]: Σ over K flops of weight · values, in an order that never changes."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...


AnyValues = Values | FarValues


class RegretSums(NamedTuple):
    """Positive regrets of each pot and flop, [P, K], in chips times pairs of combos."""

    total: Floats
    largest: Floats
    entries: Longs  # the number of regrets


class Engine(Protocol):
    """P pots on F flops under one card model."""

    @property
    def pots(self) -> int:
        """P."""

    @property
    def flops(self) -> int:
        """F."""

    @property
    def model(self) -> CardModel:
        """The card model: what players know about the cards."""

    @property
    def dealt(self) -> DealtPairs:
        """The pairs of combos that the model deals on each flop."""

    # Learning.

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> AnyValues:
        """[P, K, 169]: a half-iteration of a player on K flops, each with its own weights.

        The caller may keep them. `player_reach`, `opponent_reach` [P, 169] are both players'
        reach at every pot's root. Where there is a `hand_mask` [P, 169], values of hands outside it
        have no meaning, and these hands need not learn.
        """

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations of both players, one for each of `weights`, reach [2, P, 169] fixed.

        Only the pots and flops of `pairs` [P, F] are visited. Nothing connects them, so that each
        may do all of its iterations at once.
        """

    # Evaluating.

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the best response to the other player's average strategies."""

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values when both play their average strategies."""

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""

    # Strategies.

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision of a pot's tree, in the hands of its stage."""

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]; regrets stay."""

    def quantised(self, flops: range, numbers: Numbers) -> AbstractContextManager[None]:
        """Quantise average strategies of some flops, as bundles store them, within this context."""

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The arrays of a flop for a bundle (`packed`); reach is [2, P, 169], `numbers` are [P]."""

    # Memory.

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on, flop by flop (`state`)."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same games."""


# Abilities of only some engines.


@runtime_checkable
class EvaluatesPairs(Protocol):
    """Engines that compute what one hand wins from another."""

    def pair_values(self, pot: int, flops: Flops) -> Values:
        """[K, 169, 169]: chips that OOP wins on average with the row's hand from the column's.

        Both play their average strategies; 0 for hands that cannot meet.
        """


@runtime_checkable
class DropsHands(Protocol):
    """Engines that may store only some hands of a pot."""

    @property
    def can_drop_hands(self) -> bool:
        """Whether these games can: hands must stay the same from the flop to the river."""

    @property
    def saved_bytes(self) -> int:
        """Additional bytes if all hands were stored."""

    def keep_hands(self, hands: Flags) -> None:
        """Store only these hands [2, P, 169]; one that returns starts from zero."""


@runtime_checkable
class RebucketsHands(Protocol):
    """Engines in which hands are bucketed by the ranges that start a pot."""

    def rebucket(self, reach: Floats, least: float) -> float:
        """Bucket hands again for the reach [2, P, 169] if it has moved by more than `least`.

        Return how far it moved: the share of the combos that start a pot.
        """


@runtime_checkable
class Restarts(Protocol):
    """Engines that forget flops which are not visited."""

    def persists(self, flops: Flops) -> bool:
        """Whether the games of these flops resume from their last step, or start afresh."""


@runtime_checkable
class ShardedEngine(Protocol):
    """Games that live elsewhere, which do there everything that takes all of their numbers.

    Their `state()` is what all flops share; `restore` takes that of stored files.
    """

    def quantised_values(self, reach: Floats, numbers: Numbers) -> Floats:
        """See the function of this name."""

    def write_state(self, folder: Place) -> dict[str, str]:
        """Write the state of every flop as files of a folder; their names and checksums."""

    def write_packed(
        self,
        folder: Place,
        token: str,
        names: Sequence[str],
        values: Singles,
        reach: Floats,
        numbers: Sequence[Numbers],
    ) -> list[dict[str, Any]]:
        """Write what a bundle with a token stores of every flop, and values [2, P, F, 169]."""


def quantised_values(engine: Engine, reach: Floats, numbers: Numbers) -> Floats:
    """[2, 2, P, F, 169]: best responses and average strategies, of both players, as bundles store.

    `reach` [2, P, 169] starts the pots. Some flops at a time are quantised, evaluated and put back,
    and every flop is evaluated once.
    """
    if isinstance(engine, ShardedEngine):
        return engine.quantised_values(reach, numbers)
    averages = engine.memory_bytes // 2
    count = max(LEAST_FLOPS, ASIDE_BYTES * engine.flops // max(averages, 1))
    parts = []
    for first in range(0, engine.flops, count):
        flops = range(first, min(first + count, engine.flops))
        with engine.quantised(flops, numbers):
            chosen = np.array(flops)
            parts.append(
                [
                    [run(player, reach[player.opponent], chosen) for player in Player]
                    for run in (engine.best_response, engine.evaluate)
                ]
            )
    return np.concatenate([np.array(part) for part in parts], axis=3)
