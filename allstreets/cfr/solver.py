"""The parts that every solver of a compiled game shares: figures, short kernel calls, states.

A kernel cannot be interrupted, so a long run is cut into calls of about a twentieth of a second;
between two calls Python answers Ctrl-C and the caller may stop the run. The cuts never show in the
result.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError
from allstreets.cfr import metrics
from allstreets.cfr.best_response import (
    as_table,
    compiled,
    exploitability_of,
    game_value_of,
    normalised,
)
from allstreets.cfr.game import Game
from allstreets.cfr.metrics import Metrics
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.sequence_form import SequenceForm

SECONDS_PER_CALL = 0.05
LARGEST_CALL = 1 << 14  # iterations


class Solver(ABC):
    """A solver that stores cumulative regrets and strategy sums by slot, [K]."""

    def __init__(self, game: Game | SequenceForm, pruning: Pruning | None) -> None:
        """`game` may be compiled already."""
        self.form = compiled(game)
        self.pruning = pruning if pruning is not None and pruning.is_on else None
        self._iterations_per_call = 1  # learned from the clock

    @property
    @abstractmethod
    def iterations(self) -> int:
        """Iterations done so far; one updates both players."""

    @property
    @abstractmethod
    def regrets(self) -> Floats:
        """[K] a copy of the cumulative regrets."""

    @property
    @abstractmethod
    def regret_weight(self) -> float:
        """The sum of the weights that the iterations still carry in the positive regrets."""

    @property
    @abstractmethod
    def strategy_sums(self) -> Floats:
        """[K] the sums that the average strategy is made of."""

    @abstractmethod
    def skip_counts(self) -> tuple[int, int]:
        """Action updates skipped since the warm-up of pruning, and all that were due."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""

    @abstractmethod
    def _run(self, iterations: int) -> None:
        """Run several iterations at once."""

    @property
    def regret_bound(self) -> float | None:
        """A true bound on exploitability; `None` where regrets prove none."""
        return None

    @property
    def unit(self) -> str:
        """The unit of exploitability and regrets."""
        return self.form.game.unit

    @property
    def average_probabilities(self) -> Floats:
        """[K] the average strategy."""
        return normalised(self.strategy_sums, self.form.game.slot_start)

    @property
    def avg_positive_regret(self) -> float:
        """Σ max(R, 0) / (slots · weight of the iterations): a trend, not a bound."""
        return metrics.avg_positive_regret(self.regrets, self.regret_weight)

    @property
    def pruned_fraction(self) -> float | None:
        """The share of action updates skipped since the warm-up; `None` without pruning."""
        if self.pruning is None:
            return None
        skipped, due = self.skip_counts()
        return float(skipped / due) if due else 0.0

    def strategies(self) -> dict[str, dict[str, float]]:
        """The average strategy: information set → action → probability."""
        return as_table(self.form.game, self.average_probabilities)

    def game_value(self) -> float:
        """The first player's mean win when both play the average strategy."""
        return game_value_of(self.form, self.average_probabilities)

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        """All figures; `exploitability=False` leaves out the best responses."""
        average = self.average_probabilities
        return Metrics(
            exploitability=exploitability_of(self.form, average) if exploitability else None,
            avg_positive_regret=self.avg_positive_regret,
            regret_bound=self.regret_bound,
            max_regret=metrics.max_regret(self.regrets, self.regret_weight),
            strategy_entropy=metrics.strategy_entropy(average, self.form.game.slot_start),
        )

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more, or until `callback`, given the iterations done, says stop."""
        if iterations < 0:
            raise InputError(f"cannot run {iterations} iterations: give 0 or more")
        left = iterations
        while left > 0:
            size = min(self._iterations_per_call, left)
            start = perf_counter()
            self._run(size)
            elapsed = perf_counter() - start
            left -= size
            if elapsed < SECONDS_PER_CALL / 2 and size == self._iterations_per_call:
                self._iterations_per_call = min(2 * size, LARGEST_CALL)
            elif elapsed > 2 * SECONDS_PER_CALL:
                self._iterations_per_call = max(self._iterations_per_call // 2, 1)
            if callback is not None and callback(self.iterations):
                return


def check_state(given: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays that differ from the solver's in name, shape or type, or are not finite."""
    missing = sorted(set(expected) - set(given))
    unknown = sorted(set(given) - set(expected))
    if missing or unknown:
        raise InputError(
            f"this state is from another solver: missing {missing}, unknown {unknown}. "
            "Restore it with the game, algorithm and pruning it was made with"
        )
    for name, own in expected.items():
        array = given[name]
        if array.shape != own.shape or array.dtype != own.dtype:
            raise InputError(
                f"this state is from another game: {name} is {array.dtype}{list(array.shape)}, "
                f"but {own.dtype}{list(own.shape)} was expected. Restore it with its own game"
            )
        if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
            raise InputError(f"this state is damaged: {name} contains values that are not numbers")
