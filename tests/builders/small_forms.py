"""Forms of spots that are solved in a moment, or never."""

import fcntl
from typing import Any

from builders.small_spots import FLOP, RIVER, TURN

from allstreets.explorer.models.solves import SpotForm
from allstreets.explorer.solves.folders import SolveFolder
from allstreets.storage.claim import LOCK_NAME

STREETS = ("flop", "turn", "river")


def form(keys: dict[str, Any], **changes: Any) -> SpotForm:
    """The form of a spot that is given as a spot file gives it."""
    given = dict(keys)
    sizes = {"bet": ", ".join(given.pop("bets")), "raise": ", ".join(given.pop("raises"))}
    both = {"oop": sizes, "ip": sizes}
    return SpotForm.model_validate(
        {**given, "sizes": dict.fromkeys(STREETS, both), "target_pct": 0.3, **changes}
    )


def river(**changes: Any) -> SpotForm:
    """A river; a few hundred iterations a second and more."""
    return form(RIVER, **changes)


def turn(**changes: Any) -> SpotForm:
    """A turn."""
    return form(TURN, **changes)


def flop(**changes: Any) -> SpotForm:
    """A flop."""
    return form(FLOP, **changes)


def endless(**changes: Any) -> SpotForm:
    """A turn whose target is out of reach."""
    return turn(target_pct=1e-9, **changes)


def wait_for_writer(folder: SolveFolder) -> None:
    """Return when no process solves in a folder any more: its lock is let go of then."""
    with (folder.solution / LOCK_NAME).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
