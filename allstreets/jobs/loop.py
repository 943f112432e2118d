"""The job around a driven solver: stop rules, observers, metrics file, checkpoints.

1. Refuse settings that cannot work, before anything is trained or written.
2. Drive the solver (`solvers.drive`) from one iteration at which something is due to the next: a
   check, a checkpoint, a report, the end. These lie at fixed multiples of their intervals, or where
   earlier checks predict (`solvers.Planned`): a resumed run makes the same ones.
3. At a check: compute the metrics, append them to the metrics file, ask the stop rules.
4. At a checkpoint, and at the end unless nothing needs it: write one.

A `Control` pauses or stops the run after the current iteration, and a stopped run is saved; without
one, signals do that (`base.control`). Time in a pause does not count. A write that fails during the
run is reported and the run continues; one that fails at the end is part of the outcome. The loop
knows no terminal: observers are callables that take a `Progress`.

A run into a folder (`train_into`) has one writer and ends with a solution that is saved:

FOLDER/manifest.json, …      the solution, whole at every moment
       checkpoints/          to resume from
       metrics.jsonl         the figures of every check
"""

from __future__ import annotations

import math
import time
import warnings
from abc import ABC
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from allstreets.base import Control, InputError, Place, interrupt_request, process_bytes
from allstreets.cfr import Metrics
from allstreets.jobs import metrics_file
from allstreets.jobs.job import (
    WINDOW,
    Callbacks,
    Check,
    Observer,
    Progress,
    Reason,
    StopRule,
    TrainingOutcome,
    speed,
    time_to_target,
    time_to_total,
)
from allstreets.jobs.stopping import (
    ExploitabilityThreshold,
    Intervals,
    Iterations,
    LastResort,
    RegretThreshold,
    TimeLimit,
    find_rule,
    holding,
)
from allstreets.solvers import Checks, Curve, Multiples, Timer, drive, next_multiple
from allstreets.storage import (
    Checkpoint,
    CheckpointWarning,
    claim,
    clear_unfinished,
    clear_unfinished_checkpoints,
    require_checkpoints,
    require_no_checkpoints,
    restore_latest,
    save_checkpoint,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Called with the iterations done so far; returns True to stop after the current iteration.
BatchCallback = Callable[[int], bool]


class TrainingSolver(Protocol):
    """A solver that can be trained in batches, evaluated, stored and restored.

    Only `train_batch` and `restore` may change the next iteration, and the size of batches must
    not: that is what makes a resumed run equal to an uninterrupted one.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """JSON facts that a checkpoint must share to be restored: game, algorithm, seed, …"""

    @property
    def unit(self) -> str:
        """The unit of exploitability and regrets, in words ("chips", "mbb/hand")."""

    @property
    def iterations(self) -> int:
        """Iterations done so far, counted from 1; one updates both players."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays that grow with the game."""

    @property
    def avg_positive_regret(self) -> float | None:
        """Σ max(R, 0) / (entries · weight of the iterations); `None` when not known."""

    def train_batch(self, iterations: int, callback: BatchCallback | None = None) -> None:
        """Run `iterations` more; between some of them ask `callback` whether to stop early."""

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        """All figures the solver knows; `exploitability=False` leaves out the costly one."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on, random state included."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same identity, bit-identical to an uninterrupted run.

        It replaces everything that the solver held, and copies what it needs: the arrays may be
        files that are read part by part.
        """


RECENT = 100  # checks that stop rules can look back
TICK_SECONDS = 0.1  # between two records that only report how far a batch is


@dataclass(frozen=True)
class RunFiles:
    """The files that a run writes, and whether it resumes from them."""

    checkpoints: Place | None = None  # a folder
    metrics: Place | None = None  # a file of JSON lines
    resume: bool = False
    # Both are in a folder of this run alone: metrics without a checkpoint come from a run that died
    # before its first one, and are overwritten.
    own_folder: bool = False
    # Whether a finished run is saved as well, not only an interrupted one.
    save_finished: bool = True

    def __post_init__(self) -> None:
        if self.resume and self.checkpoints is None:
            raise InputError("--resume needs the folder with the checkpoints")


@dataclass(frozen=True)
class Every:
    """An observer that is called at multiples of `interval`, after the check if there is one."""

    interval: int  # iterations
    observer: Observer

    def __post_init__(self) -> None:
        if self.interval < 1:
            raise InputError(f"an interval must be at least 1, not {self.interval}")


def train(
    solver: TrainingSolver,
    rules: Sequence[StopRule],
    *,
    intervals: Intervals | None = None,
    checks: Checks | None = None,
    curve: Curve = (),
    files: RunFiles | None = None,
    observers: Sequence[Observer] = (),
    regularly: Sequence[Every] = (),
    clock: Callable[[], float] = time.monotonic,
    control: Control | None = None,
) -> TrainingOutcome:
    """Train `solver` until a rule holds or the user interrupts.

    `control` is for a job that saves more than checkpoints, or can be stopped by more than signals.

    Checks lie at multiples of their interval, unless `checks` says otherwise; `curve` are those
    before a resume that is not of a checkpoint.

    `observers` are called a few times per second and at every check, those of `regularly` at fixed
    iterations.

    With `files.resume` the solver first takes the state of the latest checkpoint; iterations
    continue from there, and a run whose rules already hold ends immediately.
    """
    files = files or RunFiles()
    folder = files.checkpoints
    with ExitStack() as stack:
        if folder is not None:
            (require_checkpoints if files.resume else require_no_checkpoints)(folder)
        check_rules(rules, solver)
        start: Checkpoint | None = None
        if folder is not None:
            stack.enter_context(claim(folder))
            clear_unfinished_checkpoints(folder)
            if files.resume:
                start = restore_latest(folder, solver.identity, solver.restore)
        _begin_metrics(files, start)
        if control is None:
            doing = "stopping" if folder is None else f"saving to {folder}"
            control = stack.enter_context(interrupt_request(doing))
        run = _Run(solver, tuple(rules), files, tuple(observers), clock, control, start)
        intervals = intervals or Intervals()
        checks = checks or Multiples(intervals.check)
        return run.to_the_end(checks, curve, intervals.checkpoint, regularly)


def check_rules(rules: Sequence[StopRule], solver: TrainingSolver) -> None:
    """Refuse rules that could never end the run on this solver, before anything is trained."""
    if not rules:
        raise InputError("nothing would end this run; give iterations, a threshold or a time limit")
    names = [rule.name for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"the stop rule {twice} is given twice; keep one of the two")
    target = find_rule(rules, ExploitabilityThreshold)
    figures = solver.metrics(exploitability=target is not None)
    if target is not None and figures.exploitability is None:
        other = ", regret_threshold" if figures.avg_positive_regret is not None else ""
        raise InputError(
            f"{target.name}: this solver cannot compute its exploitability, so the rule would "
            f"never hold; give iterations{other} or a time limit instead"
        )
    if find_rule(rules, RegretThreshold) is not None and figures.avg_positive_regret is None:
        raise InputError(
            "regret_threshold: this solver does not know its average positive regret, so the "
            "rule would never hold; give iterations or a time limit instead"
        )


def _begin_metrics(files: RunFiles, start: Checkpoint | None) -> None:
    if files.metrics is None:
        return
    if start is None:
        metrics_file.begin(files.metrics, overwrite=files.own_folder)
    else:
        metrics_file.continue_from(files.metrics, start.iterations, start.history)


class _Run:
    """The moving parts of one call of `train`."""

    def __init__(
        self,
        solver: TrainingSolver,
        rules: tuple[StopRule, ...],
        files: RunFiles,
        observers: tuple[Observer, ...],
        clock: Callable[[], float],
        control: Control,
        start: Checkpoint | None,
    ) -> None:
        self._solver = solver
        self._rules = rules
        self._files = files
        self._observers = observers
        self._clock = clock
        self._control = control
        self._history = [Check.from_row(row) for row in start.history] if start else []
        self._seconds_before = start.seconds if start else 0.0
        self._saved_at = start.iterations if start else None
        if start is not None:
            control.saved(start.iterations)
        self._metrics_behind = False  # whether the metrics file lacks a line
        iterations, target = find_rule(rules, Iterations), find_rule(rules, ExploitabilityThreshold)
        limit = find_rule(rules, TimeLimit)
        self._allowed = limit.left if limit else math.inf  # seconds of this process
        self._total = iterations.total if iterations else None
        self._target = target.target if target else None
        self._timer = Timer(self._allowed, clock)
        self._last = min(
            (rule.total for rule in rules if isinstance(rule, Iterations | LastResort)),
            default=math.inf,
        )
        self._ticked = -math.inf
        # (iteration, second of this process) whenever a batch ended: the speed is computed from
        # them.
        self._points = deque([(solver.iterations, 0.0)], maxlen=WINDOW + 1)

    def to_the_end(
        self, checks: Checks, curve: Curve, checkpoint: int, regularly: Sequence[Every]
    ) -> TrainingOutcome:
        first = self._ask_rules(self._solver.iterations, self._timer.seconds())
        if first.holding:
            return self._outcome(first.holding[0])
        if self._control.wants_to_stop():
            raise KeyboardInterrupt  # nothing has been trained, so there is nothing to save
        intervals = [every.interval for every in regularly]
        if self._files.checkpoints is not None:
            intervals.append(checkpoint)
        for step in drive(
            self._solver,
            self._check,
            checks,
            self._timer,
            iterations=self._last,
            control=self._control,
            curve=curve or self._curve(),
            due=lambda now: min((next_multiple(now, i) for i in intervals), default=math.inf),
            between=self._between,
            pause=self._pause,
        ):
            self._mark(step.iteration, step.seconds)
            progress = self._ask_rules(step.iteration, step.seconds)
            for every in regularly:
                if step.iteration % every.interval == 0:
                    every.observer(progress)
            if progress.holding:
                return self._outcome(progress.holding[0])
            if step.iteration % checkpoint == 0 and not self._control.wants_to_stop():
                problem = self._save()
                if problem is not None:
                    _warn(problem)
        return self._outcome("interrupted")

    def _outcome(self, reason: Reason) -> TrainingOutcome:
        """The end; the last save comes first."""
        unsaved = None
        if reason == "interrupted" or self._files.save_finished:
            unsaved = self._save()
        return TrainingOutcome(
            reason,
            self._latest,
            tuple(self._history),
            self._files.checkpoints,
            unsaved,
            self._timer.seconds_per_iteration,
        )

    def _between(self, iteration: int) -> None:
        """Report progress between two iterations of a batch."""
        if self._clock() - self._ticked >= TICK_SECONDS:
            self._emit(self._progress(iteration, self._timer.seconds()))

    def _pause(self) -> None:
        """Stand still; observers see it, before and after."""
        self._emit(replace(self._latest, paused=True))
        self._control.wait_while_paused()
        if not self._control.wants_to_stop():
            self._emit(self._latest)

    def _mark(self, iteration: int, seconds: float) -> None:
        """Note when a batch ended, once."""
        if self._points[-1][0] != iteration:
            self._points.append((iteration, seconds))

    def _check(self) -> float | None:
        """Evaluate the solver now, and record the figures; return its exploitability."""
        self._mark(self._solver.iterations, self._timer.seconds())
        metrics = self._solver.metrics(exploitability=True)
        _require_finite(metrics, self._solver.iterations)
        check = Check(
            iteration=self._solver.iterations,
            seconds=self._seconds_before + self._timer.seconds(),
            iterations_per_second=speed(list(self._points)),
            solver_bytes=self._solver.memory_bytes,
            process_bytes=process_bytes(),
            metrics=metrics,
        )
        self._history.append(check)
        if self._files.metrics is not None:
            self._log(self._files.metrics, check)
        return metrics.exploitability

    def _log(self, path: Place, check: Check) -> None:
        """A line of the metrics file; one that cannot be written is written with the next."""
        try:
            if self._metrics_behind:
                rows = [each.to_row() for each in self._history]
                metrics_file.continue_from(path, check.iteration, rows)
            else:
                metrics_file.append(path, check.to_row())
            self._metrics_behind = False
        except InputError as error:
            if not self._metrics_behind:
                _warn(str(error))
            self._metrics_behind = True

    def _ask_rules(self, iteration: int, seconds: float) -> Progress:
        """Ask the stop rules, and pass their answers to the observers."""
        progress = self._progress(iteration, seconds)
        self._latest = replace(progress, holding=holding(self._rules, progress))
        self._emit(self._latest)
        return self._latest

    def _emit(self, progress: Progress) -> None:
        self._ticked = self._clock()
        for observer in self._observers:
            observer(progress)

    def _progress(self, iteration: int, seconds: float) -> Progress:
        """The progress of the run."""
        rate = speed([*self._points, (iteration, seconds)])
        until_total = time_to_total(iteration, self._total, rate)
        until_limit = max(self._allowed - seconds, 0.0)
        is_limited = until_total is not None and until_total > until_limit
        left = until_limit if until_total is None else min(until_total, until_limit)
        return Progress(
            done=iteration,
            total=None if is_limited else self._total,  # which this run does not get to
            seconds=self._seconds_before + seconds,
            session_seconds=seconds,
            reserve_seconds=self._timer.reserve,
            iterations_per_second=rate,
            eta_seconds=left if math.isfinite(left) else None,
            target_eta_seconds=time_to_target(self._curve(), self._target, rate),
            solver_bytes=self._solver.memory_bytes,
            process_bytes=process_bytes(),
            device=getattr(self._solver, "device_use", None),
            unit=self._solver.unit,
            rules=self._rules,
            check=self._history[-1] if self._history else None,
            recent=tuple(check.metrics.exploitability for check in self._history[-RECENT:]),
        )

    def _curve(self) -> list[tuple[int, float]]:
        recent = self._history[-WINDOW:]
        figures = ((check.iteration, check.metrics.exploitability) for check in recent)
        return [(iteration, value) for iteration, value in figures if value is not None]

    def _save(self) -> str | None:
        """Write a checkpoint if there is none of this iteration; return the problem, if any."""
        folder, iterations = self._files.checkpoints, self._solver.iterations
        if folder is None or iterations == self._saved_at:
            return None
        checkpoint = Checkpoint(
            identity=self._solver.identity,
            iterations=iterations,
            seconds=self._seconds_before + self._timer.seconds(),
            arrays=self._solver.state(),
            history=tuple(check.to_row() for check in self._history),
            write_elsewhere=getattr(self._solver, "write_elsewhere", None),
        )
        try:
            save_checkpoint(folder, checkpoint)
        except InputError as error:
            return str(error)
        self._saved_at = iterations
        self._control.saved(iterations)
        return None


def _warn(problem: str) -> None:
    """Report that something could not be written; there is time to make room."""
    message = f"{problem.splitlines()[0]}; the run continues, make room"
    warnings.warn(message, CheckpointWarning, stacklevel=3)


def _require_finite(metrics: Metrics, iteration: int) -> None:
    """A figure that is not a number would never stop a run, and must not be stored."""
    for name, value in asdict(metrics).items():
        if value is not None and not math.isfinite(value):
            raise FloatingPointError(f"{name} is {value} at iteration {iteration:,}")


CHECKPOINTS = "checkpoints"
METRICS = "metrics.jsonl"

Outcome = TypeVar("Outcome")


class TrainedOutcome(ABC):
    """The outcome of a job that trains a solver and saves its solution."""

    training: TrainingOutcome
    unsaved: str | None  # the reason why the solution could not be saved, in words

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.training.reason == "interrupted"

    @property
    def problem(self) -> str | None:
        """The reason why no other job can build on it, in words."""
        return self.unsaved

    @property
    def warning(self) -> str | None:
        """A warning about any other problem, in words; None: there is none."""
        return self.training.unsaved

    def way_on(self, kept: Place, again: str) -> list[str]:
        """The advice on resuming the run stored in a folder: by the command `again`."""
        return [f"Interrupted; saved in {kept}. Continue: {again}"] if self.interrupted else []


def train_into(
    output: Place | None,
    solver: TrainingSolver,
    rules: Sequence[StopRule],
    intervals: Intervals,
    finish: Callable[[TrainingOutcome], Outcome],
    *,
    resume: bool = False,
    save_finished: bool = True,
    callbacks: Callbacks,
    regularly: Sequence[Every] = (),
) -> Outcome:
    """Train until a rule holds or the user interrupts, then `finish`, which saves the solution.

    Without `output` nothing is stored; without `save_finished` a finished run leaves no checkpoint.
    Until `finish` has returned, signals only request a stop.
    """
    files = RunFiles()
    if output is not None:
        files = RunFiles(
            output / CHECKPOINTS, output / METRICS, resume, True, save_finished=save_finished
        )
    with ExitStack() as stack:
        if output is not None:
            stack.enter_context(claim(output))
            clear_unfinished(output)
        doing = "stopping" if output is None else f"saving to {output}"
        request = callbacks.control or stack.enter_context(interrupt_request(doing, "the solution"))
        training = train(
            solver,
            rules,
            intervals=intervals,
            files=files,
            observers=callbacks.progress,
            regularly=regularly,
            control=request,
        )
        return finish(training)
