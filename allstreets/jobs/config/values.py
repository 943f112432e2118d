"""Values of a config with their units: thresholds, shares of the pot, times, sizes, ranges."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from allstreets.base import InputError
from allstreets.betting import BigBlinds, parse_raise_sizes, parse_sizes, read_share
from allstreets.jobs.config.model import KeyPath, WrongKeyError, shown

LARGEST_BARE_TARGET = 0.05
SUFFIXES = {"%": "a share of the pot", "mbb": "mbb/hand", "mbb/hand": "mbb/hand"}

Size = str | float
Sizes = Size | tuple[Size, ...]


@dataclass(frozen=True)
class ThresholdUnit:
    """The unit in which a job measures exploitability, and its suffix if it has one."""

    words: str
    example: str
    suffixes: tuple[str, ...] = ()

    def read(self, value: Any) -> Any:
        """Text as a number of this unit; anything else as it is.

        >>> MBB_PER_HAND.read("5 mbb"), POT_SHARE.read("0.3%"), POT_SHARE.read("0.01")
        (5.0, 0.003, 0.01)
        """
        if not isinstance(value, str):
            return value
        text = value.strip()
        suffix = next((suffix for suffix in SUFFIXES if text.endswith(suffix)), "")
        try:
            number = float(text.removesuffix(suffix))
        except ValueError:
            raise ValueError(f"{shown(value)} is not {self.words}; write {self.example}") from None
        if suffix and suffix not in self.suffixes:
            raise ValueError(
                f"{shown(value)} is {SUFFIXES[suffix]}, but exploitability is {self.words} here; "
                f"write {self.example}"
            )
        return number / 100 if suffix == "%" else number


POT_SHARE = ThresholdUnit("a share of the pot", "0.3% or 0.003", ("%",))
MBB_PER_HAND = ThresholdUnit("a number of mbb/hand", "5 mbb or 5", ("mbb", "mbb/hand"))
GAME_UNIT = ThresholdUnit("a number in the game's own unit", "0.001")


def parse_target(value: Any) -> float:
    """A share of the pot: "0.3%" or 0.003; a large share needs its per cent sign.

    >>> parse_target("0.3%"), parse_target(0.01), parse_target("0")
    (0.003, 0.01, 0.0)
    """
    text = str(value).strip()
    share = float(POT_SHARE.read(text))
    if not 0 <= share < 1:
        raise ValueError(f"'{text}' is not {POT_SHARE.words}; write {POT_SHARE.example}")
    if not text.endswith("%") and share > LARGEST_BARE_TARGET:
        raise ValueError(
            f"{text} would be {100 * share:g} % of the pot; write {text}% if you mean it"
        )
    return share


def parse_time(text: str) -> float:
    """Seconds: "60s", "5m", "1.5h"; without a unit seconds.

    >>> parse_time("90"), parse_time("5m"), parse_time("0.5h")
    (90.0, 300.0, 1800.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(s|m|min|h)?\s*", text)
    if match is None or float(match[1]) == 0:
        raise InputError(f"time '{text}': write 60s, 5m or 2h")
    return float(match[1]) * {"m": 60, "min": 60, "h": 3600}.get(match[2], 1)


def _rake(value: Any) -> Any:
    """A share of the pot, as text with a per cent sign or as a number."""
    return read_share("rake", value) if isinstance(value, str) else value


def _range_text(value: Any) -> Any:
    """Text, or the value that YAML reads: `22` is a number there, and a list is often clearer."""
    if isinstance(value, list | tuple):
        return ",".join(str(_range_text(entry)) for entry in value)
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        raise ValueError(f"{shown(value)} is a number, not a range; quote it: '{value}'")
    if isinstance(value, dict) and len(value) == 1:
        ((hand, weight),) = value.items()
        raise ValueError(
            f"YAML reads a colon and a space as a key; write '{hand}:{weight}', in quotes"
        )
    raise ValueError(f"{shown(value)} is not a range; write text such as 'QQ+,AKs', in quotes")


NUMBER_OR_TEXT = str | float
Rake = Annotated[
    float, BeforeValidator(_rake, json_schema_input_type=NUMBER_OR_TEXT), Field(ge=0, lt=1)
]
PotShare = Annotated[
    float, BeforeValidator(POT_SHARE.read, json_schema_input_type=NUMBER_OR_TEXT), Field(ge=0, lt=1)
]
MbbPerHand = Annotated[
    float, BeforeValidator(MBB_PER_HAND.read, json_schema_input_type=NUMBER_OR_TEXT), Field(gt=0)
]
GameUnit = Annotated[
    float, BeforeValidator(GAME_UNIT.read, json_schema_input_type=NUMBER_OR_TEXT), Field(gt=0)
]
Target = Annotated[float, BeforeValidator(parse_target, json_schema_input_type=NUMBER_OR_TEXT)]
# A range as one text: YAML also allows a bare `22`, or a list whose entries are joined by commas.
RangeText = Annotated[
    str, BeforeValidator(_range_text, json_schema_input_type=str | int | list[str | int])
]


def check_sizes(given: Any, *, raises: bool, path: KeyPath = (), big_blinds: bool = True) -> None:
    """Refuse the first entry that is not a size after the flop: 0.5, "33%", "33%,75%", a list.

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
    """Refuse the first entry that is not a raise before the flop, or lists without meaning."""
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
            # "raise sizes, entry 1: 'x' is …": the path gives the place.
            raise WrongKeyError(place, str(error).partition(": ")[2]) from None


def _entries(given: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str | float]]:
    """Every single size with its path, as it was written: a bare 33 has become 33.0."""
    if isinstance(given, tuple | dict):
        parts = given.items() if isinstance(given, dict) else enumerate(given)
        for key, part in parts:
            yield from _entries(part, (*path, key))
    else:
        is_whole = isinstance(given, float) and given.is_integer()
        yield path, int(given) if is_whole else given
