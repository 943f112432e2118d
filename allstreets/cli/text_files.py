"""Texts that other programs wrote: files and standard input."""

import sys
from pathlib import Path

from allstreets.base import InputError

MOST_BYTES = 1_000_000


def read_text(path: Path) -> str:
    """The text of a file."""
    with path.open("rb") as file:
        return decoded(file.read(MOST_BYTES + 1), "the file")


def read_stdin() -> str:
    """The text that comes through a pipe."""
    return decoded(sys.stdin.buffer.read(MOST_BYTES + 1), "standard input")


def decoded(data: bytes, name: str) -> str:
    """The text of what a file or a pipe holds; `name` of it for messages."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} is larger than 1 MB; is it the right one?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name} is not UTF-8 text (line {line}): save it as UTF-8") from None
