"""Practice: hands that are played against a solution, one decision at a time. Amounts are in bb."""

from typing import Annotated, Literal

from pydantic import Field

from allstreets.explorer.models.base import Message, Number, PlayerName, StreetName, Tone
from allstreets.explorer.models.place import Decision

Word = Annotated[str, Field(max_length=40)]
SeatName = Literal["both", "oop", "ip"]


class PracticeForm(Message):
    """What is practised; an empty list wants everything."""

    solution: Annotated[str, Field(max_length=64)]
    seat: SeatName = "both"
    streets: list[StreetName] = Field(default_factory=list, max_length=4)
    pots: list[Word] = Field(default_factory=list, max_length=10)
    line: Annotated[str, Field(max_length=1000)] = ""
    suits: list[Word] = Field(default_factory=list, max_length=10)
    pairings: list[Word] = Field(default_factory=list, max_length=10)
    high_cards: list[Word] = Field(default_factory=list, max_length=13)
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None  # None: other hands every time


class PracticeTopics(Message):
    """What a solution can be practised on."""

    streets: list[StreetName]
    pots: list[str]
    suits: list[str]
    pairings: list[str]
    high_cards: list[str]
    seats: dict[PlayerName, str]
    note: str  # what a player has to know of it; "": nothing


class PracticeAction(Message):
    """An action that may be taken."""

    word: str
    label: str
    tone: Tone


class PracticeQuestion(Message):
    """A decision that the player is asked for."""

    number: int  # which of the session's: an answer names it, so that it counts once
    line: str
    street: StreetName
    board: list[str]
    cards: list[str]
    pot: Number
    to_call: Number
    stacks: dict[PlayerName, Number]
    actions: list[PracticeAction]


class PracticeAnswerForm(Message):
    """What the player does."""

    question: int
    action: Annotated[int, Field(ge=0, le=1000)]


class PracticeOption(Message):
    """What the solution does with the hand, and what it is worth."""

    word: str
    label: str
    frequency: Number
    ev: Number | None  # from here on: folding is 0


class PracticeVerdict(Message):
    """What a decision cost."""

    question: int
    line: str
    street: StreetName
    board: list[str]
    cards: list[str]
    taken: str
    best: str | None
    options: list[PracticeOption]
    loss: Number | None  # None: not graded, and the note says why
    missed: bool
    note: str
    decision: Decision  # the whole range there


class PracticeDraw(Message):
    """A choice of the solution, and the number that made it."""

    seat: str
    street: str
    action: str
    number: Number
    mix: list[tuple[str, Number]]


class PracticeEnd(Message):
    """How a hand ended; only then are the other cards and the numbers shown."""

    text: str
    board: list[str]
    theirs: list[str]
    won: Number | None
    draws: list[PracticeDraw]


class PracticeLeak(Message):
    """Decisions that were missed in the same way."""

    text: str
    times: int
    loss: Number


class PracticeMiss(Message):
    """A decision that cost much."""

    line: str
    cards: list[str]
    taken: str
    best: str | None
    loss: Number


class PracticeSummary(Message):
    """Decisions in figures."""

    decisions: int
    judged: int
    right: int
    score: Number | None
    loss: Number
    loss_per_100: Number | None
    leaks: list[PracticeLeak]
    worst: list[PracticeMiss]


class PracticeState(Message):
    """Where a session is."""

    session: str
    solution: str
    name: str
    note: str
    seed: int
    hand: int  # its number in the session
    player: PlayerName  # whom the page plays
    seats: dict[PlayerName, str]
    repeated: bool  # whether the hand came back because it was missed
    question: PracticeQuestion | None
    verdict: PracticeVerdict | None  # of the last decision of this hand
    end: PracticeEnd | None
    summary: PracticeSummary


class PracticeGroup(Message):
    """Decisions of a day, a street, a kind of pot."""

    name: str
    decisions: int
    score: Number | None
    loss_per_100: Number | None


class PracticeSource(Message):
    """A solution that was played on."""

    id: str
    name: str
    folder: str  # for people
    hands: int
    waiting: int  # decisions that will come back


class PracticeCards(Message):
    """What cards for Anki can be made of: decisions that were missed, and what tells them apart."""

    count: int
    problem: str | None  # why none can be written here
    streets: list[StreetName]
    pots: list[str]
    suits: list[str]
    pairings: list[str]
    high_cards: list[str]


class PracticeResults(Message):
    """Everything that was kept, or what was played on one solution."""

    file: str
    solutions: list[PracticeSource]  # all of them, the latest first
    hands: int
    waiting: int  # decisions that will come back
    summary: PracticeSummary
    days: list[PracticeGroup]
    streets: list[PracticeGroup]
    pots: list[PracticeGroup]
    cards: PracticeCards
