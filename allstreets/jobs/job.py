"""The shape of everything that takes time: plan it, run it with callbacks, read the outcome.

The state of a job is a frozen record (`Progress`) that observers draw, with estimates of the
remaining time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np

from allstreets import base  # its kernels wait until they are needed
from allstreets.base import Control, duration, process_bytes
from allstreets.cfr import Metrics

if TYPE_CHECKING:
    from allstreets.base import Place
    from allstreets.cluster import NodeUse
    from allstreets.engines import DeviceUse
    from allstreets.games import Spot
    from allstreets.solutions import WholeSolution


# Why a run ended. All but the last are the names of stop rules.
Reason = Literal[
    "exploitability_threshold", "regret_threshold", "iterations", "time", "interrupted"
]


ITERATIONS = "iterations"
WINDOW = 10  # the checks that an estimate is made from
MIN_POINTS = 3  # a slope through two points is not a trend
MAX_SECONDS = 10 * 365 * 86_400.0  # an estimate beyond ten years is meaningless
COMPILING = "compiling kernels, once, about half a minute"


@dataclass(frozen=True)
class Check:
    """The figures at one iteration: a line of the metrics file, a point of the curve."""

    iteration: int
    seconds: float  # of the whole run, the time before a resume included
    iterations_per_second: float | None  # None = too early to tell
    solver_bytes: int
    process_bytes: int | None  # None = this platform does not say
    metrics: Metrics

    def to_row(self) -> dict[str, Any]:
        """The progress as one flat JSON object."""
        row = {each.name: getattr(self, each.name) for each in fields(self)}
        del row["metrics"]
        return row | asdict(self.metrics)

    @staticmethod
    def from_row(row: Mapping[str, Any]) -> Check:
        """Back from `to_row`. Raises `KeyError` or `TypeError` on anything else."""
        own = {each.name: row[each.name] for each in fields(Check) if each.name != "metrics"}
        # A figure that an earlier version did not have is not known.
        figures = {each.name: row.get(each.name) for each in fields(Metrics)}
        return Check(**own, metrics=Metrics(**figures))


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a job: iterations of a solver, or pieces of work such as flops.

    A job reports it at every check or piece, and a few times per second in between.
    """

    done: int  # those of earlier runs included
    total: int | None  # None = not fixed
    noun: str = ITERATIONS  # the plural of what `done` counts: "iterations", "flops"
    before: int = 0  # of `done`, by earlier runs
    failed: int = 0
    latest: Any = None  # the last finished piece
    running: tuple[Any, ...] = ()  # keys of the pieces in progress
    part: Progress | None = None  # the progress of the pieces in progress
    figures: tuple[str, ...] = ()  # figures beside the count, in words
    faults: tuple[str, ...] = ()  # a line for each failure so far
    seconds: float  # of the whole run, the time before a resume included
    session_seconds: float = 0.0  # since this process began to train
    eta_seconds: float | None = None  # until `total` is done
    process_bytes: int | None = None  # None = this platform does not say
    nodes: tuple[NodeUse, ...] = ()  # the machines of a cluster
    paused: bool = False  # the run is paused, and its time stands still

    # Of a solver:
    iterations_per_second: float | None = None
    target_eta_seconds: float | None = None  # to the exploitability target, by the curve's slope
    solver_bytes: int = 0
    unit: str = ""  # of exploitability and regrets
    rules: tuple[StopRule, ...] = ()
    check: Check | None = None  # the latest one; None before the first
    holding: tuple[Reason, ...] = ()  # the rules that hold, the most significant first
    recent: tuple[float | None, ...] = ()  # exploitability at the latest checks, newest last
    device: DeviceUse | None = None  # the run's use of a GPU
    reserve_seconds: float = 0.0  # of the next iterations and their check, judging by the last ones

    @property
    def iteration(self) -> int:
        """Iterations that are done."""
        return self.done

    @property
    def seconds_per_piece(self) -> float | None:
        """The mean over the pieces of this run."""
        done = self.done - self.before
        return self.seconds / done if done else None

    @property
    def ended(self) -> bool:
        """Whether this is the last report."""
        return bool(self.holding) or (self.noun != ITERATIONS and self.done == self.total)

    @property
    def metrics(self) -> Metrics | None:
        """The figures of the latest check."""
        return self.check.metrics if self.check else None

    @property
    def fresh_metrics(self) -> Metrics | None:
        """The figures of this very iteration; `None` between two checks."""
        return self.metrics if self.check and self.check.iteration == self.done else None


Observer = Callable[[Progress], None]


def pieces(
    noun: str,
    done: int,
    total: int,
    seconds: float,
    figures: Callable[[Progress], Sequence[str]] | None = None,
    left: int | None = None,
    **facts: Any,
) -> Progress:
    """Progress in pieces of work; the rest is expected to take as long as the mean of this run."""
    progress = Progress(noun=noun, done=done, total=total, seconds=seconds, **facts)
    pace = progress.seconds_per_piece
    if pace is not None:
        left = total - done if left is None else left
        progress = replace(progress, eta_seconds=pace * left)
    return progress if figures is None else replace(progress, figures=tuple(figures(progress)))


class StopRule(Protocol):
    """One reason to end a run."""

    @property
    def name(self) -> Reason:
        """The rule's name: of its config key, and of the outcome's reason."""

    def holds(self, progress: Progress) -> bool:
        """Whether this rule ends the run now; old figures do not count."""

    def describe(self, unit: str) -> str:
        """The rule in words, with the unit of its figure."""


@dataclass(frozen=True)
class TrainingOutcome:
    """The end of a run."""

    reason: Reason
    progress: Progress
    history: tuple[Check, ...]
    checkpoints: Place | None  # the folder that the run was saved in
    unsaved: str | None = None  # why the last checkpoint could not be written, in words
    seconds_per_iteration: float | None = None  # without checks; None = nothing was trained

    @property
    def converged(self) -> bool:
        """Whether a threshold was reached."""
        return self.reason in ("exploitability_threshold", "regret_threshold")


def speed(points: Sequence[tuple[int, float]]) -> float | None:
    """Iterations per second over the latest of `points` (iteration, second); `None` = too early.

    The time of checks and checkpoints is part of it, since the user waits for them too.

    >>> speed([(0, 0.0), (100, 2.0), (200, 4.0)])
    50.0
    """
    recent = points[-WINDOW - 1 :]
    if len(recent) < 2:
        return None
    iterations, seconds = recent[-1][0] - recent[0][0], recent[-1][1] - recent[0][1]
    return iterations / seconds if iterations > 0 and seconds > 0 else None


def time_to_total(iteration: int, total: int | None, rate: float | None) -> float | None:
    """Seconds until `total` iterations are done."""
    if total is None or rate is None:
        return None
    return max(total - iteration, 0) / rate


def time_to_target(
    curve: Sequence[tuple[int, float]], target: float | None, rate: float | None
) -> float | None:
    """Seconds until the exploitability is `target`, if the curve continues.

    CFR's exploitability falls like a power of the iterations, a straight line on log-log paper. The
    line is fitted by least squares to the last checks, `curve` = (iteration, exploitability), and
    followed to the target. `None` when there are too few checks, when it does not fall, or when the
    answer is absurd. The true curve jumps: take it as an order of magnitude.
    """
    if target is None or rate is None:
        return None
    points = [(x, y) for x, y in curve if x > 0 and y > 0][-WINDOW:]
    if len(points) < MIN_POINTS:
        return None
    log_x, log_y = np.log(np.array(points, dtype=np.float64)).T
    centred = log_x - log_x.mean()
    slope = float(centred @ log_y / (centred @ centred))
    if slope >= 0:
        return None
    exponent = (math.log(target) - float(log_y.mean())) / slope + float(log_x.mean())
    now = points[-1][0]
    if exponent > math.log(now + MAX_SECONDS * rate):
        return None
    return max(math.exp(exponent) - now, 0.0) / rate


def time_left(progress: Progress) -> list[str]:
    """The remaining time, in words."""
    return [f"ETA {duration(progress.eta_seconds)}"]


class Tally:
    """Reports the progress of a job to its observers, one piece at a time."""

    def __init__(
        self,
        noun: str,
        total: int,
        before: int,
        observers: Sequence[Observer],
        nodes: Callable[[], tuple[NodeUse, ...]] = tuple,
        figures: Callable[[Progress], Sequence[str]] | None = None,
    ) -> None:
        self._noun, self._total, self._before = noun, total, before
        self._observers, self._nodes, self._figures = observers, nodes, figures
        self._began = time.monotonic()

    def tell(self, done: int, latest: Any = None, failed: int = 0, **facts: Any) -> None:
        """Report how many pieces are `done`, and how many of them have `failed`."""
        if not self._observers:
            return
        progress = pieces(
            self._noun,
            done,
            self._total,
            time.monotonic() - self._began,
            self._figures,
            before=self._before,
            failed=failed,
            latest=latest,
            process_bytes=process_bytes(),
            nodes=self._nodes(),
            **facts,
        )
        for observer in self._observers:
            observer(progress)

    def wait(self, control: Control) -> None:
        """Wait while the job is paused; that time does not count."""
        since = time.monotonic()
        control.wait_while_paused()
        self._began += time.monotonic() - since


@dataclass(frozen=True)
class Callbacks:
    """The functions that a job calls while it runs, for a terminal, a notebook, a server."""

    ready: Callable[[], None] | None = None  # everything is checked, and the work begins
    progress: tuple[Observer, ...] = ()  # a few times per second
    setup: tuple[Observer, ...] = ()  # the progress of preparations: tables of flops, say
    charts: Callable[[Progress, WholeSolution], None] | None = None  # at the config's intervals
    answer: Callable[[Outcome], None] | None = None  # a first answer, while the work continues
    message: Callable[[str], None] | None = None  # events on a cluster, in words
    control: Control | None = None  # pauses and stops it; None: the system's signals

    def begin(self) -> None:
        """Report that everything is checked and the work begins."""
        if self.ready is not None:
            self.ready()

    def answered(self, outcome: Outcome) -> None:
        """Report a first answer; the work continues."""
        if self.answer is not None:
            self.answer(outcome)

    def say(self, text: str) -> None:
        """Report an event."""
        if self.message is not None:
            self.message(text)

    def counter(self, noun: str) -> Callable[[int, int], None]:
        """A function to call with the number done and the total, in a step before the work."""
        tally: list[Tally] = []

        def tell(done: int, total: int) -> None:
            if not tally:
                tally.append(Tally(noun, total, 0, self.setup, figures=time_left))
            tally[0].tell(done)

        return tell


NO_CALLBACKS = Callbacks()


@dataclass(frozen=True)
class Plan:
    """The work that a job will do, and the memory and time that it takes."""

    lines: tuple[str, ...]  # for display
    memory_bytes: int | None = None
    seconds: float | None = None  # None: not known
    kernels: str | None = None  # kernels that it waits for if they are not compiled


class Outcome(Protocol):
    """The outcome of a job."""

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""

    @property
    def problem(self) -> str | None:
        """The reason why no other job can build on it, in words: it is not saved, say."""

    def lines(self) -> list[str]:
        """The result, in words."""

    def to_json(self) -> dict[str, Any] | None:
        """The job in figures."""


Ended = TypeVar("Ended", bound=Outcome, covariant=True)


class Job(Protocol[Ended]):
    """A piece of work that takes time."""

    def plan(self) -> Plan:
        """Plan the job; raise an `InputError` if it cannot run."""

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> Ended:
        """Run the job; results are stored as they come, and a later run resumes from them."""


DRAFT_KERNELS = "draft"


def spot_kernels(spot: Spot, precision: str) -> str:
    """The name of the kernels that such spots are solved with."""
    return f"solved-{spot.tree.first_street.text}-{precision}"


def must_compile(spot: Spot, precision: str) -> bool:
    """Whether no such spot has been solved with these kernels."""
    return not (base.compiled_folder() / spot_kernels(spot, precision)).exists()


def mark_compiled(spot: Spot, precision: str) -> None:
    """Remember that such a spot has been solved."""
    must_announce(spot_kernels(spot, precision))


def must_announce(kernels: str) -> bool:
    """Whether to announce the wait for kernels of this name; only the first call returns true."""
    marker = base.compiled_folder() / kernels  # beside the kernels, so it is removed with them
    if marker.exists():
        return False
    with suppress(OSError):  # then it is announced once more
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    return True
