"""Pieces of work for executors. Processes that do them import this file and nothing else."""

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from allstreets.jobs import StoppedError, piece_control


@dataclass(frozen=True)
class Piece:
    """A piece with a name."""

    name: str
    number: int


def tenth_power(number: float) -> float:
    """A number whose sums depend on their order."""
    return float(1.1 + number) ** 10 / 3


def inverse(piece: Piece) -> float:
    """Fails for 0."""
    return 1 / piece.number


def same(number: int) -> int:
    """Its argument."""
    return number


def wait_for_the_end(number: int) -> int:
    """A piece that takes forever unless it is to stop."""
    while number and not piece_control().wants_to_stop():
        time.sleep(0.01)
    if number:
        raise StoppedError
    return number


@dataclass(frozen=True)
class Deaf:
    """Pieces of which one ends at once when the other has begun, which never ends."""

    begun: Path

    def __call__(self, number: int) -> int:
        if number:
            self.begun.write_text(str(os.getpid()))
            threading.Event().wait()
        while not (self.begun.is_file() and self.begun.read_text()):
            time.sleep(0.01)
        return number


@dataclass(frozen=True)
class Dying:
    """Squares numbers; on one of them its process is killed several times."""

    folder: Path
    number: int
    times: int

    def __call__(self, number: int) -> int:
        if number == self.number:
            deaths = len(list(self.folder.iterdir()))
            if deaths < self.times:
                (self.folder / str(deaths)).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return number * number
