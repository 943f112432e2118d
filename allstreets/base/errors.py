"""The one error for bad input, and how messages quote it. Any other exception is a bug."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

LIMIT = 200  # characters of an input that a message repeats
MOST = 1000  # characters of a line, whatever it repeats
LONGEST = 6000  # characters of a message that is searched whole; of a longer one, line by line
LINES = 200  # of a message

# What moves a terminal's cursor, turns the direction of writing, or is half a character.
CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

# What a message repeats of an input: a text in quotes, a list or a mapping, a long word.
QUOTED = re.compile(r"(?<!\w)(['\"])(.+?)\1(?!\w)", re.DOTALL)
LISTED = re.compile(rf"(?<=\[)[^\[\]]{{{LIMIT + 1},}}(?=\])|(?<=\{{)[^{{}}]{{{LIMIT + 1},}}(?=\}})")
WORD = re.compile(rf"[^\s'\"]{{{LIMIT + 1},}}")


class InputError(ValueError):
    """An error in the user's input.

    The message is shown without a traceback: one or two lines that say what is wrong, where, and
    what to do. Control characters are shown as escapes, and long quotations are cut.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(clean_message(message))


def decode_text(data: bytes, name: str) -> str:
    """The text of a file or a pipe, which messages call `name`."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name} is not UTF-8 text (line {line}); save it as UTF-8") from None


def shorten(text: str, limit: int = LIMIT) -> str:
    """The user's text as an error line quotes it.

    At most `limit` characters, all of them printable.

    >>> shorten("a\\x1b[31m name"), shorten("x" * 300, 5)
    ('a\\\\x1b[31m name', 'xxxx…')
    """
    shown = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text[: limit + 1]
    )
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def printable(text: str) -> str:
    """Text for a terminal or a page: control characters but line breaks are shown as escapes."""
    return CONTROL.sub(_escape, text)


def clean_message(message: str) -> str:
    """A message that may quote the user: each text is shortened and free of control characters."""
    if len(message) > LONGEST:
        message = "\n".join(_cut(line) for line in message.split("\n")[:LINES])
    cleaned = QUOTED.sub(lambda part: f"{part[1]}{shorten(part[2])}{part[1]}", message)
    for long in (LISTED, WORD):
        cleaned = long.sub(lambda part: shorten(part[0]), cleaned)
    return "\n".join(_cut(line) for line in printable(cleaned).split("\n"))


def _cut(line: str) -> str:
    """A line without its middle, where it is too long."""
    return line if len(line) <= MOST else f"{line[: MOST // 2]} … {line[3 - MOST // 2 :]}"


def _escape(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()


def suggest(word: str, known: Iterable[str]) -> str:
    """A closing hint: the known word that was probably meant, or else the known words.

    >>> suggest("lienar", ["linear", "vanilla"])
    "did you mean 'linear'?"
    >>> suggest("x", ["linear", "vanilla"])
    'choose one of: linear, vanilla'
    """
    choices = list(known)
    close = get_close_matches(word.lower(), choices, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"choose one of: {', '.join(choices)}"


def shortened(text: str, limit: int = 40) -> str:
    """A text in quotes, cut when it is too long for a message."""
    return f"'{shorten(text, limit)}'"
