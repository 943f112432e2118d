"""Reviews started from the page: the request, checked before the review starts.

Hand histories come from anywhere, and one that keeps the interpreter busy would block the whole
server. So a separate process reads them, with a time limit (`hand_reader`). One text is read at a
time, so that the server and the machine keep working, however many are sent.
"""

import json
import subprocess
import sys
from threading import Lock

from allstreets.base import InputError
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError, FormError, Problem
from allstreets.explorer.models.study import ReviewForm, ReviewSource
from allstreets.explorer.solves.process import environment
from allstreets.storage import folder_kind

MODULE = "allstreets.explorer.solves.hand_reader"
READ_SECONDS = 120.0  # as many hands in PHH as a form takes are read in half of that
_reading = Lock()


def read_review(form: ReviewForm, library: Library) -> ReviewSource:
    """The review that a form asks for; a `FormError` where it is impossible."""
    folders = [library.folder(solution) for solution in form.solutions]
    problems = [
        Problem(message=f"{folder.name} is not a whole game: choose one", field="solutions")
        for folder in folders
        if folder_kind(folder) != "unified"
    ]
    hands = 0
    try:
        hands = count_hands(form.text)
    except BusyError:
        raise
    except InputError as error:
        problems.append(Problem(message=str(error), field="text"))
    if problems:
        raise FormError(problems)
    return ReviewSource(
        name=" ".join(form.name.split()) or f"{hands:,} hands",
        hero=form.hero.strip(),
        seconds_per_spot=form.seconds_per_spot,
        target_pct=form.target_pct,
        folders=[str(folder) for folder in folders],
    )


def count_hands(text: str, seconds: float = READ_SECONDS, module: str = MODULE) -> int:
    """Count the hands of a text; an `InputError`: it has none, or takes too long to read."""
    if not _reading.acquire(blocking=False):
        raise BusyError("another text is being read: start this review when that one has started")
    try:
        # -P: nothing is imported from the folder in which the server was started.
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
    if not answer["hands"]:
        reasons = "; ".join(f"{count:,} × {reason}" for reason, count in answer["reasons"])
        raise InputError(f"no hand of this text can be reviewed: {reasons}")
    return int(answer["hands"])
