"""Reviews of played hands, their decisions in a table and each hand step by step; and practice, one
decision at a time. Amounts are in bb, and hands of grids in the order of `cards.HAND_NAMES`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from allstreets.explorer.models.base import (
    ByPlayer,
    Cards,
    Known,
    Message,
    Number,
    Numbers,
    PlayerName,
    StreetName,
    Tone,
)
from allstreets.explorer.models.place import Decision

MOST_LETTERS = 4_000_000  # of hand histories: some thousand hands
ShortText = Annotated[str, Field(max_length=200)]


class ReviewForm(BaseModel):
    """Hands to review."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ShortText = ""
    text: Annotated[str, Field(max_length=MOST_LETTERS)]  # hand histories
    solutions: Annotated[list[ShortText], Field(min_length=1, max_length=500)]  # ids
    hero: ShortText = ""  # "": the player who recorded each hand
    seconds_per_spot: float = Field(default=5.0, ge=0.1, le=86_400)
    target_pct: float = Field(default=0.1, gt=0, lt=100)  # of the pot


class ReviewSource(BaseModel):
    """The subject of a review besides its hands; written by the server, never received."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    hero: str
    seconds_per_spot: float
    target_pct: float
    folders: list[str]  # of the whole games that grade it


class ReviewCard(Message):
    """A review in a list."""

    id: str
    name: str
    hero: str | None  # None: the player who recorded each hand
    folder: str
    created: float  # seconds since 1970
    done: int  # hands
    total: int
    solutions: list[str]  # names of the whole games that grade it
    solve: str | None = None  # that makes it, where it was begun from the page
    problem: str | None = None  # why it cannot be read


class ReviewRow(Message):
    """A decision."""

    hand: str  # the key of the hand
    name: str  # what its writer called it
    place: int  # among the actions of the hand
    street: StreetName
    pot: str  # "unopened", "limped", "raised", "3bet", "4bet"
    seat: str
    cards: Cards
    line: str  # in words: "SB raises to 2.5, BB calls"
    did: str  # in words: "bet 2.4"
    action: str  # its kind: "fold", "check", "call", "bet", "raise", "all-in"
    frequency: Known
    better: str  # the best action, in words; "": not graded
    loss: Known  # None: not graded, and the note says why
    within: Known
    note: str


class ReviewTotal(Message):
    """The loss in some of the decisions."""

    by: str  # "all", "street", "pot", "action"
    name: str
    hands: int
    decisions: int
    judged: int
    loss: Number = Field(validation_alias="loss_bb")
    loss_per_100: Number = Field(validation_alias="loss_bb_per_100")


class ReviewReason(Message):
    """The reason why something is missing, and its count."""

    reason: str
    count: int
    place: str = ""  # the place of the first: "hands.txt, line 13, PokerStars Hand #2"


class ReviewDetail(Message):
    """A review with all its decisions, the costliest first."""

    card: ReviewCard
    totals: list[ReviewTotal]
    rows: list[ReviewRow]
    not_judged: list[ReviewReason]
    skipped: list[ReviewReason]


class ReplayStep(Message):
    """An action, and the state of the hand when it was taken."""

    street: StreetName
    board: Cards
    player: PlayerName
    word: str
    label: str
    pot: Number
    bets: ByPlayer[Number]  # put in on this street
    left: ByPlayer[Number]
    decision: int | None  # place in `decisions`, where it is the hero's


class ReplayOption(Message):
    """An action of a decision: of the hero's hand, and of the whole range."""

    word: str = Field(validation_alias="action")
    label: str
    short: str
    tone: Tone
    shade: Number
    frequency: Number
    ev: Known
    chances: Numbers  # [169]
    evs: Numbers  # [169]


class ReplayDecision(Message):
    """A decision of the hero."""

    place: int  # among the actions of the hand
    line: str  # in words
    to_call: Number
    taken: str
    counted_as: str  # the action of the tree; "": there is none
    best: str | None = Field(validation_alias="best_action")
    loss: Known
    within: Known
    note: str
    judged_by: str = Field(validation_alias="evaluated_by")
    options: list[ReplayOption]
    reach: list[Number]  # [169]: of the hero's range; empty where nothing is known
    ev: Numbers  # [169]: as the range plays


class ReplayHand(Message):
    """A hand from the deal to its end."""

    hand: str  # its key
    name: str
    file: str
    file_line: int = Field(validation_alias="line")
    player: PlayerName  # the hero
    players: ByPlayer[str]
    seats: ByPlayer[str]
    holes: ByPlayer[Cards]  # empty where they were never seen
    stacks: ByPlayer[Number]
    results: ByPlayer[Number]
    board: Cards
    pot: str = Field(validation_alias="kind")  # its kind
    loss: Number
    solution: str
    solution_id: str | None  # if it is in an opened folder
    solution_stack: Number
    stack: Number
    notes: list[str]
    steps: list[ReplayStep]
    decisions: list[ReplayDecision]


Word = Annotated[str, Field(max_length=40)]
SeatName = Literal["both", "oop", "ip"]


class PracticeForm(Message):
    """The filter of a practice session; an empty list keeps everything."""

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
    """The choices that a solution offers for practice."""

    streets: list[StreetName]
    pots: list[str]
    suits: list[str]
    pairings: list[str]
    high_cards: list[str]
    seats: ByPlayer[str]
    note: str  # a note for players; "": none


class PracticeAction(Message):
    """An action that may be taken."""

    word: str
    label: str
    tone: Tone
    shade: Number  # as in `Choice`


class PracticeQuestion(Message):
    """A decision that the player is asked for."""

    number: int  # its number in the session: an answer names it, so that it counts once
    line: str
    words: str  # the line in words
    street: StreetName
    board: Cards
    cards: Cards
    pot: Number
    to_call: Number
    stacks: ByPlayer[Number]
    bets: ByPlayer[Number]  # in front of the players: put in on this street
    hint: str  # the mistake when this decision was missed; "": it is not a repetition
    actions: list[PracticeAction]


class PracticeAnswerForm(Message):
    """The player's action."""

    question: int
    action: Annotated[int, Field(ge=0, le=1000)]


class PracticeOption(Message):
    """An action: its frequency with the hand in the solution, and its EV."""

    word: str = Field(validation_alias="action")
    label: str
    frequency: Number
    ev: Known  # from here on: folding is 0


class PracticeVerdict(Message):
    """The cost of a decision."""

    question: int
    line: str
    words: str  # the line in words
    street: StreetName
    board: Cards
    cards: Cards
    taken: str
    best: str | None = Field(validation_alias="best_action")
    options: list[PracticeOption]
    loss: Known  # None: not graded, and the note says why
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
    """The end of a hand; only now the other cards and the numbers are shown."""

    text: str
    board: Cards
    theirs: Cards
    won: Known
    draws: list[PracticeDraw]


class PracticeLeak(Message):
    """Decisions that were missed in the same way."""

    text: str
    times: int
    loss: Number


class PracticeMiss(Message):
    """A decision that cost much."""

    line: str
    words: str  # the line in words
    cards: Cards
    did: str  # in words, as `better`
    better: str
    loss: Number


class PracticeSummary(Message):
    """Decisions in figures."""

    decisions: int
    judged: int = Field(validation_alias="graded")
    right: int
    score: Known
    loss: Number
    loss_per_100: Known
    leaks: list[PracticeLeak]
    worst: list[PracticeMiss]


class PracticeState(Message):
    """The state of a session."""

    session: str
    solution: str
    name: str
    note: str
    seed: int
    hand: int  # its number in the session
    player: PlayerName  # the seat of the page's user
    seats: ByPlayer[str]
    repeated: bool  # whether the hand came back because it was missed
    question: PracticeQuestion | None
    verdict: PracticeVerdict | None  # of the last decision of this hand
    end: PracticeEnd | None
    summary: PracticeSummary


class PracticeGroup(Message):
    """Decisions of a day, a street, a kind of pot."""

    name: str
    decisions: int
    score: Known
    loss_per_100: Known


class PracticeSource(Message):
    """A solution that was played on."""

    id: str
    name: str
    folder: str  # for display
    hands: int
    waiting: int  # decisions that will come back


class PracticeCards(Message):
    """Missed decisions for Anki cards, and how to filter them."""

    count: int
    problem: str | None  # the reason if none can be written here
    streets: list[StreetName]
    pots: list[str]
    suits: list[str]
    pairings: list[str]
    high_cards: list[str]


class PracticeResults(Message):
    """All stored results, or those on one solution."""

    file: str
    solutions: list[PracticeSource]  # all of them, the latest first
    hands: int
    waiting: int  # decisions that will come back
    summary: PracticeSummary
    days: list[PracticeGroup]
    streets: list[PracticeGroup]
    pots: list[PracticeGroup]
    cards: PracticeCards
