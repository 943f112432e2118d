"""Memory that this machine has left, and that this process takes."""

import sys
from contextlib import suppress
from pathlib import Path


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
