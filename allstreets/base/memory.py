"""Memory that this machine has left."""

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
