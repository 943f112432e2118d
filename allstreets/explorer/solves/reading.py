"""The server's side of reading pasted hand histories: in a process of its own, for a limited time.

One text is read at a time, so that however many are sent, the server and the machine go on.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from threading import Lock

from allstreets.base import InputError
from allstreets.explorer.errors import BusyError
from allstreets.explorer.solves.process import environment

MODULE = "allstreets.explorer.solves.hand_reader"
READ_SECONDS = 120.0  # as many hands in PHH as a form takes are read in half of that
_reading = Lock()


@dataclass(frozen=True)
class HandCount:
    """What a text holds."""

    hands: int
    reasons: tuple[tuple[str, int], ...]  # why hands were skipped and how many: the most frequent


def count_hands(text: str, seconds: float = READ_SECONDS, module: str = MODULE) -> HandCount:
    """Look what is in a text; an `InputError` where nobody can, or not within some seconds."""
    if not _reading.acquire(blocking=False):
        raise BusyError("another text is being read: begin this review when that one has begun")
    try:
        # -P: the folder that the server was started in is no place to import from.
        done = subprocess.run(
            [sys.executable, "-P", "-m", module],
            input=text.encode(errors="replace"),
            capture_output=True,
            env=environment(),
            timeout=seconds,  # then it is killed, whatever it does
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"this text takes longer than {seconds:g} s to read: paste fewer hands"
        ) from None
    finally:
        _reading.release()
    if done.returncode:
        raise InputError(
            f"this text cannot be read: its reader ended with code {done.returncode}; paste fewer "
            "hands"
        )
    answer = json.loads(done.stdout)
    if answer["error"] is not None:
        raise InputError(answer["error"])
    return HandCount(answer["hands"], tuple((reason, count) for reason, count in answer["reasons"]))
