"""Folders that were deleted: moved aside inside the opened folder, and back if that was a mistake.

OPENED/.trash/20261116-221500-3fa90b12/
    trashed.json    its name and its place
    content/        the folder

Nothing here is erased: to free the room, remove .trash by hand.
"""

import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from allstreets.base import (
    DamagedFileError,
    InputError,
    printable,
    read_json_object,
    typed_record,
    write_atomic,
)
from allstreets.explorer.models.base import BusyError, MissingError, path_text
from allstreets.explorer.models.solution import Trashed

TRASH = ".trash"
FACTS, CONTENT = "trashed.json", "content"
ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{8}")
SCHEMA = 1


@dataclass(frozen=True)
class _Facts:
    """trashed.json."""

    name: str
    folder: str  # in the opened folder
    deleted: float  # seconds since 1970


class Trash:
    """Deleted solutions of the opened folders."""

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
                f"{folder} was opened directly: open the folder above it to delete it here"
            )
        when = time.time() if now is None else now
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(when))
        slot = root / TRASH / f"{stamp}-{secrets.token_hex(4)}"
        before = str(folder.relative_to(root))
        if printable(before) != before:
            raise InputError(f"rename {folder} first: its name is not plain text")
        facts = {"version": SCHEMA, "name": name, "folder": before, "deleted": when}
        try:
            slot.mkdir(parents=True)
            text = json.dumps(facts, indent=1)
            write_atomic(slot / FACTS, lambda out: out.write(text.encode()))
            folder.rename(slot / CONTENT)
        except OSError as error:
            with suppress(OSError):
                (slot / FACTS).unlink(missing_ok=True)
                slot.rmdir()
            raise InputError(f"cannot move {folder} aside: {error.strerror}") from None
        return Trashed(id=slot.name, name=name, folder=path_text(folder), deleted=when)

    def list(self) -> list[Trashed]:
        """Deleted solutions that can be restored, the latest first."""
        trashed = [_described(root, slot) for root, slot in self._places()]
        return sorted(trashed, key=lambda item: (item.deleted, item.id), reverse=True)

    def restore(self, id: str) -> Path:
        """Restore a folder to its place."""
        for root, slot in self._places():
            if slot.name != id:
                continue
            try:
                target, _ = _read(root, slot)
            except InputError as error:
                raise InputError(f"{error}: move {slot / CONTENT} back by hand") from None
            if target.exists():
                raise BusyError(f"there is a new {target}: move it away first")
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                (slot / CONTENT).rename(target)
            except OSError as error:
                raise InputError(f"cannot bring {target} back: {error.strerror}") from None
            with suppress(OSError):
                (slot / FACTS).unlink()
                slot.rmdir()
            return target
        raise MissingError("it is not in the trash any more")

    def _places(self) -> Iterator[tuple[Path, Path]]:
        """The opened folder and the place in its trash of everything that was deleted."""
        for root in self._opened:
            try:
                places = [entry for entry in (root / TRASH).iterdir() if ID.fullmatch(entry.name)]
            except OSError:
                continue
            for slot in places:
                if (slot / CONTENT).is_dir():
                    yield root, slot


def _described(root: Path, slot: Path) -> Trashed:
    """A deleted solution; its origin is unknown if its facts are damaged."""
    try:
        target, facts = _read(root, slot)
        name, deleted = facts.name, facts.deleted
    except InputError as error:
        target, name, deleted = slot / CONTENT, str(error), 0.0
        with suppress(OSError):
            deleted = slot.stat().st_mtime
    return Trashed(id=slot.name, name=name, folder=path_text(target), deleted=deleted)


def _read(root: Path, slot: Path) -> tuple[Path, _Facts]:
    """The original path and facts of an item; an `InputError` says how they are damaged."""
    try:
        facts = typed_record(_Facts, read_json_object(slot / FACTS))
    except (OSError, DamagedFileError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{FACTS} is damaged ({why})") from None
    target = Path(os.path.normpath((root / facts.folder).absolute()))
    if root not in target.parents or "\0" in facts.folder:
        raise InputError(f"{FACTS} is damaged (it names a folder elsewhere)")
    return target, facts
