"""The common base of all messages between server and page.

A message that shows a record is made from it (`Message.of`): fields have the record's names, or the
alias of a field. Types here convert the values of records: players and streets, cards by number or
as text, figures of both players as a pair.
"""

import math
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)

from allstreets.base import InputError, clean_message, printable
from allstreets.betting import Player, Street
from allstreets.cards import card_text

Value = TypeVar("Value")
JSON = (dict, list, str, int, float, type(None))  # what requests and files hold


def by_player(pair: Sequence[Value]) -> "dict[PlayerName, Value]":
    """A pair of values, OOP and IP, as a mapping by player name."""
    return {PLAYER_NAMES[player]: pair[player] for player in Player}


def _by_player(given: Any) -> Any:
    return given if isinstance(given, dict) else by_player(given)


def _cards(given: Any) -> list[str]:
    """Cards by number, or written together, taken apart."""
    if isinstance(given, str):
        return [given[start : start + 2] for start in range(0, len(given), 2)]
    return [card if isinstance(card, str) else card_text(card) for card in given]


PlayerName = Annotated[
    Literal["oop", "ip"],
    BeforeValidator(lambda given: PLAYER_NAMES[given] if isinstance(given, Player) else given),
]
StreetName = Annotated[
    Literal["preflop", "flop", "turn", "river"],
    BeforeValidator(lambda given: given.text if isinstance(given, Street) else given),
]
PLAYER_NAMES: tuple[PlayerName, PlayerName] = ("oop", "ip")
ByPlayer = Annotated[dict[PlayerName, Value], BeforeValidator(_by_player)]
Cards = Annotated[list[str], BeforeValidator(_cards)]
Tone = Literal["fold", "call", "aggressive"]  # call: also a check
SolutionKind = Literal["spot", "spots", "unified", "postflop", "preflop"]
EvCount = Literal["here", "hand"]  # whether EVs count from here on, or over the whole hand


def path_text(path: Path) -> str:
    """A path for display: its name may contain any bytes."""
    return printable(str(path))


def short(value: float) -> float:
    """A number as it is sent: seven significant digits, as many as the stored ones have."""
    return float(f"{value:.7g}")


def number(value: Any) -> Any:
    """A number, or None where it does not exist; other values are ignored."""
    try:
        return float(value) if math.isfinite(value) else None
    except (TypeError, OverflowError):
        return value


def numbers(values: Any) -> list[Any]:
    """A list with None where there is no value: for a hand that cannot be held."""
    return [number(value) for value in getattr(values, "tolist", lambda: values)()]


Number = Annotated[float, PlainSerializer(short, return_type=float)]
Known = Annotated[Number | None, BeforeValidator(number)]
Numbers = Annotated[list[Number | None], BeforeValidator(numbers)]

PlainText = Annotated[str, AfterValidator(clean_message)]  # it may repeat what a user wrote


class Message(BaseModel):
    """A record that is sent; it never changes."""

    # A field with a default is always sent: the page need not check for it.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _of_record(cls, given: Any) -> Any:
        return given if isinstance(given, (*JSON, Message)) else cls._taken(given)

    @classmethod
    def of(cls, record: object = None, /, **more: Any) -> Self:
        """A record as a message; `more` are fields that the record lacks or has in another form."""
        return cls(**{**cls._taken(record, more), **more})

    @classmethod
    def _taken(cls, record: object, but: Container[str] = ()) -> dict[str, Any]:
        """The fields that a record has; amounts in big blinds are called `pot_bb` there."""
        taken = {}
        for name, field in cls.model_fields.items():
            for own in (field.validation_alias or name, f"{name}_bb"):
                if name not in but and hasattr(record, str(own)):
                    taken[name] = getattr(record, str(own))
                    break
        return taken


class Hint(Message):
    """A place that was perhaps meant."""

    label: str
    line: str


class Problem(Message):
    """The problem with a request, in words."""

    message: PlainText
    field: str | None = None  # of the form: "oop_range", "sizes.flop.oop.bet"
    hints: list[Hint] = Field(default_factory=list)


class Refusal(Message):
    """The body of every answer with a status of 400 or more."""

    message: PlainText  # all problems in one text
    problems: list[Problem] = Field(default_factory=list)


class MissingError(InputError):
    """A solution, solve or hand that does not exist."""


class BusyError(InputError):
    """A request that is not possible in this state, or too much at once."""


class FormError(InputError):
    """A form with problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)
