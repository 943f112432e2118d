"""Processes that end with the one that started them, which holds the other end of their input.

A process that is killed cannot tell its children. But the system closes its end of the pipe that is
their standard input, on every platform, and whoever reads there notices.
"""

import os
import threading
from collections.abc import Callable


def _end_at_once() -> None:
    os._exit(1)


def _ignore(_: str) -> None:
    pass


def listen_to_parent(
    take: Callable[[str], object] = _ignore,
    gone: Callable[[], object] = _end_at_once,
    source: int = 0,
) -> None:
    """Read standard input in a thread: `take` is called with each line, `gone` at its end.

    By default this process ends then, whatever it is doing.
    """

    def read() -> None:
        # Plain reads: a thread inside a buffered file would hold its lock when Python ends.
        waiting = b""
        while chunk := os.read(source, 4096):
            *lines, waiting = (waiting + chunk).split(b"\n")
            for line in lines:
                take(line.decode(errors="replace").strip())
        gone()

    threading.Thread(target=read, daemon=True).start()
