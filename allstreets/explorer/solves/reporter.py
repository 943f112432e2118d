"""The solving process's side of the exchange: commands come in, reports go out.

Reports go to the server; facts for servers that start later go into the folder.
"""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import FrameType

from allstreets.base import SIGNALS, Control, listen_to_parent
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import SolveProgress, SolveState
from allstreets.explorer.solves.folders import Request, SolveFolder, Status
from allstreets.explorer.solves.process import Report

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
    """The end of a solve, for people."""

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
        """Store the progress for a server that starts later, `every` so many seconds."""
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
