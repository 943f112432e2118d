"""Messages that describe a solution from the outside."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from allstreets.explorer.models.base import Known, Message, Number, SolutionKind


class Fact(Message):
    """A line of a description."""

    label: str
    value: str


class CurvePoint(Message):
    """A check of a run."""

    iteration: int
    seconds: Number
    exploitability: Known
    regret: Known = None  # average positive regret, where it is known

    @classmethod
    def of_check(cls, row: Mapping[str, Any]) -> "CurvePoint":
        """A check from a row of a bundle's metrics."""
        return cls(
            iteration=int(row["iteration"]),
            seconds=float(row.get("seconds") or 0.0),
            exploitability=row.get("exploitability"),
            regret=row.get("avg_positive_regret"),
        )


class Curve(Message):
    """Exploitability over time."""

    unit: str  # "% of pot", "mbb/hand"
    points: list[CurvePoint]


class RealQuality(Message):
    """The exploitability of a whole game with real cards, in mbb/hand (`allstreets certify`)."""

    exploitability: Number = Field(validation_alias="real_exploitability_mbb")
    low: Number  # 95 %
    high: Number
    outdated: bool  # the solution has changed since


class Label(BaseModel):
    """The name and the note that a user gave to a solution."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(default="", max_length=200)  # "": as it was named when it was solved
    note: str = Field(default="", max_length=10_000)


class Trashed(Message):
    """A folder that was deleted and can be brought back."""

    id: str
    name: str
    folder: str  # where it was
    deleted: float  # seconds since 1970


class SpotTable(Message):
    """A spot of a set, with the boards that it is solved on."""

    name: str
    solutions: list[str]  # one for each board, in the order of the request


class Simple(Message):
    """The rule that made strategies simple, and its cost."""

    text: str  # the simplified players, the rule, and its cost
    judged: str  # by which best response: "in its own game"


class SimpleSource(Message):
    """The solution that simple strategies were made from."""

    id: str
    name: str


class SolutionCard(Message):
    """A solution in a list."""

    id: str
    kind: SolutionKind | None  # None: it cannot be read
    name: str  # given by a user, or from when it was solved
    note: str = ""  # a user's note
    title: str  # what game it is, in one line
    folder: str  # for display; requests never name folders
    iterations: int | None
    exploitability: Known  # in its own game, or as `simple` says; for a set the worst
    unit: str
    bytes: int
    modified: float  # seconds since 1970
    written: str = ""  # changes when it is rewritten
    problem: str | None = None  # why it cannot be read
    locks: int = 0  # locked strategies
    real: RealQuality | None = None  # None: no certificate
    part_of: str | None = None  # the set that a spot was solved in
    tables: list[SpotTable] = Field(default_factory=list)  # of a set
    simple: Simple | None = None  # if its strategies were made simple


class ReadyMadeGame(Message):
    """A game of the library that comes with the program."""

    id: str  # as of every solution; it is unpacked when it is first opened
    name: str  # "hu-20bb"
    stack_bb: Number
    real: RealQuality | None
    words: str  # its worth, in words
    reaches_target: bool


class ReadyMadeFormat(Message):
    """Games of one format at several stacks."""

    name: str  # "Heads-up tournaments without antes"
    tree: str  # the betting before the flop, in words
    words: str  # the worth of all of them
    date: str  # of the latest
    games: list[ReadyMadeGame]  # by stack


class Features(Message):
    """The views that a solution offers."""

    combos: bool  # strategies by combo, not only by hand
    cards: bool  # a report over turn or river cards
    flops: bool  # a table over flops
    equity: bool


class SpotOrigin(Message):
    """The whole game that a spot is a flop of."""

    head: str  # the sources of the figures and their differences, in a line
    notes: list[str]  # the same in full
    name: str  # of the whole game
    solution: str | None  # the whole game, where the spot lies beside it
    line: str  # to the flop, there


class SolutionDetail(SolutionCard):
    """A solution with its facts."""

    facts: list[Fact]  # game, stacks, sizes, card model, algorithm, time
    notes: list[str]  # the stored streets, the meaning of the numbers
    curve: Curve
    features: Features
    root: str  # the line to begin with
    solve: str | None = None  # the solve that wrote it, if it was one of this server's
    origin: SpotOrigin | None = None  # the whole game that it is a flop of
    compared: bool = False  # whether there is a solution that a lock made it from: /difference
    simple_from: SimpleSource | None = None  # where that is one of the solutions here


class About(Message):
    """The server, and what pages need to know once."""

    version: str
    hands: list[str]  # the 169, in the order of all lists
    folders: list[str]  # that were opened, for display
    solves_at_once: int
    max_memory_bytes: int
