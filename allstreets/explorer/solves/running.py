"""A solve that is running: what its process has reported so far, and what its end means."""

import signal

from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import SolveState
from allstreets.explorer.solves.folders import LIVE_STATES, Request, SolveFolder, Status
from allstreets.explorer.solves.process import SolvingProcess
from allstreets.explorer.solves.reports import Report


class Running:
    """Where a solve with a process stands; guarded by the lock of its owner."""

    def __init__(self, folder: SolveFolder, request: Request, need_bytes: int) -> None:
        self.folder, self.request, self.need_bytes = folder, request, need_bytes
        before = folder.status() or Status(run=0, state="starting")
        self.status = before.model_copy(
            update={"run": request.run, "state": "starting", "reason": None, "error": None}
        )
        self.points: list[CurvePoint] = folder.curve()
        self.note: str | None = None
        self.process: SolvingProcess | None = None
        self.over = False
        self._last_words: SolveState | None = None
        self._killed: SolveState | None = None  # the state after a kill of ours

    def receive(self, report: Report) -> None:
        """Take in what has changed."""
        changes = report.model_dump(exclude_none=True, include={"saves", "reason", "error"})
        if report.state in LIVE_STATES:
            # After the command to stop, reports from before it do not count.
            if self.status.state != "stopping":
                changes["state"] = report.state
        elif report.state is not None:
            self._last_words = report.state  # valid once the process has ended
        if report.progress is not None:
            changes["progress"] = report.progress
        self.status = self.status.model_copy(update=changes)
        self.points = [*self.points, *report.points]
        if report.note is not None:
            self.note = report.note or None

    def kill(self, state: SolveState) -> None:
        """End the process at once: before its first iteration there is nothing to wait for."""
        assert self.process is not None
        self._killed = state
        self.process.kill()

    def end(self, code: int) -> None:
        """The process is gone; without a final report its exit code decides."""
        self.over, self.note = True, None
        if self._last_words is not None:
            self.status = self.status.model_copy(update={"state": self._last_words})
        elif self._killed is not None:
            self._close(self._killed, reason=f"{self._killed} before the first iteration")
        elif code < 0:
            self._close("interrupted", reason=_killed_by(-code))
        else:
            error = f"the solving process ended with code {code}; see {self.folder.log}"
            self._close("failed", error=error)
        self.request = self.request.model_copy(
            update={key: getattr(self.status, key) for key in ("state", "reason", "error")}
        )

    def _close(
        self, state: SolveState, reason: str | None = None, error: str | None = None
    ) -> None:
        changes = {"state": state, "reason": reason, "error": error}
        self.status = self.status.model_copy(update=changes)


def _killed_by(number: int) -> str:
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    memory = "; perhaps memory ran out" if name == "SIGKILL" else ""
    return f"the solving process was ended by {name}{memory}; it can go on from its last save"
