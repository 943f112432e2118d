"""Tables over cards and over flops."""

from allstreets.explorer.models.base import Message, Number, Numbers, PlayerName, StreetName
from allstreets.explorer.models.place import Choice


class ReportRow(Message):
    """The first decision after cards were dealt, in figures of whole ranges."""

    line: str  # to that decision with these cards
    weight: Number  # how often the cards are dealt, any unit: for means over rows
    share: Number | None = None  # how often play gets there
    frequencies: Numbers  # [A]
    ev_oop: Number | None
    ev_ip: Number | None
    equity_oop: Number | None
    equity_ip: Number | None


class CardRow(ReportRow):
    """A turn or river card."""

    card: str
    same_as: str | None = None  # the card that is solved in its place


class FlopRow(ReportRow):
    """A flop."""

    flop: str
    suits: str
    pairing: str
    connectedness: str
    high_card: str
    exploitability_pct: Number | None = None  # of the pot, where it is known


class CardReport(Message):
    """One row per card that can be dealt."""

    line: str
    street: StreetName
    player: PlayerName | None  # who acts first; None: no player does, hands are shown
    actions: list[Choice]
    unit: str
    rows: list[CardRow]


class FlopReport(Message):
    """One row per flop, at the same decision on all of them."""

    line: str  # with "*" in the place of the flop
    player: PlayerName
    actions: list[Choice]
    unit: str
    rows: list[FlopRow]
