"""Reviews of played hands: their decisions in a table, and each hand step by step. Amounts are in
bb, and hands of grids in the order of `cards.HAND_NAMES`."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from allstreets.explorer.models.base import (
    Message,
    Number,
    Numbers,
    PlayerName,
    StreetName,
    Tone,
)

MOST_LETTERS = 4_000_000  # of hand histories: some thousand hands
ShortText = Annotated[str, Field(max_length=200)]


class ReviewForm(BaseModel):
    """Hands to review."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ShortText = ""
    text: Annotated[str, Field(max_length=MOST_LETTERS)]  # hand histories
    solutions: Annotated[list[ShortText], Field(min_length=1, max_length=50)]  # ids
    hero: ShortText = ""  # "": who wrote each hand down
    seconds_per_spot: float = Field(default=20.0, ge=0.1, le=86_400)
    target_pct: float = Field(default=0.1, gt=0, lt=100)  # of the pot


class ReviewSource(BaseModel):
    """What a review is of, besides its hands; written by the server, never received."""

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
    hero: str | None  # None: who wrote each hand down
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
    cards: list[str]
    line: str  # in words: "SB raises to 2.5, BB calls"
    taken: str
    action: str  # what that is: "fold", "check", "call", "bet", "raise", "all-in"
    frequency: Number | None
    best: str | None
    loss: Number | None  # None: not graded, and the note says why
    within: Number | None
    note: str


class ReviewTotal(Message):
    """What was lost in some of the decisions."""

    by: str  # "all", "street", "pot", "action"
    name: str
    hands: int
    decisions: int
    judged: int
    loss: Number
    loss_per_100: Number


class ReviewReason(Message):
    """Why something is missing, and how often."""

    reason: str
    count: int
    place: str = ""  # where the first stands: "hands.txt, line 13, PokerStars Hand #2"


class ReviewDetail(Message):
    """A review with all its decisions, the costliest first."""

    card: ReviewCard
    totals: list[ReviewTotal]
    rows: list[ReviewRow]
    not_judged: list[ReviewReason]
    skipped: list[ReviewReason]


class ReplayStep(Message):
    """An action, and how things stood when it was taken."""

    street: StreetName
    board: list[str]
    player: PlayerName
    word: str
    label: str
    pot: Number
    bets: dict[PlayerName, Number]  # put in on this street
    left: dict[PlayerName, Number]
    decision: int | None  # place in `decisions`, where it is the hero's


class ReplayOption(Message):
    """An action of a decision: of the hero's hand, and of the whole range."""

    word: str
    label: str
    short: str
    tone: Tone
    shade: Number
    frequency: Number
    ev: Number | None
    chances: Numbers  # [169]
    evs: Numbers  # [169]


class ReplayDecision(Message):
    """A decision of the hero."""

    place: int  # among the actions of the hand
    line: str  # in words
    to_call: Number
    taken: str
    counted_as: str  # the action of the tree; "": there is none
    best: str | None
    loss: Number | None
    within: Number | None
    note: str
    judged_by: str
    options: list[ReplayOption]
    reach: list[Number]  # [169]: of the hero's range; empty where nothing is known
    ev: Numbers  # [169]: as the range plays


class ReplayHand(Message):
    """A hand from the deal to its end."""

    hand: str  # its key
    name: str
    file: str
    file_line: int
    player: PlayerName  # the hero
    players: dict[PlayerName, str]
    seats: dict[PlayerName, str]
    holes: dict[PlayerName, list[str]]  # empty where they were never seen
    stacks: dict[PlayerName, Number]
    results: dict[PlayerName, Number]
    board: list[str]
    pot: str  # its kind
    loss: Number
    solution: str
    solution_id: str | None  # where it lies in an opened folder
    solution_stack: Number
    stack: Number
    notes: list[str]
    steps: list[ReplayStep]
    decisions: list[ReplayDecision]
