"""Locks between processes: files that one process at a time can hold."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Wait for the lock file `path`, and hold it.

    The lock belongs to an open file, so that it ends with its process, however that ends. Where
    there are no such locks, nothing waits: at worst the same work is done twice.
    """
    descriptor = _locked(path)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _locked(path: Path) -> int | None:
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except (ImportError, OSError):  # Windows; a folder that cannot be written
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:  # a file system without locks
        os.close(descriptor)
        return None
    return descriptor
