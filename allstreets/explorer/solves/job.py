"""Solving one spot under the server's control: saved as it goes, paused, resumed, ended."""

import time
from typing import Any

from allstreets.base import duration, figure
from allstreets.engines import CPU
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import SolveProgress, SolveState, SpotForm
from allstreets.explorer.solves.commands import Commands
from allstreets.explorer.solves.flops import read_work
from allstreets.explorer.solves.folders import Request, SolveFolder
from allstreets.explorer.solves.outlet import REPORT_SECONDS, Ending, Outlet, describe
from allstreets.explorer.solves.reports import Report
from allstreets.explorer.solves.saving import SaveBudget, Thinned
from allstreets.games import device_bytes, estimate_spot, require_device_room
from allstreets.jobs import (
    COMPILING,
    ExploitabilityThreshold,
    LastResort,
    Progress,
    StopRule,
    TimeLimit,
    TrainingOutcome,
    mark_compiled,
    must_compile,
    train_spot,
)
from allstreets.solvers import SpotSolver
from allstreets.storage import restore_spot

MAX_ITERATIONS = 100_000  # in one run, where the target is out of reach


def solve(folder: SolveFolder, request: Request, commands: Commands, outlet: Outlet) -> Ending:
    """Solve a spot, or go on with it where the folder holds a bundle."""
    form, work = request.spot, read_work(request)
    config, spot = work.config, work.spot
    here = config.device == CPU
    if here and must_compile(spot, config.precision):
        outlet.send(Report(note=COMPILING))
    outlet.origin = work.origin()  # before the solver takes its memory
    if not here:
        stored = estimate_spot(spot, config.precision).memory_bytes
        require_device_room(config.device, device_bytes(stored))
    solver = SpotSolver(
        spot, config.algorithm, precision=config.precision, river_groups=config.river_groups,
        device=config.device,
    )  # fmt: skip
    course = Course(solver, outlet)
    if folder.has_solution:
        reached = course.restore(folder)
        if reached <= form.target_pct:
            return Ending("done", _where(reached, form))
    outcome = train_spot(
        solver,
        _rules(form, solver.iterations),
        before=course.rows,
        observers=[course],
        control=commands,
    )
    if here:
        mark_compiled(spot, config.precision)
    return _ending(outcome, course.finish(outcome.progress), form, commands)


class Course:
    """The course of a solve: what the training loop calls between two iterations."""

    def __init__(self, solver: SpotSolver, outlet: Outlet) -> None:
        self._solver, self._outlet = solver, outlet
        self._budget = SaveBudget(solver.memory_bytes)
        self._rows = Thinned()
        self._unreported: list[dict[str, Any]] = []  # rows that the server does not have yet
        self._began_at = self._checked_at = self._saved_at = 0  # iterations
        self._seconds_before = 0.0  # of the runs before this one
        self._reported_at = 0.0  # monotonic seconds
        self._paused = False  # as far as the server knows
        self._exploitability: float | None = None  # % of pot, as far as it is known

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The checks so far, those of the runs before this one included."""
        return self._rows.rows()

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
        """Record the figures, save, and report how far it is."""
        self._take_check(progress)
        if progress.iteration == self._began_at or progress.holding:
            return
        if progress.paused:
            self._report(progress, "paused")
            self._save(progress)  # so that it can be viewed meanwhile
        else:
            if progress.fresh_metrics is not None and self._budget.due():
                self._save(progress)
            if self._paused or time.monotonic() >= self._reported_at + REPORT_SECONDS:
                self._report(progress, "running")
        self._paused = progress.paused

    def finish(self, progress: Progress) -> float:
        """The last save; returns the exploitability of what is stored, in % of the pot."""
        if self._rows.latest is not None:
            self._unreported.append(self._rows.latest)
        self._report(progress, None, "saving")
        return self._save(progress)

    def _take_check(self, progress: Progress) -> None:
        check = progress.check
        if check is None or check.iteration <= self._checked_at:
            return
        self._checked_at = check.iteration
        self._exploitability = check.metrics.exploitability
        row = {**check.to_row(), "seconds": self._seconds_before + check.seconds}
        if self._rows.add(row):
            self._unreported.append(row)

    def _save(self, progress: Progress) -> float:
        """Save what is not saved yet; returns its exploitability, in % of the pot."""
        if progress.fresh_metrics is None:  # the latest check lies a few iterations back
            self._exploitability = 100 * self._solver.exploitability() / self._solver.spot.pot
        assert self._exploitability is not None
        if progress.iteration > self._saved_at:
            began = time.monotonic()
            self._outlet.save(self._solver, self._describe(progress), self.rows)
            self._saved_at = progress.iteration
            self._budget.saved(time.monotonic() - began)
        return self._exploitability

    def _report(self, progress: Progress, state: SolveState | None, note: str = "") -> None:
        points, self._unreported = [CurvePoint.of_check(row) for row in self._unreported], []
        described = self._describe(progress)
        self._outlet.send(Report(state=state, progress=described, points=points, note=note))
        self._reported_at = time.monotonic()

    def _describe(self, progress: Progress) -> SolveProgress:
        return describe(progress, self._exploitability, self._seconds_before)


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
