"""Locks from the page, and what they change."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from allstreets.explorer.models.base import Message, Number, PlayerName
from allstreets.explorer.models.solves import LongText, Request

HandName = Annotated[str, Field(max_length=3, examples=["AKs"])]
LockWay = Literal["always", "as_is", "at_most", "at_least", "exactly", "hands", "observed"]


class LockForm(Request):
    """What a player is made to do at a decision of a solved spot, or of a whole game."""

    line: str = Field(max_length=1000, examples=["x b33"])
    way: LockWay
    action: str = Field(default="", max_length=40, examples=["b33"])  # not with `as_is`
    percent: float = Field(default=0.0, ge=0, le=100)  # with a frequency
    hands: list[HandName] = Field(default=[], max_length=169)  # with `hands`
    text: LongText = ""  # with `observed`: CSV with the columns node, action, frequency
    everywhere: bool = False  # whatever cards were dealt on the way; so are all of whole games


class LockedSource(BaseModel):
    """What a spot or a game with locks was before; written by the server."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    folder: str  # of the solution without the lock
    line: str  # to what was locked, with the cards that were looked at
    spot: dict[str, Any] | None = None  # the keys of a spot file; None: a whole game


class Pair(Message):
    """A figure before and after."""

    before: Number | None
    after: Number | None


class ActionChange(Message):
    """How often an action is taken."""

    word: str
    label: str
    frequency: Pair  # None: it is not offered


class SolutionDifference(Message):
    """A solution with a lock beside the one that it was made from."""

    before: str  # the other solution
    name: str  # of it
    line: str  # that was compared
    unit: str  # of `evs`: chips, mbb/hand
    evs: dict[PlayerName, Pair]  # at the start
    here: dict[PlayerName, Pair] | None  # from the line on; None: one of them does not have it
    actions: list[ActionChange]
    text: str  # who gains, and how exactly that is known
