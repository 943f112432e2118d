"""Solving one spot as the server wishes: saved as it goes, held, gone on with, ended."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allstreets.base.interrupt import InterruptRequest
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import SolveProgress, SolveState, SpotForm
from allstreets.explorer.solves.commands import Commands
from allstreets.explorer.solves.folders import SolveFolder
from allstreets.explorer.solves.outlet import Ending, Outlet
from allstreets.explorer.solves.reports import Report
from allstreets.explorer.solves.saving import SaveBudget, Thinned
from allstreets.explorer.solves.spots import read_form
from allstreets.solvers import SpotSolver
from allstreets.storage.bundle import restore_spot
from allstreets.training.compiled import COMPILING, mark_compiled, must_compile
from allstreets.training.loop import Intervals, train
from allstreets.training.records import Progress, TrainingOutcome
from allstreets.training.spot_run import LastResort, check_interval
from allstreets.training.stopping import ExploitabilityThreshold, StopRule, TimeLimit
from allstreets.training.wording import duration, figure

MAX_ITERATIONS = 100_000  # in one run, where the target is out of reach
REPORT_SECONDS = 0.2  # between two reports that only tell how far it is


def solve(folder: SolveFolder, form: SpotForm, commands: Commands, outlet: Outlet) -> Ending:
    """Solve a spot, or go on with it where the folder holds a bundle."""
    config, spot = read_form(form)
    if must_compile(spot, config.precision):
        outlet.tell(Report(note=COMPILING))
    solver = SpotSolver(spot, config.algorithm, precision=config.precision)
    request = InterruptRequest()  # made by commands; signals are commands, too
    course = Course(solver, commands, outlet, request)
    if folder.has_solution:
        reached = course.restore(folder)
        if reached <= form.target_pct:
            return Ending("done", _where(reached, form))
    outcome = train(
        solver,
        _rules(form, solver.iterations),
        intervals=Intervals(check_interval(solver.memory_bytes // 8), 10**9),
        observers=[course],
        clock=course.clock,
        request=request,
    )
    mark_compiled(spot, config.precision)
    return _ending(outcome, course.finish(outcome.progress), form, commands)


class PausableClock:
    """Seconds, without those in which the solve was held."""

    def __init__(self) -> None:
        self._held = 0.0

    def __call__(self) -> float:
        """Now."""
        return time.monotonic() - self._held

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """When this is over, no time has passed."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._held += time.monotonic() - began


class Course:
    """The course of a solve: what the training loop calls between two iterations."""

    def __init__(
        self, solver: SpotSolver, commands: Commands, outlet: Outlet, request: InterruptRequest
    ) -> None:
        self.clock = PausableClock()
        self._solver, self._commands, self._outlet = solver, commands, outlet
        self._request = request
        self._budget = SaveBudget(solver.memory_bytes, self.clock)
        self._rows = Thinned()
        self._untold: list[dict[str, Any]] = []  # rows that the server does not know
        self._began_at = self._checked_at = self._saved_at = 0  # iterations
        self._seconds_before = 0.0  # of the runs before this one
        self._told = 0.0  # when
        self._exploitability: float | None = None  # % of pot, as far as it is known

    def restore(self, folder: SolveFolder) -> float:
        """Go on from a bundle; returns its exploitability, in % of the pot."""
        before = restore_spot(self._solver, folder.solution)
        for row in before["metrics"]:
            self._rows.add(row)
        self._seconds_before = before["seconds"]
        self._began_at = self._checked_at = self._saved_at = self._solver.iterations
        self._exploitability = reached = 100 * float(before["exploitability"])
        return reached

    def __call__(self, progress: Progress) -> None:
        """Keep the figures, save, hold, end, and tell how far it is."""
        self._take_check(progress)
        if progress.iteration > self._began_at and not progress.holding:
            if progress.fresh_metrics is not None and self._budget.due():
                self._save(progress)
            if self._commands.paused:
                self._hold(progress)
            if self.clock() >= self._told + REPORT_SECONDS:
                self._tell(progress, "running")
            if self._commands.ending is not None:
                self._request.make()

    def finish(self, progress: Progress) -> float:
        """The last save; returns the exploitability of what is kept, in % of the pot."""
        if self._rows.latest is not None:
            self._untold.append(self._rows.latest)
        self._tell(progress, None, "saving")
        return self._save(progress)

    def _take_check(self, progress: Progress) -> None:
        check = progress.check
        if check is None or check.iteration <= self._checked_at:
            return
        self._checked_at = check.iteration
        self._exploitability = check.metrics.exploitability
        row = {**check.to_row(), "seconds": self._seconds_before + check.seconds}
        if self._rows.add(row):
            self._untold.append(row)

    def _hold(self, progress: Progress) -> None:
        """Stand still until told otherwise; what is there can be looked at meanwhile."""
        self._tell(progress, "paused")
        with self.clock.stopped():
            self._save(progress)
            self._commands.wait_while_paused()
        if self._commands.ending is None:
            self._tell(progress, "running")

    def _save(self, progress: Progress) -> float:
        """Save what is not saved yet; returns its exploitability, in % of the pot."""
        if progress.fresh_metrics is None:  # the latest check lies a few iterations back
            self._exploitability = 100 * self._solver.exploitability() / self._solver.spot.pot
        assert self._exploitability is not None
        if progress.iteration > self._saved_at:
            began = self.clock()
            self._outlet.save(self._solver, self._describe(progress), self._rows.rows())
            self._saved_at = progress.iteration
            self._budget.saved(self.clock() - began)
        return self._exploitability

    def _tell(self, progress: Progress, state: SolveState | None, note: str = "") -> None:
        points, self._untold = [CurvePoint.of_check(row) for row in self._untold], []
        described = self._describe(progress)
        self._outlet.tell(Report(state=state, progress=described, points=points, note=note))
        self._told = self.clock()

    def _describe(self, progress: Progress) -> SolveProgress:
        left = [progress.target_eta_seconds]
        for rule in progress.rules:
            if isinstance(rule, TimeLimit):
                left.append(max(rule.seconds - progress.session_seconds, 0.0))
        return SolveProgress(
            iteration=progress.iteration,
            seconds=self._seconds_before + progress.seconds,
            iterations_per_second=progress.iterations_per_second,
            eta_seconds=min((each for each in left if each is not None), default=None),
            exploitability=self._exploitability,
            memory_bytes=progress.process_bytes or progress.solver_bytes,
        )


def _rules(form: SpotForm, iterations: int) -> tuple[StopRule, ...]:
    rules: tuple[StopRule, ...] = (
        ExploitabilityThreshold(form.target_pct),
        LastResort(iterations + MAX_ITERATIONS),
    )
    return rules if form.max_seconds is None else (*rules, TimeLimit(form.max_seconds))


def _ending(outcome: TrainingOutcome, reached: float, form: SpotForm, commands: Commands) -> Ending:
    where = _where(reached, form)
    if outcome.reason == "interrupted":
        return Ending(commands.ending or "interrupted", where)
    if outcome.reason == "time":
        return Ending("done", f"the time of {duration(form.max_seconds)} is up: {where}")
    if outcome.reason == "iterations":
        return Ending("done", f"{outcome.progress.iteration:,} iterations are done: {where}")
    return Ending("done", where)


def _where(reached: float, form: SpotForm) -> str:
    target = (
        f"the target of {form.target_pct:g} % is {'' if reached <= form.target_pct else 'not '}"
    )
    return f"{figure(reached)} % of the pot, {target}reached"
