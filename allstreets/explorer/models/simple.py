"""What simple strategies of a solution cost."""

from allstreets.explorer.models.base import Message, Number, StreetName


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
