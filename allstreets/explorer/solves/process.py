"""The server's side of a solving process: its reports, the commands to it, and its end.

The process writes one JSON object per line to its stdout, each with the changes. It reads one word
per line from its stdin; the end of its stdin is the end of the server.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

import allstreets
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import SolveProgress, SolveState
from allstreets.explorer.solves.folders import LIVE_STATES, Request, SolveFolder, Status

MODULE = "allstreets.explorer.solves.worker"
Command = Literal["pause", "resume", "stop"]


class Report(BaseModel):
    """Changes since the last report; None: unchanged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: SolveState | None = None
    progress: SolveProgress | None = None
    points: list[CurvePoint] = []
    note: str | None = None  # "": none any more
    saves: int | None = None
    reason: str | None = None
    error: str | None = None

    def line(self) -> bytes:
        """The line that is written for it."""
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"


class Running:
    """A solve with a process: its reports so far; guarded by the lock of its owner.

    `receive` is called with every report and `ended` once with the exit code, both from a thread.
    """

    def __init__(
        self,
        folder: SolveFolder,
        request: Request,
        need_bytes: int,
        receive: Callable[["Running", Report], None],
        ended: Callable[["Running", int], None],
    ) -> None:
        self.folder, self.request, self.need_bytes = folder, request, need_bytes
        before = folder.status() or Status(run=0, state="starting")
        self.status = before.at("starting", run=request.run)
        self.points: list[CurvePoint] = folder.curve()
        self.note: str | None = None
        self.over = False
        self._last_words: SolveState | None = None
        self._killed: SolveState | None = None  # the state after a kill of ours
        self._received, self._ended = receive, ended
        # -P: nothing is imported from the folder in which the server was started.
        command = [sys.executable, "-P", "-m", MODULE, str(folder.path.resolve())]
        with folder.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
                start_new_session=True,  # Ctrl-C is for the server, which ends this one in order
            )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def send(self, command: Command) -> None:
        """Send a command; a process that has just ended ignores it."""
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):  # ValueError: the pipe is closed
            self.process.stdin.write(f"{command}\n".encode())
            self.process.stdin.flush()

    def leave(self) -> None:
        """Signal that the server ends: the process saves and ends by itself."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()

    def wait(self, seconds: float) -> bool:
        """Whether it ends within so many seconds, all its reports received."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValidationError):  # a line that was cut off by its death
                self._received(self, Report.model_validate_json(line))
        self.process.stdout.close()
        code = self.process.wait()
        self.leave()
        self._ended(self, code)

    def receive(self, report: Report) -> None:
        """Apply the changes of a report."""
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
        """Kill the process: before its first iteration there is nothing to wait for."""
        self._killed = state
        self.process.kill()

    def end(self, code: int) -> None:
        """The process is gone; without a final report its exit code decides."""
        self.over, self.note = True, None
        if self._last_words is not None:
            self.status = self.status.model_copy(update={"state": self._last_words})
        elif self._killed is not None:
            self.status = self.status.at(self._killed, f"{self._killed} before the first iteration")
        elif code < 0:
            self.status = self.status.at("interrupted", _killed_by(-code))
        else:
            error = f"the solving process ended with code {code}; see {self.folder.log}"
            self.status = self.status.at("failed", error=error)
        status = self.status
        self.request = self.request.at(status.state, status.reason, status.error)


def environment() -> dict[str, str]:
    """The server's environment, in which the process finds the same package."""
    home = str(Path(allstreets.__file__).parents[1])
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([home, others] if others else [home])}


def _killed_by(number: int) -> str:
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    memory = "; perhaps memory ran out" if name == "SIGKILL" else ""
    return f"the solving process was ended by {name}{memory}; it can be resumed from its last save"
