"""Keys that are pressed one at a time, or piped in as text."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def key_reader() -> Iterator[Callable[[], str]]:
    """A function that waits for the next key; "" when there are no more.

    On a terminal a key counts when it is pressed. Of piped text every character is a key, spaces
    and line ends aside. The terminal is as before when this ends, however it does.
    """
    if not sys.stdin.isatty():
        yield _piped
        return
    try:
        import termios
        import tty
    except ImportError:  # Windows
        import msvcrt

        yield msvcrt.getwch  # type: ignore[attr-defined]
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield lambda: sys.stdin.read(1)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _piped() -> str:
    while (key := sys.stdin.read(1)).isspace():
        pass
    return key
