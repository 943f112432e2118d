"""One writer per folder: a claim that ends with its process, however the process ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from allstreets.base import InputError, Place, Remote

LOCK_NAME = ".lock"


class HeldError(InputError):
    """Another process writes to the folder."""


@contextmanager
def claim(folder: Place) -> Iterator[None]:
    """Hold `folder` as its only writer; a `HeldError` when another process holds it.

    The lock belongs to an open file, so the system releases it when the process is killed and
    no stale lock is left. Where the platform has no such locks the claim is not checked, nor is it
    for a folder elsewhere. A folder that was made for it and is empty in the end is removed.
    """
    if isinstance(folder, Remote):
        yield
        return
    made = _missing(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(
            f"cannot write to the folder {folder}: {error.strerror}; name another folder"
        ) from None
    try:
        _lock(descriptor, folder)
        try:
            yield
        finally:
            _leave_nothing_empty(folder, made)
    finally:
        os.close(descriptor)


def _missing(folder: Path) -> list[Path]:
    """The folder and its missing parents, from the inside out."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _leave_nothing_empty(folder: Path, made: list[Path]) -> None:
    """Remove the folders that were made but stayed empty."""
    with suppress(OSError):
        if made and [path.name for path in folder.iterdir()] == [LOCK_NAME]:
            (folder / LOCK_NAME).unlink()
            for path in made:
                path.rmdir()


def _lock(descriptor: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise HeldError(
            f"another run is writing to {folder}; wait for it to end or name another folder"
        ) from None
    except OSError:  # a file system without locks
        return
    if not os.fstat(descriptor).st_nlink:  # the holder has just removed it with its folder
        raise HeldError(f"another run has just left {folder}; try again")
