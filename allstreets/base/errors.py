"""The one error for bad input. Any other exception is a bug."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Something in the user's input is wrong.

    The message is shown as it stands, without a traceback: one or two lines that say what is
    wrong, where, and what to do.
    """


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


def shorten(text: str, limit: int = 200) -> str:
    """Text of a user's as an error line repeats it: at most `limit` characters, no control
    characters."""
    shown = "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text[:limit]
    )
    return shown if len(text) <= limit and len(shown) <= limit else f"{shown[: limit - 1]}…"


def shortened(text: str, limit: int = 40) -> str:
    """A text in quotes, cut when it is too long for a message."""
    return f"'{shorten(text, limit)}'"
