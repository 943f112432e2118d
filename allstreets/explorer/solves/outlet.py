"""Where the results of a solving process go: reports to the server, files for servers to come."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from allstreets.explorer.models.solves import SolveProgress, SolveState
from allstreets.explorer.solves.commands import Channel
from allstreets.explorer.solves.flops import OriginOf
from allstreets.explorer.solves.folders import Request, SolveFolder, Status
from allstreets.explorer.solves.reports import Report
from allstreets.explorer.solves.spots import spot_name
from allstreets.jobs import Progress, TimeLimit
from allstreets.solutions import SpotSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import save_spot

REPORT_SECONDS = 0.2  # between two reports of progress alone


@dataclass(frozen=True)
class Ending:
    """How a solve ended, for people."""

    state: SolveState
    reason: str | None = None
    error: str | None = None


class Outlet:
    """Reports to the server what happens, and stores it in the folder of the solve."""

    def __init__(self, folder: SolveFolder, request: Request, channel: Channel) -> None:
        self._folder, self._request, self._channel = folder, request, channel
        earlier = folder.status() or Status(run=0, state="starting")
        self._saves, self._progress = earlier.saves, earlier.progress
        self.origin: OriginOf | None = None  # of what is saved

    def send(self, report: Report) -> None:
        """Send a report to the server."""
        self._channel.send(report)

    def save(
        self, solver: SpotSolver, progress: SolveProgress, rows: Sequence[dict[str, Any]]
    ) -> None:
        """Bring the bundle up to date."""
        assert progress.exploitability is not None
        locked = self._request.locked
        save_spot(
            solver,
            self._folder.solution,
            exploitability=progress.exploitability / 100,
            seconds=progress.seconds,
            metrics=rows,
            name=spot_name(self._request.spot),
            origin=None if self.origin is None else self.origin(SpotSolution.of(solver)),
            before=None if locked is None else locked.model_dump(include={"folder", "line"}),
        )
        self.saved(progress)

    def keep(self, progress: SolveProgress) -> None:
        """Store how far it is, for a server that is started later."""
        self._progress = progress
        self._store(Ending("running"))

    def saved(self, progress: SolveProgress) -> None:
        """A bundle has been brought up to date by somebody else."""
        self._saves += 1
        self.keep(progress)
        self.send(Report(saves=self._saves, progress=progress))

    def end(self, ending: Ending) -> None:
        """Store and report the end."""
        self._store(ending)
        self.send(Report(state=ending.state, note="", reason=ending.reason, error=ending.error))

    def _store(self, now: Ending) -> None:
        status = Status(
            run=self._request.run,
            state=now.state,
            reason=now.reason,
            error=now.error,
            saves=self._saves,
            progress=self._progress,
        )
        with suppress(OSError):  # the solution itself is safe
            self._folder.write(status)


def describe(
    progress: Progress, exploitability: float | None, earlier: float = 0.0
) -> SolveProgress:
    """Where a training stands; `earlier` seconds were those of the runs before this one."""
    left = [progress.eta_seconds, progress.target_eta_seconds]
    for rule in progress.rules:
        if isinstance(rule, TimeLimit):
            left.append(max(rule.seconds - progress.session_seconds, 0.0))
    return SolveProgress(
        iteration=progress.iteration,
        seconds=earlier + progress.seconds,
        iterations_per_second=progress.iterations_per_second,
        eta_seconds=min((each for each in left if each is not None), default=None),
        exploitability=exploitability,
        memory_bytes=progress.process_bytes or progress.solver_bytes,
    )
