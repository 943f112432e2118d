"""Tables over cards, over flops, and over categories of hands."""

from typing import Literal

from allstreets.explorer.models.base import Message, Number, Numbers, PlayerName, StreetName
from allstreets.explorer.models.place import Choice

HandKey = Literal["category", "draw", "hand"]


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
    solution: str | None = None  # where it is another solution that the line leads through


class CardReport(Message):
    """One row per card that can be dealt."""

    line: str
    street: StreetName
    player: PlayerName | None  # who acts first; None: no player does, hands are shown
    actions: list[Choice]
    unit: str
    paid: dict[PlayerName, Number]  # as in `FlopReport`
    rows: list[CardRow]


class FlopReport(Message):
    """One row per flop, at the same decision on all of them."""

    line: str  # with "*" in the place of the flop
    player: PlayerName
    actions: list[Choice]
    unit: str
    pot: Number  # at the decision; EQR = (EV + paid) / (equity · pot)
    paid: dict[PlayerName, Number]  # what is added to EVs to count from there on
    rows: list[FlopRow]


class BoardHand(Message):
    """A category of hands, a draw or one of the 169, over many boards; of the player who acts."""

    name: str  # "all": the whole range
    share: Number | None  # of all hands that get to the decision
    frequencies: Numbers  # [A]
    ev_oop: Number | None
    ev_ip: Number | None
    equity_oop: Number | None
    equity_ip: Number | None
    eqr_oop: Number | None
    eqr_ip: Number | None


class BoardHands(Message):
    """A decision on many boards by what hands make, what they draw to, and by hand."""

    line: str
    player: PlayerName  # who acts
    actions: list[Choice]
    unit: str
    boards: int
    category: list[BoardHand]
    draw: list[BoardHand]
    hand: list[BoardHand]
    total: BoardHand


class BoardHandsPart(Message):
    """How far such a report is, and the report when it is complete."""

    done: int
    boards: int
    report: BoardHands | None


class HandGroup(Message):
    """The hands of a category on a board."""

    kind: Literal["made", "draw"]
    name: str  # "top pair", "gutshot"
    cells: list[Number]  # [169]: the share of each hand's combos, of those that the board leaves
    shares: dict[PlayerName, Number]  # of each player's range here
    frequencies: Numbers  # [A] of the player who acts
    ev: Number | None  # his, with these hands
    equity: Number | None


class HandGroups(Message):
    """A place by categories of hands, the strongest first; none before the flop."""

    line: str
    player: PlayerName | None  # who acts
    groups: list[HandGroup]
