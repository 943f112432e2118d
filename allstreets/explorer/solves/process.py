"""The server's side of a solving process: start it, receive its reports, send it commands."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

import allstreets
from allstreets.explorer.solves.folders import SolveFolder
from allstreets.explorer.solves.reports import Command, Report

MODULE = "allstreets.explorer.solves.worker"


class SolvingProcess:
    """A process that solves the spot of one folder.

    `receive` is called with every report and `ended` once with the exit code, both from a thread.
    """

    def __init__(
        self,
        folder: SolveFolder,
        receive: Callable[[Report], None],
        ended: Callable[[int], None],
    ) -> None:
        self._receive, self._ended = receive, ended
        # -P: the folder that the server was started in is no place to import from.
        command = [sys.executable, "-P", "-m", MODULE, str(folder.path.resolve())]
        with folder.log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
                start_new_session=True,  # Ctrl-C is for the server, which ends this one in order
            )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def number(self) -> int:
        """The process id."""
        return self._process.pid

    def send(self, command: Command) -> None:
        """Give a command; a process that has just ended ignores it."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # ValueError: the pipe is closed
            self._process.stdin.write(f"{command}\n".encode())
            self._process.stdin.flush()

    def leave(self) -> None:
        """Signal that the server ends: the process saves and ends by itself."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def wait(self, seconds: float) -> bool:
        """Whether it ends within so many seconds, all its reports received."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with suppress(ValidationError):  # a line that was cut off by its death
                self._receive(Report.model_validate_json(line))
        self._process.stdout.close()
        code = self._process.wait()
        self.leave()
        self._ended(code)


def environment() -> dict[str, str]:
    """That of the server; the process finds the same package, wherever it was imported from."""
    home = str(Path(allstreets.__file__).parents[1])
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([home, others] if others else [home])}
