"""Reviewing played hands under the server's control, by the code of `allstreets review`."""

import time
from pathlib import Path

from allstreets.base import InputError
from allstreets.explorer.models.solves import SolveProgress, SolveState
from allstreets.explorer.solves.commands import Commands
from allstreets.explorer.solves.folders import Request, SolveFolder
from allstreets.explorer.solves.outlet import Ending, Outlet
from allstreets.explorer.solves.reports import Report
from allstreets.hands import read_hands
from allstreets.jobs import COMPILING, must_announce
from allstreets.review import Effort, ReviewProgress, load_games, plan_review

STORE_SECONDS = 5.0  # between two notes of how far it is, for servers to come
BEGIN = "opening the solutions and reading the hands"


def review_played(
    folder: SolveFolder, request: Request, commands: Commands, outlet: Outlet
) -> Ending:
    """Review hands, or go on where an earlier process was stopped."""
    source = request.review
    assert source is not None
    outlet.send(Report(note=COMPILING if must_announce("review") else BEGIN))
    job = plan_review(
        read_hands([folder.hands]),
        load_games([Path(one) for one in source.folders]),
        source.hero or None,
        effort=Effort(source.target_pct / 100, source.seconds_per_spot),
        output=folder.solution,
        name=source.name,
    )
    if not job.hands:
        reasons = sorted({one.reason for one in job.skipped})
        raise InputError(f"no hand can be reviewed: {'; '.join(reasons[:3])}")
    course = ReviewCourse(outlet)
    outcome = job.run([course], commands)
    course.store()
    done = f"{len(outcome.hands):,} of {outcome.total:,} hands are reviewed"
    if outcome.interrupted:
        return Ending(commands.ending or "interrupted", f"{done} and kept")
    return Ending("done", done)


class ReviewCourse:
    """What a review calls after every hand."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._latest: SolveProgress | None = None
        self._stored_at = 0.0  # monotonic seconds

    def __call__(self, progress: ReviewProgress) -> None:
        """Report how far it is."""
        self._latest = _described(progress)
        state: SolveState = "paused" if progress.paused else "running"
        note = "" if progress.hand is None else f"{progress.loss_bb:.2f} bb lost so far"
        self._outlet.send(Report(state=state, progress=self._latest, note=note))
        if time.monotonic() >= self._stored_at + STORE_SECONDS:
            self.store()

    def store(self) -> None:
        """Note how far it is, for a server that is started later."""
        if self._latest is not None:
            self._outlet.keep(self._latest)
            self._stored_at = time.monotonic()


def _described(progress: ReviewProgress) -> SolveProgress:
    fresh = progress.done - progress.before
    return SolveProgress(
        iteration=progress.done,
        total=progress.total,
        seconds=progress.seconds,
        iterations_per_second=fresh / progress.seconds if fresh and progress.seconds else None,
        eta_seconds=progress.eta_seconds,
        exploitability=None,
        memory_bytes=None,
    )
