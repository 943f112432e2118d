"""How many threads a job may use."""

import os

from allstreets.base.errors import InputError

AT_LEAST = 64  # threads are allowed everywhere: a file may come from a larger machine
PER_PROCESSOR = 4


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(wanted: int | None, what: str = "threads") -> int:
    """The requested number, or one per processor; refuses numbers far beyond any machine.

    Each thread has memory of its own, so an arbitrary number could exhaust it.
    """
    cores = processors()
    if wanted is None:
        return cores
    if wanted < 1:
        raise InputError(f"{what}: {wanted} is too few: give 1 or more")
    most = max(AT_LEAST, PER_PROCESSOR * cores)
    if wanted > most:
        here = "1 processor" if cores == 1 else f"{cores} processors"
        raise InputError(
            f"{what}: {wanted} is too many: this machine has {here}; give {most} at most"
        )
    return wanted
