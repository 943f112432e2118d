"""Work that is started from the page: spots, flops of games, whole games, locks and best responses
to them, simple strategies; and ranges to start with."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from allstreets.cards import RangeKind
from allstreets.explorer.models.base import (
    ByPlayer,
    Known,
    Message,
    Number,
    PlayerName,
    Problem,
    StreetName,
)
from allstreets.explorer.models.solution import CurvePoint

ShortText = Annotated[str, Field(max_length=200)]
LongText = Annotated[str, Field(max_length=60_000)]  # 1,326 combos in any notation
SizeText = Annotated[str, Field(max_length=200, examples=["33%, 75%, a"])]
EditsText = Annotated[str, Field(max_length=5_000, examples=["x b33%: +150%, -b75%"])]
Weight = Annotated[float, Field(ge=0, le=1)]

SolveState = Literal[
    "waiting",
    "starting",
    "running",
    "paused",
    "stopping",
    "done",
    "stopped",
    "interrupted",
    "failed",
]


class Request(BaseModel):
    """A record that is received."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PlayerSizesForm(Request):
    """The sizes of one player on one street, as written: "33%, 75%, a"."""

    bet: SizeText = ""
    raises: SizeText = Field(default="", alias="raise")
    donk: SizeText = ""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class StreetSizesForm(Request):
    """The sizes of both players on one street."""

    oop: PlayerSizesForm = PlayerSizesForm()
    ip: PlayerSizesForm = PlayerSizesForm()


class SizesForm(Request):
    """The sizes of all streets; those before the board are ignored."""

    flop: StreetSizesForm = StreetSizesForm()
    turn: StreetSizesForm = StreetSizesForm()
    river: StreetSizesForm = StreetSizesForm()


class SpotForm(Request):
    """A spot to solve. Amounts are chips, with two decimals at most."""

    name: ShortText = ""
    board: ShortText = Field(examples=["QsJh2h"])
    oop_range: LongText
    ip_range: LongText
    pot: float = Field(gt=0, le=10_000_000)
    stack: float = Field(ge=0, le=10_000_000)
    chips_per_bb: float | None = Field(default=None, gt=0, le=10_000_000)  # None: not known
    sizes: SizesForm = SizesForm()
    edits: EditsText = ""  # of single nodes, a line each: "x b33%: +150%, -b75%"
    max_raises: int | None = Field(default=None, ge=0)  # per street; None: until all-in
    rake: float = Field(default=0.0, ge=0, lt=1)
    rake_cap: float | None = Field(default=None, ge=0)
    add_allin_threshold: float = Field(default=0.0, ge=0)
    force_allin_threshold: float = Field(default=0.1, ge=0)
    merging_threshold: float = Field(default=0.0, ge=0)
    target_pct: float = Field(default=0.3, gt=0, lt=100)  # of the pot
    max_seconds: float | None = Field(default=None, gt=0)
    precision: Literal["float32", "float16", "int16"] = "float32"
    river_groups: Literal["none", "suits"] = "none"  # suits: river hands alike share a strategy
    device: str = Field(default="cpu", pattern=r"^(cpu|cuda(:[0-9]{1,3})?)$")  # of `DeviceChoice`


class DeviceChoice(Message):
    """A device that spots can be solved on."""

    device: str  # "cpu", "cuda", "cuda:1"
    name: str  # "16 processors", "NVIDIA H200"


class FlopSource(BaseModel):
    """The flop of a whole game that is solved; written by the server, never received."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    folder: str  # of the whole game
    line: str  # before the flop
    flop: str
    output: str  # the folder where the spot is kept, beside the whole game


class GameForm(Request):
    """A whole game to train: a training file, as `allstreets train` reads it."""

    text: LongText


class StreetCounts(Message):
    """The size of a street."""

    street: str
    decisions: int
    boards: int


class SpotEstimate(Message):
    """The memory and time that a spot takes, or its problems."""

    problems: list[Problem]  # empty: it can be solved
    memory_bytes: int | None = None  # of the whole process
    free_bytes: int | None = None
    streets: list[StreetCounts] = Field(default_factory=list)
    oop_combos: Known = None
    ip_combos: Known = None
    seconds_per_iteration: Known = None
    seconds: Known = None  # until the target, set-up and checks included; the time limit at most
    first_actions: list[str] = Field(default_factory=list)  # of OOP: how sizes were understood
    warning: str | None = None  # about sizes that cannot be met exactly


class SolveProgress(Message):
    """The progress of a solve."""

    iteration: int
    seconds: Number
    iterations_per_second: Known
    eta_seconds: Known
    exploitability: Known  # in the unit of the solve
    memory_bytes: int | None
    total: int | None = None  # iterations, where it is known how many there are


class Solve(Message):
    """A solve that was started from the page."""

    id: str
    name: str
    title: str  # "QsJh2h, pot 100, stack 500"
    state: SolveState
    place: int | None  # in the queue, if it waits: 1 is next
    created: float  # seconds since 1970
    form: SpotForm | None  # None: it is not a spot
    game: GameForm | None  # None: it is a spot, or a review
    review: str | None  # the id of its review; None: it is not a review
    unit: str  # of exploitability: "% of pot", "mbb/hand"
    target: Known  # None: it ends in another way
    progress: SolveProgress | None
    note: str | None  # "compiling kernels, once, about half a minute"
    reason: str | None  # why it ended
    error: str | None
    solution: str | None  # the solution to look at, from the first save on
    saves: int  # how often it was saved: when it grows, the solution has new numbers
    locked: str | None = None  # the line that was locked in another solution to make it


class SolveDetail(Solve):
    """A solve with its curve."""

    curve: list[CurvePoint]


class SolveEvent(Message):
    """An event of a solve; the first one carries the whole curve."""

    solve: Solve
    points: list[CurvePoint]  # new ones


class Example(Message):
    """A spot that is ready to solve."""

    name: str
    description: str
    form: SpotForm


class RangeForm(Request):
    """A range and changes to it."""

    text: LongText
    changes: dict[Annotated[str, Field(max_length=3)], Weight] = Field(
        default={}, max_length=169
    )  # hand → new weight of all its combos


class RangeGrid(Message):
    """A range as a grid."""

    text: str  # canonical
    weights: list[Number]  # [169]: mean over the combos of each hand
    mixed: list[int]  # hands whose combos differ
    combos: Number
    percent: Number  # of all 1,326
    problem: Problem | None = None  # why the text could not be read


WholeLineText = Annotated[str, Field(max_length=1000, examples=["r2.5 c | QsJh2h"])]


class FlopForm(Request):
    """The flop to solve; words after it in the line are ignored."""

    line: WholeLineText
    target_pct: float = Field(default=0.3, gt=0, lt=100)  # of the pot


class ExactFlop(Message):
    """The state of a flop with real combos: solved, running, or its cost."""

    line: str  # "r2.5 c | QsJh2h"
    solution: str | None  # the spot, from its first save on
    spot_line: str  # the same place in the spot
    exploitability: Known  # of the spot, in % of pot
    draft: bool  # whether the spot is a draft, which waits for its exact solution
    suits: str  # the names of suits in the spot, if they differ: "c is s, s is c"
    notes: list[str]  # the sources of the figures and their differences
    solve: str | None  # that solves it, or solved it last
    live: bool  # whether that solve is active
    sparing: str  # how it is made to fit into memory, in words; "": it fits
    memory_bytes: int | None  # that solving takes; None: it is solved already
    seconds: Known  # that solving takes, set-up and checks included
    problem: str | None  # why it cannot be solved here


class GameEstimate(Message):
    """The memory and time that training a game takes, or the problems of its file."""

    problems: list[Problem]  # by key; empty: it can be trained
    free_bytes: int | None = None
    name: str = ""
    title: str = ""  # "20 bb, flops subset_25, cards classes"
    memory_bytes: int | None = None  # of the whole process
    disk_bytes: int | None = None  # of regrets that lie on the disk
    setup_seconds: Known = None  # before the first iteration
    seconds_per_iteration: Known = None
    iterations: int | None = None
    seconds: Known = None  # in all, if no threshold ends it earlier
    target: Known = None  # mbb/hand that end it
    flops: int | None = None
    buckets: int | None = None  # of hands on a river board, with real boards
    expected_mbb: Known = None  # exploitability with real cards, as guessed
    expected_before_mbb: Known = None  # the part of it lost before the flop
    expected_factor: Known = None  # the factor by which the guess may be off, up or down
    pots: int | None = None
    decisions: int | None = Field(default=None, validation_alias="postflop_decisions")


class SampleGame(Message):
    """A training file to start with."""

    name: str
    description: str
    text: str


RangeName = Annotated[ShortText, Field(examples=["BB calls 2.5"])]


class KeptRangeForm(Request):
    """A range to keep under a name."""

    name: RangeName
    text: LongText


class KeptRange(Message):
    """A range that is kept."""

    name: str
    text: str
    combos: Known  # None: the text cannot be read


class WrittenRangeForm(Request):
    """A range to write in another format."""

    text: LongText
    kind: RangeKind


HandName = Annotated[str, Field(max_length=3, examples=["AKs"])]
LockWay = Literal["always", "as_is", "at_most", "at_least", "exactly", "hands", "observed", "hud"]


class LockForm(Request):
    """The lock of a decision of a solved spot, or of a whole game."""

    line: str = Field(max_length=1000, examples=["x b33"])
    way: LockWay
    action: str = Field(default="", max_length=40, examples=["b33"])  # not with `as_is`
    percent: float = Field(default=0.0, ge=0, le=100)  # with a frequency
    hands: list[HandName] = Field(default=[], max_length=169)  # with `hands`
    text: LongText = ""
    """With `observed` CSV with columns node, action, frequency; with `hud` number, frequency."""
    opponent: PlayerName | None = None  # with `hud`: his seat; None: it follows from the numbers
    everywhere: bool = False  # for any cards dealt on the way; always so in whole games
    same_range: bool = False  # the player's earlier decisions on the line stay as they are


class AskedFrequency(BaseModel):
    """The requested frequency of an action; written by the server."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    line: str
    action: str
    frequency: str  # ">=60%"


class LockedSource(BaseModel):
    """The source of a spot or a game with locks; written by the server."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    folder: str  # of the solution without the lock
    line: str  # to the locked decision, with the cards of the view
    spot: dict[str, Any] | None = None  # the keys of a spot file; None: a whole game
    asked: tuple[AskedFrequency, ...] = ()
    """Frequencies: it is solved in rounds until they hold."""
    same_range: bool = False  # as in `LockForm`


class Pair(Message):
    """A figure before and after."""

    before: Known
    after: Known

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, given: Any) -> Any:
        return {"before": given[0], "after": given[1]} if isinstance(given, tuple) else given


class ActionChange(Message):
    """The frequency of an action."""

    word: str
    label: str
    frequency: Pair  # None: it is not offered
    asked: str = ""  # the frequency that the lock is for, and what came of it


class SolutionDifference(Message):
    """A solution with a lock beside its original."""

    before: str  # the other solution
    name: str  # of it
    line: str  # that was compared
    unit: str  # of `evs`: chips, mbb/hand
    evs: ByPlayer[Pair]  # at the start
    here: ByPlayer[Pair] | None  # from the line on; None: one of them does not have it
    actions: list[ActionChange]
    moved: str  # the hands that the lock moved here, in a sentence; empty: none
    text: str  # the player who gains, and the accuracy


class SimpleForm(Request):
    """The rule that makes both players' strategies simple; None: no change in this respect."""

    grid_pct: int | None = Field(default=None, ge=1, le=100)  # steps that divide 100
    sizes: int | None = Field(default=None, ge=1, le=9)  # that are kept at each decision
    drop_pct: int | None = Field(default=None, ge=1, le=50)  # actions below this are dropped


class SimpleStreet(Message):
    """Only one street made simple."""

    street: StreetName
    exploitability: Number
    prices: list[Number]  # of each seat
    mixed_before: int  # decisions of hands
    mixed_after: int


class SimplePrice(Message):
    """All streets made simple."""

    rule: str  # in words: "1 size, steps of 25 %"
    unit: str  # of all figures
    judged: str  # by which best response: "in its own game"
    seats: list[str]  # who is simple
    before: Number  # exploitability
    after: Number
    prices: list[Number]  # of each seat: the extra win of the opponent's best response
    decisions_before: int
    mixed_before: int
    decisions_after: int
    mixed_after: int
    streets: list[SimpleStreet]


NumberText = Annotated[str, Field(max_length=20, examples=["60%", "<=30"])]


class ExploitForm(Request):
    """The play of the opponent: a lock, HUD numbers, another solution; or the solution's own."""

    line: str = Field(default="", max_length=1000, examples=["r2.5 c | QsJh2h | x"])
    """Of the current place."""
    lock: LockForm | None = None
    hud: dict[Annotated[str, Field(max_length=40)], NumberText] = Field(default={}, max_length=40)
    hud_text: LongText = ""  # the same as CSV: number, frequency
    against: str | None = Field(default=None, max_length=64, pattern=r"^[0-9a-z]+$")
    opponent: PlayerName | None = None  # his seat; None: it follows from the rest


class ExploitHand(Message):
    """One of the 169 hands at a decision."""

    hand: str
    share: Number  # of the range that gets there
    action: str  # the best one
    often: Number  # of its combos for which it is best
    taken: Number  # how often the solution takes it
    ev: Number
    best: Number
    gain: Number


class ExploitAction(Message):
    """The frequency of an action in the solution and in the best response."""

    word: str
    label: str
    now: Number
    best: Number


class ExploitPart(Message):
    """The part of a gain from one decision, or from one pot after the flop."""

    line: str
    text: str
    gain: Number
    after_flop: bool


class Exploited(Message):
    """The best response of a player at one decision."""

    line: str
    words: str  # the same for people
    on_flops: bool  # whether all flops are shown together
    seat: str
    opponent: str
    unit: str  # of the decision: chips, bb
    total_unit: str
    gain: Number  # per hand that gets there
    total: Number  # over the whole solution
    doubt: Number  # of it, what a best response to the solution itself gains at most
    estimated: bool
    held: list[str]  # the frequencies of the requested actions
    sentences: list[str]  # the value of the whole, and its accuracy
    advice: list[str]
    actions: list[ExploitAction]
    hands: list[ExploitHand]  # those that add most first
    parts: list[ExploitPart]


class HudNumber(Message):
    """A HUD number of a player, and its value in the solution."""

    key: str
    label: str
    situation: str
    player: PlayerName
    decisions: list[str]  # lines
    now: Known
