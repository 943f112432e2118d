"""The exchange between the server and a solving process, both sides of it.

The process writes one JSON object per line to its stdout, each with what has changed; what a server
that is started later must know goes into the folder (`Reporter`). It reads one word per line from
its stdin (`Commands`); the end of its stdin is the end of the server. `Running` is the server's
side: the reports so far, the commands, and what the end of the process means.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

import allstreets
from allstreets.base import SIGNALS, Control, listen_to_parent
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
        """Signal that the server ends: the process saves and then ends."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()

    def wait(self, seconds: float) -> bool:
        """Whether it ends within some `seconds`, all its reports received."""
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


REPORT_SECONDS = 0.2  # between two reports of progress alone


class Commands(Control):
    """The server's commands: to pause, to resume, or to end."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = False
        self.ending: SolveState | None = None  # "stopped" by the user, "interrupted" by the server

    def is_paused(self) -> bool:
        """Whether to wait before the next iteration."""
        return self._paused and self.ending is None

    def wants_to_stop(self) -> bool:
        """Whether to save and end."""
        return self.ending is not None

    def listen(self, source: int) -> None:
        """Take commands from a file descriptor, and signals to end the process."""
        for number in SIGNALS:
            signal.signal(number, self._terminate)
        listen_to_parent(self.take, self._interrupt, source)

    def take(self, word: str) -> None:
        """One command; unknown words are ignored."""
        with self._changed:
            if word in ("pause", "resume"):
                self._paused = word == "pause"
            elif word == "stop":
                self.ending = self.ending or "stopped"
            self._changed.notify_all()

    def wait_while_paused(self) -> None:
        """Return when the solve may resume, or has to end."""
        with self._changed:
            self._changed.wait_for(lambda: not self.is_paused())

    def _terminate(self, _: int, __: FrameType | None) -> None:
        self._interrupt()

    def _interrupt(self) -> None:
        with self._changed:  # may be taken twice by one thread: a signal comes at any moment
            self.ending = self.ending or "interrupted"
            self._changed.notify_all()


class Channel:
    """Reports to the server. When it is gone, reports are dropped and the work continues."""

    def __init__(self, target: int) -> None:
        self._target = target

    @classmethod
    def take_stdout(cls) -> "Channel":
        """Reserve stdout for reports: other output goes to the log with stderr."""
        sys.stdout.flush()
        target = os.dup(1)
        os.dup2(2, 1)
        return cls(target)

    def send(self, report: Report) -> None:
        """Send the changes to the server."""
        line = report.line()
        with suppress(OSError):
            while line:
                line = line[os.write(self._target, line) :]


@dataclass(frozen=True)
class Ending:
    """The end of a solve, in words."""

    state: SolveState
    reason: str | None = None
    error: str | None = None


class Reporter:
    """Reports events to the server, and stores them in the folder of the solve."""

    def __init__(self, folder: SolveFolder, request: Request, channel: Channel) -> None:
        self._folder, self._request, self._channel = folder, request, channel
        earlier = folder.status() or Status(run=0, state="starting")
        self._saves, self._progress = earlier.saves, earlier.progress
        self._points: list[CurvePoint] = []  # that the server does not have yet
        self._paused = False  # as far as the server knows
        self._reported_at = self._stored_at = 0.0  # monotonic seconds

    def note(self, text: str) -> None:
        """Report a step before there is progress."""
        self._channel.send(Report(note=text))

    def add(self, point: CurvePoint) -> None:
        """Send a point of the curve with the next report."""
        self._points.append(point)

    def report(
        self, progress: SolveProgress, *, paused: bool = False, note: str = "", now: bool = False
    ) -> None:
        """Report progress, at most a few times per second, and whenever it pauses or resumes."""
        late = time.monotonic() >= self._reported_at + REPORT_SECONDS
        if now or late or paused != self._paused:
            self._paused, self._reported_at = paused, time.monotonic()
            points, self._points = self._points, []
            state: SolveState = "paused" if paused else "running"
            self._channel.send(Report(state=state, progress=progress, points=points, note=note))

    def store(self, progress: SolveProgress | None = None, every: float = 0.0) -> None:
        """Store the progress every few seconds (`every`), for a server that starts later."""
        self._progress = progress or self._progress
        if time.monotonic() >= self._stored_at + every:
            self._stored_at = time.monotonic()
            self._store(Ending("running"))

    def saved(self, progress: SolveProgress) -> None:
        """A bundle has been brought up to date."""
        self._saves += 1
        self.store(progress)
        points, self._points = self._points, []
        self._channel.send(Report(saves=self._saves, progress=progress, points=points))

    def end(self, ending: Ending) -> None:
        """Store and report the end."""
        self._store(ending)
        self._channel.send(Report(note="", **asdict(ending)))

    def _store(self, ending: Ending) -> None:
        status = Status(
            run=self._request.run, saves=self._saves, progress=self._progress, **asdict(ending)
        )
        with suppress(OSError):  # the solution itself is safe
            self._folder.write(status)
