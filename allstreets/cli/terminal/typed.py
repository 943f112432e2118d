"""Input from people and other programs: keys, files and standard input."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from allstreets.base import InputError


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


MOST_BYTES = 1_000_000


def read_text(path: Path) -> str:
    """The text of a file."""
    with path.open("rb") as file:
        return decoded(file.read(MOST_BYTES + 1), "the file")


def read_stdin() -> str:
    """The text that comes through a pipe."""
    return decoded(sys.stdin.buffer.read(MOST_BYTES + 1), "standard input")


def decoded(data: bytes, name: str) -> str:
    """The text in a file or a pipe; `name` is its name in messages."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} is larger than 1 MB; is it the right one?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name} is not UTF-8 text (line {line}): save it as UTF-8") from None
