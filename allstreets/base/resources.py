"""Memory that this machine has left and this process takes, and how many threads a job may use."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from allstreets.base.errors import InputError

AT_LEAST = 64  # threads are allowed everywhere: a file may come from a larger machine
PER_PROCESSOR = 4


def available_bytes() -> int | None:
    """Memory that a new program may take on this machine or in this container; None = unknown."""
    limits = []
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(1024 * int(line.split()[1]))
    with suppress(OSError, ValueError):
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        limits.append(limit - int(Path("/sys/fs/cgroup/memory.current").read_text()))
    return min(limits) if limits else None


def machine_bytes() -> int | None:
    """All memory of this machine or container, in use or not; None = unknown."""
    limits = []
    with suppress(OSError, ValueError, AttributeError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits) if limits else None


def process_bytes() -> int | None:
    """Memory that the process occupies now (on systems without /proc: at most so far)."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except (OSError, IndexError, ValueError):
        return _peak_bytes()
    import resource

    return pages * resource.getpagesize()


def _peak_bytes() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(wanted: int | None, what: str = "threads") -> int:
    """The requested number, or one per processor; refuses numbers far beyond any machine.

    Each thread has its own memory, so an arbitrary number could exhaust it.
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
