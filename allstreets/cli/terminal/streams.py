"""Standard output and error that are safe to write to: closed, ASCII only, or on a full disk."""

import codecs
import os
import sys
import unicodedata
from functools import cache
from io import TextIOWrapper

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


def plain(text: str) -> str:
    """A text in ASCII with the same meaning; what has no likeness becomes a question mark.

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
    """ASCII by another name: under its own it is taken for a mistake, and UTF-8 is written."""
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
    """Why standard output takes no more, if so: an OSError does not say which file it is about."""
    try:
        os.write(sys.stdout.fileno(), b"\n")
    except OSError as error:
        return error
    return None


def give_up_output() -> None:
    """Discard what standard output would not take, so that leaving does not try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
