"""Whole games that are trained from the page."""

from pydantic import Field

from allstreets.explorer.models.base import Message, Number, Problem


class GameEstimate(Message):
    """What training a game takes, or what is wrong with its file."""

    problems: list[Problem]  # by key; empty: it can be trained
    free_bytes: int | None = None
    name: str = ""
    title: str = ""  # "20 bb, flops subset_25, cards classes"
    memory_bytes: int | None = None  # of the whole process
    disk_bytes: int | None = None  # of regrets that lie on the disk
    setup_seconds: Number | None = None  # before the first iteration
    seconds_per_iteration: Number | None = None
    iterations: int | None = None
    seconds: Number | None = None  # in all, if no threshold ends it before
    target: Number | None = None  # mbb/hand that end it
    flops: int | None = None
    pots: int | None = None
    decisions: int | None = Field(default=None)  # on each flop, of all pots


class SampleGame(Message):
    """A training file to begin with."""

    name: str
    description: str
    text: str
