"""Deleting solutions of a library: into the trash, and never while they are in use."""

from pathlib import Path

from allstreets.base import InputError
from allstreets.explorer.folders import Signature
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError, MissingError
from allstreets.explorer.models.params import SolutionId
from allstreets.explorer.models.solution import Trashed
from allstreets.explorer.solves.manager import Solves
from allstreets.explorer.trash import Trash
from allstreets.storage import LOCK_NAME, SPOTS, claim


class Deleting:
    """Any number of threads may use it."""

    def __init__(self, library: Library, solves: Solves) -> None:
        self._library, self._solves = library, solves
        self.trash = Trash(library.folders)

    def delete(self, solution: SolutionId) -> Trashed:
        """Move a solution to the trash of its folder."""
        folder = self._library.folder(solution)
        if Signature.of(folder) is None:
            raise MissingError(f"{folder} contains no solution, so it is not deleted here")
        card = next((card for card in self._library.cards() if card.id == solution), None)
        name = folder.name if card is None else card.name
        if card is not None and card.part_of is not None:
            raise BusyError(
                f"{name} was solved together with other spots, and their table needs it: delete "
                f"the whole set, {folder.parent}"
            )
        solve = self._solves.solve_of(folder)  # goes with it, and a set with all its spots
        if solve is not None and folder.parent.name != SPOTS:
            return self._solves.delete(solve)
        with self._solves.resting(folder):
            require_no_writer(folder)
            return self.trash.put(folder, name)


def require_no_writer(folder: Path) -> None:
    """Refuse a folder that a process writes to, or to a folder in it."""
    for lock in (folder / LOCK_NAME, *folder.rglob(LOCK_NAME)):
        if not lock.is_file() or lock.is_symlink():
            continue
        try:
            with claim(lock.parent):
                continue
        except InputError:
            raise BusyError(
                f"a run writes to {lock.parent}: it can be deleted when that has ended"
            ) from None
