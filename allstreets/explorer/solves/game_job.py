"""Training one whole game under the server's control, by the code of `allstreets train`."""

import time

from allstreets.base import duration, figure
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import SolveProgress, SolveState
from allstreets.explorer.solves.commands import Commands
from allstreets.explorer.solves.folders import Request, SolveFolder
from allstreets.explorer.solves.games import plan_game
from allstreets.explorer.solves.outlet import REPORT_SECONDS, Ending, Outlet, describe
from allstreets.explorer.solves.reports import Report
from allstreets.jobs import COMPILING, Callbacks, Progress, UnifiedOutcome, must_announce
from allstreets.storage import has_checkpoints

SETUP = "grouping hands and building tables before the first iteration"


def train_game(folder: SolveFolder, request: Request, commands: Commands, outlet: Outlet) -> Ending:
    """Train a game, or go on from its checkpoints."""
    assert request.game is not None
    resume = has_checkpoints(folder.solution / "checkpoints")
    job = plan_game(request.game.text, folder.solution, resume=resume, locked=request.locked)
    note = COMPILING if must_announce(f"unified-{job.config.cards}") else SETUP
    outlet.send(Report(note=note))
    course = GameCourse(outlet)
    outcome = job.run(Callbacks(progress=(course,), control=commands))
    if outcome.unsaved is not None:
        return Ending("failed", error=outcome.unsaved)
    course.finish(outcome.training.progress)
    return _ending(outcome, commands)


class GameCourse:
    """The course of a training: what its loop calls between two iterations."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._checked_at = 0
        self._reported_at = 0.0  # monotonic seconds
        self._paused = False  # as far as the server knows

    def __call__(self, progress: Progress) -> None:
        """Report how far it is; every check is kept for servers to come."""
        points = self._new_points(progress)
        late = time.monotonic() >= self._reported_at + REPORT_SECONDS
        if points or late or progress.paused != self._paused:
            self._paused = progress.paused
            self._report(progress, "paused" if progress.paused else "running", points)
        if points:
            self._outlet.keep(_described(progress))

    def finish(self, progress: Progress) -> None:
        """The solution is saved."""
        self._report(progress, None, self._new_points(progress))
        self._outlet.saved(_described(progress))

    def _new_points(self, progress: Progress) -> list[CurvePoint]:
        check = progress.check
        if check is None or check.iteration <= self._checked_at:
            return []
        first = self._checked_at == 0 and check.iteration != progress.iteration
        self._checked_at = check.iteration
        return [] if first else [CurvePoint.of_check(check.to_row())]  # restored: known already

    def _report(
        self, progress: Progress, state: SolveState | None, points: list[CurvePoint]
    ) -> None:
        self._outlet.send(
            Report(state=state, progress=_described(progress), points=points, note="")
        )
        self._reported_at = time.monotonic()


def _described(progress: Progress) -> SolveProgress:
    metrics = progress.metrics
    return describe(progress, None if metrics is None else metrics.exploitability)


def _ending(outcome: UnifiedOutcome, commands: Commands) -> Ending:
    reached = outcome.figures.exploitability
    where = "" if reached is None else f": {figure(reached)} mbb/hand in its own game"
    iterations = f"{outcome.training.progress.iteration:,} iterations"
    match outcome.training.reason:
        case "interrupted":
            return Ending(commands.ending or "interrupted", f"saved after {iterations}{where}")
        case "time":
            limit = duration(outcome.job.config.time_limit_seconds)
            return Ending("done", f"the time of {limit} is up after {iterations}{where}")
        case "iterations":
            return Ending("done", f"all {iterations} are done{where}")
    return Ending("done", f"the threshold is reached after {iterations}{where}")
