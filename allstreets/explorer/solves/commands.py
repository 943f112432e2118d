"""The solving process's side of the exchange: commands come in, reports go out."""

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType

from allstreets.base import SIGNALS, Control, listen_to_parent
from allstreets.explorer.models.solves import SolveState
from allstreets.explorer.solves.reports import Report


class Commands(Control):
    """The server's commands: to pause, to go on, or to end."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = False
        self._ending: SolveState | None = None

    def is_paused(self) -> bool:
        """Whether to wait before the next iteration."""
        return self._paused and self._ending is None

    def wants_to_stop(self) -> bool:
        """Whether to save and end."""
        return self._ending is not None

    @property
    def ending(self) -> SolveState | None:
        """Whether to end: "stopped" by the user, "interrupted" by the end of the server."""
        return self._ending

    def listen(self, source: int) -> None:
        """Take commands from a file descriptor, and the system's signals to end the process."""
        for number in SIGNALS:
            signal.signal(number, self._terminate)
        listen_to_parent(self.take, self._interrupt, source)

    def take(self, word: str) -> None:
        """One command; unknown words are ignored."""
        with self._changed:
            if word in ("pause", "resume"):
                self._paused = word == "pause"
            elif word == "stop":
                self._ending = self._ending or "stopped"
            self._changed.notify_all()

    def wait_while_paused(self) -> None:
        """Return when the solve may go on, or has to end."""
        with self._changed:
            self._changed.wait_for(lambda: not self.is_paused())

    def _terminate(self, _: int, __: FrameType | None) -> None:
        self._interrupt()

    def _interrupt(self) -> None:
        with self._changed:  # may be taken twice by one thread: a signal comes at any moment
            self._ending = self._ending or "interrupted"
            self._changed.notify_all()


class Channel:
    """Reports to the server. When it is gone, reports are dropped and the work goes on."""

    def __init__(self, target: int) -> None:
        self._target = target

    @classmethod
    def take_stdout(cls) -> "Channel":
        """Reserve stdout for reports: whatever else is printed goes to the log with stderr."""
        sys.stdout.flush()
        target = os.dup(1)
        os.dup2(2, 1)
        return cls(target)

    def send(self, report: Report) -> None:
        """Send what has changed to the server."""
        line = report.line()
        with suppress(OSError):
            while line:
                line = line[os.write(self._target, line) :]
