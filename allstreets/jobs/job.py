"""The shape of everything that takes time: plan it, run it with callbacks, look at the outcome."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from allstreets.base import Control, compiled_folder
from allstreets.games import Spot
from allstreets.jobs.progress import Observer, Progress, Tally, time_left
from allstreets.solutions import WholeSolution


@dataclass(frozen=True)
class Callbacks:
    """Called while a job runs, by whoever looks on: a terminal, a notebook, a server."""

    ready: Callable[[], None] | None = None  # everything is checked, and the work begins
    progress: tuple[Observer, ...] = ()  # a few times per second
    setup: tuple[Observer, ...] = ()  # how far what comes before is: tables of flops, say
    charts: Callable[[Progress, WholeSolution], None] | None = None  # at the config's intervals
    answer: Callable[["Outcome"], None] | None = None  # a first answer, while the work goes on
    message: Callable[[str], None] | None = None  # what happens on a cluster, in words
    control: Control | None = None  # who pauses and stops it; None: the system's signals

    def begin(self) -> None:
        """Everything is checked, and the work begins."""
        if self.ready is not None:
            self.ready()

    def answered(self, outcome: "Outcome") -> None:
        """A first answer is there, and the work goes on."""
        if self.answer is not None:
            self.answer(outcome)

    def say(self, text: str) -> None:
        """Something has happened."""
        if self.message is not None:
            self.message(text)

    def counter(self, things: str) -> Callable[[int, int], None]:
        """To be called with what is done and of how many, in a step before the work."""
        tally: list[Tally] = []

        def tell(done: int, total: int) -> None:
            if not tally:
                tally.append(Tally(things, total, 0, self.setup, figures=time_left))
            tally[0].tell(done)

        return tell


NO_CALLBACKS = Callbacks()


@dataclass(frozen=True)
class Plan:
    """The work that a job will do, and the memory and time that it takes."""

    lines: tuple[str, ...]  # for people
    memory_bytes: int | None = None
    seconds: float | None = None  # None: not known
    kernels: str | None = None  # those that it waits for where they are not compiled


class Outcome(Protocol):
    """The outcome of a job."""

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""

    @property
    def problem(self) -> str | None:
        """Why no other job can build on it, for people: it is not saved, say."""

    def lines(self) -> list[str]:
        """The result, for people."""

    def to_json(self) -> dict[str, Any] | None:
        """The job in figures."""


Ended = TypeVar("Ended", bound=Outcome, covariant=True)


class Job(Protocol[Ended]):
    """Something that takes time."""

    def plan(self) -> Plan:
        """Plan the job; raise an `InputError` where it cannot run."""

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> Ended:
        """Do it; what is done is stored on the way, and a later run goes on from there."""


COMPILING = "compiling kernels, once, about half a minute"


def spot_kernels(spot: Spot, precision: str) -> str:
    """The name of the kernels that such spots are solved with."""
    return f"solved-{spot.tree.first_street.text}-{precision}"


def must_compile(spot: Spot, precision: str) -> bool:
    """Whether no such spot has been solved with these kernels."""
    return not (compiled_folder() / spot_kernels(spot, precision)).exists()


def mark_compiled(spot: Spot, precision: str) -> None:
    """Remember that such a spot has been solved."""
    must_announce(spot_kernels(spot, precision))


def must_announce(kernels: str) -> bool:
    """Whether kernels of this name have not been waited for; from now on they have."""
    marker = compiled_folder() / kernels  # beside the kernels, so it goes when they do
    if marker.exists():
        return False
    with suppress(OSError):  # then it is announced once more
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    return True
