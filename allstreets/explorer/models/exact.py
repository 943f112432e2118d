"""A flop of a whole game that is solved exactly, beside the solution."""

from typing import Annotated

from pydantic import Field

from allstreets.explorer.models.base import Message, Number
from allstreets.explorer.models.solves import Request

WholeLineText = Annotated[str, Field(max_length=1000, examples=["r2.5 c | QsJh2h"])]


class FlopForm(Request):
    """Which flop to solve; what follows it in the line is ignored."""

    line: WholeLineText
    target_pct: float = Field(default=0.3, gt=0, lt=100)  # of the pot


class ExactFlop(Message):
    """What is known of a flop with real combos."""

    line: str  # "r2.5 c | QsJh2h"
    solution: str | None  # the spot, from its first save on
    spot_line: str  # the same place in the spot
    exploitability: Number | None  # of the spot, in % of pot
    suits: str  # how suits are called in the spot, where that differs: "c is s, s is c"
    notes: list[str]  # which figures come from where, and how much they differ
    solve: str | None  # that solves it, or has solved it last
    live: bool  # whether that solve goes on
    sparing: str  # how it is made to fit into memory, for people; "": it fits as it is
    memory_bytes: int | None  # that solving takes; None: it is solved already
    seconds_per_iteration: Number | None
    problem: str | None  # why it cannot be solved here
