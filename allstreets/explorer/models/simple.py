"""What simple strategies of a solution cost, and which are to be saved."""

from pydantic import Field

from allstreets.explorer.models.base import Message, Number, StreetName
from allstreets.explorer.models.solves import Request


class SimpleForm(Request):
    """How both players' strategies are made simple; None: they stay as they are in this."""

    grid_pct: int | None = Field(default=None, ge=1, le=100)  # steps that divide 100
    sizes: int | None = Field(default=None, ge=1, le=9)  # that are kept at each decision
    drop_pct: int | None = Field(default=None, ge=1, le=50)  # actions below this are given up


class SimpleStreet(Message):
    """One street alone made simple."""

    street: StreetName
    exploitability: Number
    prices: list[Number]  # of each seat
    mixed_before: int  # decisions of hands
    mixed_after: int


class SimplePrice(Message):
    """All streets made simple."""

    rule: str  # for people: "1 size, steps of 25 %"
    unit: str  # of all figures
    judged: str  # by which best response: "in its own game"
    seats: list[str]  # who is simple
    before: Number  # exploitability
    after: Number
    prices: list[Number]  # of each seat: what the other's best response wins more
    decisions_before: int
    mixed_before: int
    decisions_after: int
    mixed_after: int
    streets: list[SimpleStreet]
