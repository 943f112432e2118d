"""A line that leads nowhere: say so, and lead back to where it was still right."""

from collections.abc import Callable
from typing import TypeVar

from allstreets.base import InputError
from allstreets.explorer.errors import MissingError
from allstreets.explorer.models.base import Hint

Found = TypeVar("Found")


def with_hints(text: str, find: Callable[[str], Found], spell: Callable[[Found], str]) -> Found:
    """What `find` finds; else a `MissingError` that leads to the last place on the way.

    `spell` gives the canonical text of what was found.
    """
    try:
        return find(text)
    except MissingError:
        raise
    except InputError as error:
        words = text.split()
        for count in range(len(words) - 1, -1, -1):
            try:
                line = spell(find(" ".join(words[:count])))
            except InputError:
                continue
            hint = Hint(label=f"back to '{line}'" if line else "back to the start", line=line)
            raise MissingError(str(error), [hint]) from None
        raise
