"""One writer per folder: a claim that ends with its process, however that ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
    for a folder elsewhere.
    """
    if isinstance(folder, Remote):
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(
            f"cannot write to the folder {folder}: {error.strerror}; name another folder"
        ) from None
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


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
