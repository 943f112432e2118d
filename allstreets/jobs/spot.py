"""Solving a spot as a job: train until a rule holds, save the solution, report the outcome.

`train_spot` is the training of every job: of `allstreets solve`, of one of many spots, and of the
explorer. Its checks lie where the target is predicted (`solvers.Planned`). A time limit counts
the set-up and the checks.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allstreets.base import Control, InputError, interrupt_request
from allstreets.games import Spot
from allstreets.jobs.config.spot import SpotConfig
from allstreets.jobs.loop import Observer, train
from allstreets.jobs.progress import Progress, StopRule, TrainingOutcome
from allstreets.jobs.stopping import (
    ExploitabilityThreshold,
    Iterations,
    LastResort,
    TimeLimit,
    find_rule,
)
from allstreets.solutions import SpotSolution
from allstreets.solvers import Multiples, Planned, SpotSolver
from allstreets.storage import (
    CheckpointWarning,
    Saved,
    claim,
    clear_unfinished_spot,
    require_free,
    require_resumable,
    require_saved,
    restore_spot,
    save_spot,
    spot_identity,
)

MAX_ITERATIONS = 10_000  # where the user names no end but the target
SAVE_SECONDS = 300.0  # between two saves of a run: what a crash can cost
SMALL_BYTES = 8_000_000  # below it an iteration is so short that checks come less often

OriginOf = Callable[[SpotSolution], Mapping[str, Any]]


@dataclass(frozen=True)
class SpotOutcome:
    """The outcome of a job."""

    solver: SpotSolver
    training: TrainingOutcome
    exploitability: float  # a fraction of the pot
    evs: tuple[float, float]  # chips
    seconds: float  # of the whole job, those before a resume included
    keep: Callable[[Path], None]  # writes the solution to another folder
    unsaved: str | None = None  # why it could not be saved, for people

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.training.reason == "interrupted"

    @property
    def result(self) -> SpotSolution:
        """The solution, node by node."""
        result = SpotSolution.of(self.solver)
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
            "seconds_per_iteration": self.training.seconds_per_iteration,
            "ev_oop": self.evs[0],
            "ev_ip": self.evs[1],
            "memory_bytes": solver.memory_bytes,
            "nodes": sum(solver.spot.tree.decision_counts().values()),
            "threads": solver.threads,
            "algorithm": str(solver.schedule),
        }


def stop_rules(
    target: float, max_iterations: int | None, seconds: float | None, spent: float = 0.0
) -> tuple[StopRule, ...]:
    """Rules that end the job; a target of 0 is none at all, `spent` seconds are gone already."""
    rules: list[StopRule] = []
    if target > 0:
        rules.append(ExploitabilityThreshold(100 * target))
    if max_iterations is not None:
        rules.append(Iterations(max_iterations))
    elif seconds is None:
        rules.append(LastResort(MAX_ITERATIONS))
    if seconds is not None:
        rules.append(TimeLimit(seconds, spent))
    return tuple(rules)


def train_spot(
    solver: SpotSolver,
    rules: Sequence[StopRule],
    *,
    before: Sequence[Mapping[str, Any]] = (),
    observers: Sequence[Observer] = (),
    control: Control | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> TrainingOutcome:
    """Train a spot; `before` are the rows of the checks before a resume.

    Without a target there is nothing to predict: checks lie at multiples of an interval then, and
    take about a tenth of the time.
    """
    target = find_rule(rules, ExploitabilityThreshold)
    interval = 10 if solver.memory_bytes >= SMALL_BYTES else 25
    return train(
        solver,
        rules,
        checks=Multiples(interval) if target is None else Planned(target.target),
        curve=[(row["iteration"], row["exploitability"]) for row in before],
        observers=observers,
        control=control,
        clock=clock,
    )


def require_job(
    config: SpotConfig, spot: Spot, output: Path | None, resume: bool, saved: str
) -> None:
    """Refuse what cannot be saved or resumed, before anything is computed."""
    if resume and output is None:
        raise InputError("--resume needs --output, the folder to go on from")
    require_saved(spot, saved)
    identity = spot_identity(spot, config.algorithm, config.precision, config.river_groups)
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
    origin: OriginOf | None = None,
    control: Control | None = None,
    made_from: Mapping[str, Any] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SpotOutcome:
    """Solve a spot; with `output` save it as a bundle, with `resume` resume from that bundle.

    `origin` says of the solution as it stands which flop of which whole game it is, `made_from`
    which solution a lock has made it from (`save_spot`'s `before`). `control` may stop it; by
    default signals do. `seconds` count from the call, on `clock`.
    """
    require_job(config, spot, output, resume, saved)
    start = clock()
    target = config.exploitability_threshold
    stop_rules(target, max_iterations, seconds)  # refuses bad ones before anything is computed
    solver = SpotSolver(
        spot, config.algorithm, threads, config.precision, config.river_groups, config.device
    )
    before: dict[str, Any] = {"seconds": 0.0, "metrics": []}
    with ExitStack() as stack:
        if output is not None:
            stack.enter_context(claim(output))
            clear_unfinished_spot(output)
            if resume:
                before = restore_spot(solver, output)
                if before["exploitability"] <= target:
                    max_iterations = solver.iterations  # there is nothing left to do
        doing = "stopping" if output is None else f"saving to {output}"
        request = control or stack.enter_context(interrupt_request(doing, "the solution"))
        if resume:
            request.saved(solver.iterations)
        saver = _Saver(solver, config, saved, before, lambda: clock() - start, origin, made_from)
        watchers = list(observers)
        if output is not None and saved == "full":
            watchers.append(_Regularly(saver, output, request))
        outcome = train_spot(
            solver,
            stop_rules(target, max_iterations, seconds, spent=clock() - start),
            before=before["metrics"],
            observers=watchers,
            control=request,
            clock=clock,
        )
        reached = _reached(solver, outcome, before)
        rows = [check.to_row() for check in outcome.history]
        unsaved = saver.attempt(output, reached, rows) if output is not None else None
        return SpotOutcome(
            solver,
            outcome,
            reached,
            solver.expected_values(),
            before["seconds"] + clock() - start,
            lambda folder: saver.save(folder, reached, rows),
            unsaved,
        )


def _later(row: dict[str, Any], seconds: float) -> dict[str, Any]:
    """A check of a resumed job: its time goes on from the one before."""
    return {**row, "seconds": seconds + row["seconds"]}


def _reached(solver: SpotSolver, outcome: TrainingOutcome, before: Mapping[str, Any]) -> float:
    """Exploitability of the current strategies, a fraction of the pot.

    Where the run was interrupted the last check lies a few iterations back, and there is one more.
    """
    metrics = outcome.progress.fresh_metrics
    if metrics is not None and metrics.exploitability is not None:
        return metrics.exploitability / 100
    if solver.iterations == before.get("iterations"):
        return float(before["exploitability"])  # nothing was trained
    return solver.exploitability() / solver.spot.pot


@dataclass(frozen=True)
class _Saver:
    """Writes the solution as it stands to a folder."""

    solver: SpotSolver
    config: SpotConfig
    saved: Saved
    before: Mapping[str, Any]  # the manifest that a resumed job goes on from
    seconds: Callable[[], float]  # since the job began
    origin: OriginOf | None
    made_from: Mapping[str, Any] | None

    def save(self, folder: Path, exploitability: float, rows: Sequence[dict[str, Any]]) -> None:
        """`rows` are the checks of this run; an `InputError` if they cannot be written."""
        earlier = self.before["seconds"]
        save_spot(
            self.solver,
            folder,
            self.saved,
            exploitability=exploitability,
            seconds=earlier + self.seconds(),
            metrics=[*self.before["metrics"], *(_later(row, earlier) for row in rows)],
            name=self.config.name,
            description=self.config.description,
            origin=None if self.origin is None else self.origin(SpotSolution.of(self.solver)),
            before=self.made_from,
        )

    def attempt(
        self, folder: Path, exploitability: float, rows: Sequence[dict[str, Any]]
    ) -> str | None:
        """Save; returns what went wrong, if it did."""
        try:
            self.save(folder, exploitability, rows)
        except InputError as error:
            return str(error)
        return None


class _Regularly:
    """Saves a long run now and then, right after a check."""

    def __init__(self, saver: _Saver, folder: Path, request: Control) -> None:
        self._saver, self._folder, self._request = saver, folder, request
        self._due = time.monotonic() + SAVE_SECONDS
        self._rows: dict[int, dict[str, Any]] = {}

    def __call__(self, progress: Progress) -> None:
        metrics = progress.fresh_metrics
        if progress.check is None or metrics is None or metrics.exploitability is None:
            return
        self._rows[progress.iteration] = progress.check.to_row()
        if time.monotonic() >= self._due and not progress.holding:
            rows = list(self._rows.values())
            problem = self._saver.attempt(self._folder, metrics.exploitability / 100, rows)
            if problem is None:
                self._request.saved(progress.iteration)
            else:
                message = f"{problem.splitlines()[0]}; the run goes on"
                warnings.warn(message, CheckpointWarning, stacklevel=2)
            self._due = time.monotonic() + SAVE_SECONDS
