"""Solving a spot as a job: train until a rule holds, keep what is solved, say what came out.

The solver of this job takes the time of its iterations; checks and compilation do not count.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from allstreets.base import InputError
from allstreets.solvers import Spot, SpotResult, SpotSolver
from allstreets.storage import claim
from allstreets.storage.bundle import (
    Saved,
    require_free,
    require_resumable,
    require_saved,
    restore_spot,
    save_spot,
    spot_identity,
)
from allstreets.training.loop import Intervals, Observer, train
from allstreets.training.records import Progress, Reason, TrainingOutcome
from allstreets.training.spot_config import SpotConfig
from allstreets.training.stopping import (
    ExploitabilityThreshold,
    Iterations,
    StopRule,
    TimeLimit,
)

MAX_ITERATIONS = 10_000  # where the user names no end but the target
SAVE_SECONDS = 300.0  # between two saves of a run: what a crash can cost
SMALL_SLOTS = 1_000_000  # below it an iteration is so short that checks come less often


@dataclass(frozen=True)
class LastResort:
    """Ends a run whose target is out of reach; unlike `Iterations` it promises no such number."""

    total: int = MAX_ITERATIONS
    name: ClassVar[Reason] = "iterations"

    def holds(self, progress: Progress) -> bool:
        """Whether so many iterations are done."""
        return progress.iteration >= self.total

    def describe(self, unit: str) -> str:  # noqa: ARG002
        """For people."""
        return f"{self.total:,} iterations"


class JobSolver(SpotSolver):
    """A spot solver with a stopwatch."""

    def __init__(self, spot: Spot, algorithm: str, threads: int | None, precision: str) -> None:
        super().__init__(spot, algorithm, threads, precision)
        self._laps: list[tuple[int, float]] = []  # (iterations, seconds), in the order run

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """As in `SpotSolver`, with the time taken whenever it asks whether to stop."""
        done, started = self.iterations, time.perf_counter()

        def between(now: int) -> bool:
            nonlocal done, started
            self._laps.append((now - done, time.perf_counter() - started))
            stop = callback is not None and callback(now)
            done, started = now, time.perf_counter()
            return stop

        super().train_batch(iterations, between)

    @property
    def seconds_per_iteration(self) -> float | None:
        """The mean without the first lap, which may wait for the compiler; None = none was run."""
        counted = self._laps[1:] or self._laps
        iterations = sum(count for count, _ in counted)
        return sum(seconds for _, seconds in counted) / iterations if iterations else None


@dataclass(frozen=True)
class SpotOutcome:
    """What a job came to."""

    solver: JobSolver
    training: TrainingOutcome
    exploitability: float  # a fraction of the pot
    evs: tuple[float, float]  # chips
    seconds: float  # of the whole job, those before a resume included

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.training.reason == "interrupted"

    @property
    def result(self) -> SpotResult:
        """The solution, node by node."""
        result = self.solver.result()
        result.exploitability = self.exploitability
        result.iterations, result.seconds = self.solver.iterations, self.seconds
        return result

    def figures(self) -> dict[str, Any]:
        """The job in figures, as JSON data."""
        solver = self.solver
        return {
            "exploitability_pct": 100 * self.exploitability,
            "exploitability_chips": self.exploitability * solver.spot.pot,
            "iterations": solver.iterations,
            "seconds": self.seconds,
            "seconds_per_iteration": solver.seconds_per_iteration,
            "ev_oop": self.evs[0],
            "ev_ip": self.evs[1],
            "memory_bytes": solver.memory_bytes,
            "nodes": sum(solver.spot.tree.decision_counts().values()),
            "threads": solver.threads,
            "algorithm": str(solver.schedule),
        }


def stop_rules(
    target: float, max_iterations: int | None, seconds: float | None
) -> tuple[StopRule, ...]:
    """What ends the job; a target of 0 is none at all."""
    rules: list[StopRule] = []
    if target > 0:
        rules.append(ExploitabilityThreshold(100 * target))
    if max_iterations is not None:
        rules.append(Iterations(max_iterations))
    elif seconds is None:
        rules.append(LastResort())
    if seconds is not None:
        rules.append(TimeLimit(seconds))
    return tuple(rules)


def check_interval(slots: int) -> int:
    """Iterations between two checks, so that they take about a tenth of the time."""
    return 10 if slots >= SMALL_SLOTS else 25


def require_job(
    config: SpotConfig, spot: Spot, output: Path | None, resume: bool, saved: str
) -> None:
    """Refuse what cannot be kept or gone on with, before anything is computed."""
    if resume and output is None:
        raise InputError("--resume needs --output, the folder to go on from")
    require_saved(spot, saved)
    identity = spot_identity(spot, config.algorithm, config.precision)
    if output is not None:
        (require_resumable if resume else require_free)(output, identity)


def solve_job(
    config: SpotConfig,
    spot: Spot,
    *,
    max_iterations: int | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    output: Path | None = None,
    resume: bool = False,
    saved: Saved = "full",
    observers: Sequence[Observer] = (),
) -> SpotOutcome:
    """Solve a spot; with `output` keep it as a bundle, with `resume` go on from that bundle."""
    require_job(config, spot, output, resume, saved)
    rules = stop_rules(config.target, max_iterations, seconds)
    start = time.monotonic()
    solver = JobSolver(spot, config.algorithm, threads, config.precision)
    before: dict[str, Any] = {"seconds": 0.0, "metrics": []}
    with ExitStack() as stack:
        if output is not None:
            stack.enter_context(claim(output))
            if resume:
                before = restore_spot(solver, output)
                if before["exploitability"] <= config.target:
                    rules = (Iterations(solver.iterations),)  # there is nothing left to do

        def save(exploitability: float, rows: Sequence[dict[str, Any]]) -> None:
            if output is not None:
                save_spot(
                    solver,
                    output,
                    saved,
                    exploitability=exploitability,
                    seconds=before["seconds"] + time.monotonic() - start,
                    metrics=[*before["metrics"], *(_later(row, before["seconds"]) for row in rows)],
                    name=config.name,
                    description=config.description,
                )

        watchers = list(observers)
        if output is not None and saved == "full":
            watchers.append(_Saver(save))
        interval = check_interval(solver.memory_bytes // 8)
        outcome = train(solver, rules, intervals=Intervals(interval, 10**9), observers=watchers)
        reached = _reached(solver, outcome)
        save(reached, [check.to_row() for check in outcome.history])
        return SpotOutcome(
            solver,
            outcome,
            reached,
            solver.expected_values(),
            before["seconds"] + time.monotonic() - start,
        )


def _later(row: dict[str, Any], seconds: float) -> dict[str, Any]:
    """A check of a resumed job: its time goes on from the one before."""
    return {**row, "seconds": seconds + row["seconds"]}


def _reached(solver: JobSolver, outcome: TrainingOutcome) -> float:
    """Exploitability of what is there now; the last check may lie a few iterations back."""
    metrics = outcome.progress.fresh_metrics
    if metrics is not None and metrics.exploitability is not None:
        return metrics.exploitability / 100
    return solver.exploitability() / solver.spot.pot


class _Saver:
    """Saves a long run now and then, right after a check."""

    def __init__(self, save: Callable[[float, Sequence[dict[str, Any]]], None]) -> None:
        self._save = save
        self._due = time.monotonic() + SAVE_SECONDS
        self._rows: dict[int, dict[str, Any]] = {}

    def __call__(self, progress: Progress) -> None:
        metrics = progress.fresh_metrics
        if progress.check is None or metrics is None or metrics.exploitability is None:
            return
        self._rows[progress.iteration] = progress.check.to_row()
        if time.monotonic() >= self._due and not progress.holding:
            self._save(metrics.exploitability / 100, list(self._rows.values()))
            self._due = time.monotonic() + SAVE_SECONDS
