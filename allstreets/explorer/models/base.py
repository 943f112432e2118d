"""What all messages between server and page share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer

from allstreets.base import InputError, clean_message, printable

PlayerName = Literal["oop", "ip"]
StreetName = Literal["preflop", "flop", "turn", "river"]
Tone = Literal["fold", "call", "aggressive"]  # call: also a check
SolutionKind = Literal["spot", "spots", "unified", "postflop", "preflop"]
EvCount = Literal["here", "hand"]  # whether EVs count from here on, or over the whole hand


def path_text(path: Path) -> str:
    """A path as it is shown: its name may hold any bytes."""
    return printable(str(path))


def short(value: float) -> float:
    """A number as it is sent: seven significant digits, as many as the stored ones have."""
    return float(f"{value:.7g}")


Number = Annotated[float, PlainSerializer(short, return_type=float)]
Numbers = list[Number | None]  # None stands where there is no number: a hand that cannot be held

Told = Annotated[str, AfterValidator(clean_message)]  # it may repeat what a user wrote


class Message(BaseModel):
    """A record that is sent; it never changes."""

    # A field with a default is always sent: the page need not check for it.
    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


class Hint(Message):
    """A place that may have been meant."""

    label: str
    line: str


class Problem(Message):
    """What is wrong with a request, in words for people."""

    message: Told
    field: str | None = None  # of the form: "oop_range", "sizes.flop.oop.bet"
    hints: list[Hint] = Field(default_factory=list)


class Refusal(Message):
    """The body of every answer with a status of 400 or more."""

    message: Told  # all problems in one text
    problems: list[Problem] = Field(default_factory=list)


class MissingError(InputError):
    """There is no such solution, solve or hand."""


class BusyError(InputError):
    """Not in this state, or too much at once."""


class FormError(InputError):
    """A form with problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)
