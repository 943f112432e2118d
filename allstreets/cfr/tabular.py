"""Tabular CFR with alternating updates, for any schedule, with or without pruning.

Iteration t does this for the first player, then for the second:
1. Values: the player's payoff matrix times the opponent's reach, summed up the player's own tree
   with his current strategy.
2. Regrets: discount what is stored, add (value of the action − value of the set), clip if the
   schedule says so. Values already contain the opponent's and nature's probability.
3. Average: discount the sums, add weight × own reach of the strategy just played.
4. Strategy: regret matching; then the player's new reach, which the opponent meets next.

Zinkevich et al. (2007), Regret minimization in games with incomplete information. For the schedules
see `schedules`, for pruning `pruning`, for the form of the game `sequence_form`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError
from allstreets.cfr.game import Game
from allstreets.cfr.kernels.tabular import iterate, iterate_pruned, match_regrets
from allstreets.cfr.metrics import largest_by_set
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import Schedule, parse_schedule
from allstreets.cfr.sequence_form import SequenceForm, empty_skips, payoff_bounds
from allstreets.cfr.solver import Solver, check_state


class CfrSolver(Solver):
    """Counterfactual regret minimisation of one game; bit-identical for the same input."""

    def __init__(
        self,
        game: Game | SequenceForm,
        schedule: Schedule | str = "tuned",
        pruning: Pruning | None = None,
    ) -> None:
        """`game` may be compiled already; `schedule` may be a name, as for `parse_schedule`."""
        super().__init__(game, pruning)
        self.schedule = parse_schedule(schedule) if isinstance(schedule, str) else schedule
        if self.pruning and self.schedule.clip:
            raise InputError(
                f"{self.schedule} keeps no negative regrets, so there is nothing to prune: "
                "use pruning with dcfr or linear, or leave it out"
            )
        self._tables = self.form.empty_tables()
        self._skips = empty_skips(self.form)
        self._bounds = payoff_bounds(self.form) if self.pruning else None
        match_regrets(self.form.layout, self._tables)

    @property
    def identity(self) -> Mapping[str, Any]:
        """JSON facts that a checkpoint must share to be restored."""
        return {
            "game": self.form.game.name,
            "game_fingerprint": self.form.game.fingerprint,
            "algorithm": str(self.schedule),
            "pruning": self.pruning.facts() if self.pruning else None,
        }

    @property
    def iterations(self) -> int:
        """Iterations done so far; one updates both players."""
        return int(self._tables.iterations[0])

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays that grow with the game."""
        form, own = self.form.layout, (*self._tables, *self._skips, *(self._bounds or ()))
        return self.form.game.memory_bytes + sum(int(part.nbytes) for part in (*form, *own))

    @property
    def regrets(self) -> Floats:
        """[K] a copy of the regrets, by slot."""
        return self.form.to_slots(self._tables.regrets)

    @property
    def regret_weight(self) -> float:
        """The sum of the weights that the iterations still carry in the positive regrets."""
        return float(self._tables.regret_weight[0])

    @property
    def strategy_sums(self) -> Floats:
        """[K] the weighted sums of the players' own reach."""
        return self.form.to_slots(self._tables.strategy_sums)

    def skip_counts(self) -> tuple[int, int]:
        """Action updates skipped since the warm-up of pruning, and all that were due."""
        skipped, due = self._skips.counts.tolist()
        return skipped, due

    @property
    def regret_bound(self) -> float | None:
        """A true bound on the exploitability of the average strategy, where there is one.

        The average regrets of both players, each bounded by the sum over his information sets, add
        up to at least twice the exploitability when iterations weigh alike in regrets and average
        and nothing is skipped. With alternating updates the second player's regrets meet the first
        player's next strategy: the averages in the two regrets are shifted by one iteration, which
        is worth at most one range of utilities (Burch et al. 2019).
        """
        if not self.schedule.weighs_alike or self.pruning or not self.iterations:
            return None
        largest = largest_by_set(self.regrets, self.form.game.slot_start)
        total = float(np.maximum(largest, 0.0).sum()) + self.form.game.utility_range
        return total / (2 * self.regret_weight)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on; tables by slot."""
        tables = self._tables
        state: dict[str, NDArray[Any]] = {
            "regrets": self.regrets,
            "strategy_sums": self.strategy_sums,
            "regret_weight": tables.regret_weight.copy(),
            "iterations": tables.iterations.copy(),
        }
        if self.pruning:
            state["upper_bounds"] = self.form.to_slots(self._skips.upper)
            state["skip_counts"] = self._skips.counts.copy()
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same identity, bit-identical to an uninterrupted run."""
        check_state(state, self.state())
        self._tables.regrets[:] = self.form.to_lanes(state["regrets"])
        self._tables.strategy_sums[:] = self.form.to_lanes(state["strategy_sums"])
        self._tables.regret_weight[:] = state["regret_weight"]
        self._tables.iterations[:] = state["iterations"]
        if self.pruning:
            self._skips.upper[:] = self.form.to_lanes(state["upper_bounds"])
            self._skips.counts[:] = state["skip_counts"]
        match_regrets(self.form.layout, self._tables)

    def _run(self, iterations: int) -> None:
        first = self.iterations + 1
        warmup = self.pruning.warmup if self.pruning else first + iterations
        dense = min(max(warmup - first + 1, 0), iterations)
        weights = self.schedule.table(first, iterations, self.pruning)
        if dense:
            iterate(self.form.layout, self._tables, weights[:dense])
        if self.pruning and self._bounds and dense < iterations:
            if first + dense == warmup + 1:
                self._skips.upper[:] = self._tables.regrets
            iterate_pruned(
                self.form.layout,
                self._tables,
                self._bounds,
                self._skips,
                weights[dense:],
                self.pruning.is_sound,
            )
