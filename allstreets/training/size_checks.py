"""Bet sizes of a config, read with the file, so that errors name its lines.

Validators of fields call these; the path of a `WrongKeyError` leads from the field to the entry.
"""

from collections.abc import Callable, Iterator
from typing import Any

from allstreets.base import InputError
from allstreets.betting import BigBlinds, parse_raise_sizes, parse_sizes
from allstreets.training.config_model import WrongKeyError
from allstreets.training.problems import KeyPath


def check_sizes(given: Any, *, raises: bool, path: KeyPath = (), big_blinds: bool = True) -> None:
    """Refuse the first entry that is no size after the flop: 0.5, "33%", "33%,75%", a list.

    Without `big_blinds` sizes in them are refused too.
    """

    def read(entry: Any) -> None:
        for size in parse_sizes([entry], raises=raises):
            if isinstance(size, BigBlinds) and not big_blinds:
                raise InputError(
                    f"sizes: '{size}': there is no big blind here, only the pot; write 50%, say"
                )

    _check_entries(given, path, read)


def check_raise_sizes(given: Any) -> None:
    """Refuse the first entry that is no raise before the flop, or lists that lead nowhere."""

    _check_entries(given, (), lambda entry: parse_raise_sizes([entry]))
    try:
        parse_raise_sizes(listed(given))
    except InputError as error:
        text = str(error).removeprefix("raise_sizes").removeprefix(":").strip()
        raise WrongKeyError((), text) from None


def listed(value: Any) -> Any:
    """Tuples as the lists that the readers of sizes take."""
    if isinstance(value, tuple):
        return [listed(part) for part in value]
    if isinstance(value, dict):
        return {key: listed(part) for key, part in value.items()}
    return value


def _check_entries(given: Any, path: KeyPath, read: Callable[[Any], object]) -> None:
    for place, entry in _entries(given, path):
        try:
            read(entry)
        except InputError as error:
            # "raise sizes, entry 1: 'x' is …": the path says the place.
            raise WrongKeyError(place, str(error).partition(": ")[2]) from None


def _entries(given: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str | float]]:
    """Every single size with the way to it, as it was written: a bare 33 has become 33.0."""
    if isinstance(given, tuple | dict):
        parts = given.items() if isinstance(given, dict) else enumerate(given)
        for key, part in parts:
            yield from _entries(part, (*path, key))
    else:
        is_whole = isinstance(given, float) and given.is_integer()
        yield path, int(given) if is_whole else given
