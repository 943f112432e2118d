"""A matrix game on one flop as a function from reach to values, for tests and benchmarks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError, Singles
from allstreets.betting import BettingTree, Player
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import IterationWeights, linear
from allstreets.engines.matrix.cards import Stage, StageMatrices
from allstreets.engines.matrix.engine import checked_pruning
from allstreets.engines.matrix.game import NO_WEIGHTS, MatrixGame, make_spaces, pruned_parts
from allstreets.engines.matrix.kernels.layout import BEST_RESPONSE, EVALUATE, UPDATE, filled
from allstreets.engines.matrix.kernels.pots import NO_ROOTS, iterate_pots
from allstreets.engines.simd.vectors import LANES
from allstreets.engines.simd.work_counter import new_counter

Reach = NDArray[np.float64]  # [H]
Values = NDArray[np.float64]  # [H]


def limits(pruning: Pruning | None, first: int, count: int = 1) -> list[tuple[float, float]]:
    """(floor, threshold) of iterations `first`, …, `first` + `count` − 1, counted from 1."""
    if pruning is None:
        return [(np.inf, -np.inf)] * count
    iterations = np.arange(first, first + count)
    everything = pruning.visits_everything(iterations)
    thresholds = np.where(everything, -np.inf, pruning.thresholds(iterations))
    floors = np.where(iterations > pruning.warmup, pruning.regret_floor, np.inf)
    return list(zip(floors.tolist(), thresholds.tolist(), strict=True))


def weight_row(
    weights: IterationWeights, regret_floor: float = np.inf, threshold: float = -np.inf
) -> IterationWeights:
    """The multipliers of an iteration with the limits of pruning."""
    return weights._replace(floor=max(weights.floor, -regret_floor), threshold=threshold)


class OneFlop:
    """A matrix game on one flop, as a function from reach to values.

    Pruning counts two half-iterations as one iteration, and its threshold and floor in chips times
    pairs of combos.
    """

    def __init__(
        self,
        tree: BettingTree,
        payoffs: NDArray[np.float64],
        stages: tuple[Stage, ...],
        pruning: Pruning | None = None,
    ) -> None:
        self.stages = stages
        self.pruning = checked_pruning(pruning, linear())
        # Half-iterations done, (action, block of hands) left out and due since the warm-up.
        self._counts = np.zeros(3, np.int64)
        self.game = MatrixGame(tree, payoffs, StageMatrices([stages]))
        self._spaces = make_spaces([self.game])

    def step(self, player: Player, own: Reach, other: Reach, weights: IterationWeights) -> Values:
        """One half-iteration: values [H], the player's regrets updated, the other's average too.

        Own reach is part of the protocol; it is needed when the other player is updated.
        """
        del own
        table = self._weights([weights], (player,))
        values = self._run(player, other, UPDATE, table)
        self._count_left_out()
        return values

    def best_response(self, player: Player, other: Reach) -> Values:
        """Values [H] of the best response to the other player's average strategy."""
        return self._run(player, other, BEST_RESPONSE, NO_WEIGHTS)

    def evaluate(self, player: Player, other: Reach) -> Values:
        """Values [H] when both play their average strategies."""
        return self._run(player, other, EVALUATE, NO_WEIGHTS)

    def iterate(self, reach: tuple[Reach, Reach], weights: Sequence[IterationWeights]) -> None:
        """Whole iterations of both players, one for each of `weights`, with the same reach."""
        table = self._weights(weights, tuple(Player))
        blocks = np.ones(self.game.cards.lengths[0] // LANES, np.uint8)
        for part, wanted in pruned_parts(table, blocks):
            iterate_pots(
                new_counter(),
                np.zeros((1, 2), np.int64),
                (self.game.tables(Player.OOP), self.game.tables(Player.IP)),
                filled(self.game.cards.kernel),
                filled(self._spaces),
                np.stack(reach)[:, None],
                NO_ROOTS,
                part,
                wanted,
            )
        self._count_left_out()

    def units(self, player: Player) -> int:
        """How many (own action, block of hands) a full pass visits."""
        blocks = np.array(self.game.cards.lengths[: len(self.game.slots)]) // LANES
        return int(self.game.slots[:, player] @ blocks)

    @property
    def pruned_fraction(self) -> float | None:
        """The share of (action, block of hands) left out since the warm-up; `None` if off."""
        _, left_out, due = self._counts.tolist()
        return None if self.pruning is None else left_out / max(due, 1)

    def _weights(self, weights: Sequence[IterationWeights], players: tuple[Player, ...]) -> Singles:
        """[T, 7]: what the coming iterations of `players` do; they are counted as done."""
        first = int(self._counts[0]) // 2 + 1
        if self.pruning and any(now.floor == 0 for now in weights):
            raise InputError(
                "a schedule that clips at 0 keeps no negative regrets, so there is nothing to "
                "prune: use pruning with dcfr or linear, or leave it out"
            )
        around = limits(self.pruning, first, len(weights))
        rows = [weight_row(now, *pair) for now, pair in zip(weights, around, strict=True)]
        self._counts[0] += len(weights) * len(players)
        if self.pruning:
            pruned = min(len(weights), max(0, first + len(weights) - 1 - self.pruning.warmup))
            self._counts[2] += pruned * sum(self.units(player) for player in players)
        return np.array(rows, np.float32).reshape(-1, len(IterationWeights._fields))

    def _count_left_out(self) -> None:
        for space in self._spaces:
            self._counts[1] += space.left_out[0]
            space.left_out[0] = 0

    def _run(self, player: Player, other: Reach, mode: int, weights: Singles) -> Values:
        found = self.game.run(player, other, mode, self._spaces, weights=weights)
        return found.astype(np.float64)

    def average(self, node: int) -> NDArray[np.float64]:
        """[A, H]: the average strategy at a decision."""
        return self.game.average(0, node)

    def set_average(self, node: int, strategy: NDArray[np.floating[Any]]) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]."""
        self.game.set_average(0, node, strategy)

    def regrets(self, node: int) -> Singles:
        """[A, H]: the regrets at a decision, in chips times combos of both players."""
        return self.game.numbers_at(self.game.regrets, 0, node)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next half-iteration depends on."""
        stored = {
            f"{name}.{stage}.{player.name.lower()}": pair[player]
            for name, arrays in (("regrets", self.game.regrets), ("average", self.game.averages))
            for stage, pair in enumerate(arrays)
            for player in Player
        }
        return {**stored, "pruning": self._counts} if self.pruning else stored

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same game."""
        for name, array in self.state().items():
            array[...] = state[name]
