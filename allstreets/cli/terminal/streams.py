"""Standard output and error that are safe to write to, and input from people and other programs.

Output may be closed, ASCII only, or on a full disk; input is keys, files and standard input.
"""

import codecs
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from io import TextIOWrapper
from pathlib import Path

from allstreets.base import InputError, decode_text

PLAIN_ERRORS = "allstreets-plain"
PLAIN_ASCII = "allstreets-ascii"

# Replacements for characters that a terminal cannot show and that do not decompose.
PLAIN = {
    "…": "...",
    "−": "-",
    "–": "-",
    "·": "*",
    "×": "x",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "∞": "inf",
    "√": "sqrt",
    "Σ": "sum",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "─": "-",
    "│": "|",
    "├": "|",
    "└": "`",
    "░": ".",
}
MOST_BYTES = 1_000_000


def plain(text: str) -> str:
    """A text in ASCII with the same meaning; other characters become a question mark.

    >>> plain("├─ 2 × 3 … AK·é█")
    '|- 2 x 3 ... AK*e#'
    """
    return "".join(_plain_character(character) for character in text)


def _plain_character(character: str) -> str:
    if character.isascii():
        return character
    if character in PLAIN:
        return PLAIN[character]
    if "\u2580" <= character <= "\u259f":  # blocks, which fill bars and cells
        return "#"
    bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return bare or "?"


def prepare_streams() -> None:
    """Make both streams exist and accept any text."""
    _register()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell: >&-
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))
        elif isinstance(stream, TextIOWrapper):
            ascii_only = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(
                encoding=PLAIN_ASCII if ascii_only else stream.encoding, errors=PLAIN_ERRORS
            )


@cache
def _register() -> None:
    codecs.register_error(PLAIN_ERRORS, _degrade)
    codecs.register(_plain_ascii)


def _plain_ascii(name: str) -> codecs.CodecInfo | None:
    """ASCII by another name: under its own name Python assumes a mistake and writes UTF-8."""
    if name.replace("_", "-") != PLAIN_ASCII:
        return None
    ascii_codec = codecs.lookup("ascii")
    return codecs.CodecInfo(
        ascii_codec.encode,
        ascii_codec.decode,
        ascii_codec.streamreader,
        ascii_codec.streamwriter,
        ascii_codec.incrementalencoder,
        ascii_codec.incrementaldecoder,
        name=PLAIN_ASCII,
    )


def _degrade(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end


def output_fault() -> OSError | None:
    """The reason why standard output accepts no more, if any: an OSError does not name its file."""
    try:
        os.write(sys.stdout.fileno(), b"\n")
    except OSError as error:
        return error
    return None


def give_up_output() -> None:
    """Discard unwritten output, so that Python does not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def key_reader() -> Iterator[Callable[[], str]]:
    """A function that waits for the next key; "" when there are no more.

    On a terminal a key counts when it is pressed. In piped text every character is a key, except
    spaces and line ends. The terminal is restored however this ends.
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


def read_text(path: Path) -> str:
    """The text of a file."""
    with path.open("rb") as file:
        return decoded(file.read(MOST_BYTES + 1), "the file")


def read_stdin() -> str:
    """The text from a pipe."""
    return decoded(sys.stdin.buffer.read(MOST_BYTES + 1), "standard input")


def decoded(data: bytes, name: str) -> str:
    """The text in a file or a pipe; `name` is its name in messages."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} is larger than 1 MB; is it the right one?")
    return decode_text(data, name)
