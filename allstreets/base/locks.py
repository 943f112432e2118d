"""Locks between processes: files that one process at a time can hold."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Wait for the lock file `path`, and hold it.

    The lock belongs to an open file, so it is freed when its process ends, however it ends. On a
    system without such locks nothing waits: at worst the same work is done twice.
    """
    descriptor = _locked(path)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def share(path: Path) -> None:
    """Hold the lock file `path` together with others, until the process ends."""
    _locked(path, shared=True)


def is_held(path: Path) -> bool:
    """Whether some process holds or shares the lock file `path`; where that is unknown, yes."""
    descriptor = _locked(path, wait=False)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def _locked(path: Path, *, shared: bool = False, wait: bool = True) -> int | None:
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except (ImportError, OSError):  # Windows; a folder that cannot be written
        return None
    try:
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, how if wait else how | fcntl.LOCK_NB)
    except OSError:  # held by another process, or a file system without locks
        os.close(descriptor)
        return None
    return descriptor
