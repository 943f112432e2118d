"""Folders that were deleted: moved aside inside the opened folder, and back if that was a mistake.

OPENED/.trash/20261116-221500-3fa90b12/
    trashed.json    what it was called, and where it was
    content/        the folder

Nothing here is erased: whoever needs the room removes .trash by hand.
"""

import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from allstreets.base import InputError, write_atomic
from allstreets.explorer.errors import BusyError, MissingError
from allstreets.explorer.models.solution import Trashed

TRASH = ".trash"
FACTS, CONTENT = "trashed.json", "content"
ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{8}")
SCHEMA = 1


class Trash:
    """What was deleted in the opened folders."""

    def __init__(self, opened: Sequence[Path]) -> None:
        self._opened = tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in opened))

    def put(self, folder: Path, name: str, now: float | None = None) -> Trashed:
        """Move a folder aside."""
        folder = Path(os.path.realpath(folder))
        root = max(
            (root for root in self._opened if root in folder.parents),
            key=lambda root: len(root.parts),
            default=None,
        )
        if root is None:
            raise BusyError(
                f"{folder} was opened by itself: open the folder above it to delete it here"
            )
        when = time.time() if now is None else now
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(when))
        place = root / TRASH / f"{stamp}-{secrets.token_hex(4)}"
        before = str(folder.relative_to(root))
        facts = {"version": SCHEMA, "name": name, "folder": before, "deleted": when}
        try:
            place.mkdir(parents=True)
            text = json.dumps(facts, indent=1)
            write_atomic(place / FACTS, lambda out: out.write(text.encode()))
            folder.rename(place / CONTENT)
        except OSError as error:
            with suppress(OSError):
                (place / FACTS).unlink(missing_ok=True)
                place.rmdir()
            raise InputError(f"cannot move {folder} aside: {error.strerror}") from None
        return Trashed(id=place.name, name=name, folder=str(folder), deleted=when)

    def list(self) -> list[Trashed]:
        """What can be brought back, the latest first."""
        found = [trashed for _, trashed in self._found()]
        return sorted(found, key=lambda one: (one.deleted, one.id), reverse=True)

    def restore(self, id: str) -> Path:
        """Bring a folder back to where it was."""
        for place, trashed in self._found():
            if trashed.id != id:
                continue
            target = Path(trashed.folder)
            if target.exists():
                raise BusyError(f"there is a new {target}: move it away first")
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                (place / CONTENT).rename(target)
            except OSError as error:
                raise InputError(f"cannot bring {target} back: {error.strerror}") from None
            with suppress(OSError):
                (place / FACTS).unlink()
                place.rmdir()
            return target
        raise MissingError("it is not in the trash any more")

    def _found(self) -> Iterator[tuple[Path, Trashed]]:
        for root in self._opened:
            try:
                places = [entry for entry in (root / TRASH).iterdir() if ID.fullmatch(entry.name)]
            except OSError:
                continue
            for place in places:
                with suppress(OSError, ValueError, KeyError, TypeError):
                    facts = json.loads((place / FACTS).read_bytes())
                    target = (root / str(facts["folder"])).absolute()
                    inside = root in Path(os.path.normpath(target)).parents
                    if inside and (place / CONTENT).is_dir():
                        yield (
                            place,
                            Trashed(
                                id=place.name,
                                name=str(facts["name"]),
                                folder=os.path.normpath(target),
                                deleted=float(facts["deleted"]),
                            ),
                        )
