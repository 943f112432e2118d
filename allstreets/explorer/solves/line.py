"""Solves that wait for those before them, first come first served."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from allstreets.explorer.models.solves import SolveState
from allstreets.explorer.solves.folders import SolveFolder

OUT_OF_LINE = "taken out of the line before its turn came"


@dataclass(frozen=True)
class Waiting:
    """A solve in the line."""

    folder: SolveFolder
    need_bytes: int


class Line:
    """Guarded by the lock of its owner. What waits is told in its folder, too."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._waiting)

    def place(self, name: str) -> int | None:
        """Where a solve stands, from 1; None: it does not wait."""
        names = [one.folder.id for one in self._waiting]
        return names.index(name) + 1 if name in names else None

    def join(self, folder: SolveFolder, need_bytes: int) -> None:
        """Stand at the end."""
        conclude(folder, "waiting")
        self._waiting.append(Waiting(folder, need_bytes))

    def turn(self) -> Waiting:
        """Who comes first, and leaves the line with that."""
        return self._waiting.pop(0)

    def leave(self, name: str) -> None:
        """Give up before the turn has come."""
        waiting = next(one for one in self._waiting if one.folder.id == name)
        self._waiting.remove(waiting)
        conclude(waiting.folder, "stopped", reason=OUT_OF_LINE)


def conclude(
    folder: SolveFolder, state: SolveState, reason: str | None = None, error: str | None = None
) -> None:
    """Tell what became of a solve without a process."""
    request = folder.request()
    if request is not None:  # nobody has deleted it meanwhile
        with suppress(OSError):  # a full disk: the next server works out the state
            folder.write(
                request.model_copy(update={"state": state, "reason": reason, "error": error})
            )
