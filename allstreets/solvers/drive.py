"""Drive a solver to its target: train, check, stop. Every run of this package goes through here.

1. Train up to the next iteration at which something is due: a check, a checkpoint or report of the
caller, the last iteration.
2. Between two iterations poll the control (stop, pause) and the timer; either ends the batch.
3. At a check, and at the end, evaluate the exploitability of the average strategies.
4. Hand a `Step` to the caller, who may end the drive there.
5. Stop when the target is reached, the iterations are done, the time is up, or the control says so.

`checks` says at which iterations the solver is evaluated: at multiples of an interval, which a
resumed run meets again, or where the curve so far predicts the target (`Planned`).

The time counts everything since its `Timer` was started, checks included. Training ends while there
is time for the last check: when one more lap (the iterations between two polls) and one more check
would overrun the limit, if they take as long as the last ones.

Nothing here knows files, terminals or settings: `jobs.loop` adds them.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from allstreets.base import Control

Curve = Sequence[tuple[int, float]]  # (iteration, exploitability) of the checks so far
Ending = Literal["target", "iterations", "time"]

FIRST_CHECK = 10  # iterations before each of the two checks that a plan starts from
SHARE = 0.8  # of the predicted way to the target, up to the next check
CLOSEST, FARTHEST = 3, 50  # iterations between two planned checks


class Trainable(Protocol):
    """The part of a solver that a drive needs."""

    @property
    def iterations(self) -> int:
        """Iterations done so far."""

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more; between some of them ask `callback` whether to stop early."""


class Checks(Protocol):
    """The schedule of the checks of a run."""

    def after(self, iteration: int, curve: Curve) -> int:
        """The iteration of the next check; `curve` holds the checks so far."""


@dataclass(frozen=True)
class Multiples:
    """A check at every multiple of `interval`."""

    interval: int

    def after(self, iteration: int, curve: Curve) -> int:  # noqa: ARG002
        """The first multiple after `iteration`."""
        return next_multiple(iteration, self.interval)


@dataclass(frozen=True)
class Planned:
    """Checks where the target is predicted, by the power law through the last two of the curve.

    With exploitability e0 at iteration t0 and e at t,

        s = ln(e0 / e) / ln(t / t0)      e falls like t^−s
        t* = t · (e / target)^(1 / s)    where it meets the target

    and the next check comes 0.8 · (t* − t) iterations after t, at least 3 and at most 50. The share
    below 1 avoids training far beyond the target, and the last few checks close the gap. This takes
    0.88 to 0.97 of the time of a check every ten iterations (`benchmarks/bench_checks.py`).

    Only checks that the plan asked for count: a run that is interrupted is evaluated once more, and
    resumes with the checks of an uninterrupted run.
    """

    target: float

    def after(self, iteration: int, curve: Curve) -> int:
        """The iteration of the next check.

        >>> Planned(0.5).after(20, [(10, 4.0), (20, 2.0)])  # e = 40 / t meets 0.5 at 80
        68
        """
        due, asked_for = FIRST_CHECK, []
        for check in curve:
            if check[0] == due:
                asked_for.append(check)
                due += self._gap(asked_for)
        return due if due > iteration else iteration + self._gap(curve)

    def _gap(self, curve: Curve) -> int:
        """Iterations after the last check of a curve; ten where there is no trend to follow."""
        if len(curve) < 2:
            return FIRST_CHECK
        (t0, e0), (t, e) = curve[-2:]
        if not (0 < t0 < t and e0 > e > self.target > 0):
            return FIRST_CHECK
        slope = math.log(e0 / e) / math.log(t / t0)
        farthest = math.log(1 + FARTHEST / (SHARE * t))  # ln(t* / t) of the largest gap
        if math.log(e / self.target) >= farthest * slope:
            return FARTHEST
        predicted = t * math.pow(e / self.target, 1 / slope)
        return max(math.ceil(SHARE * (predicted - t)), CLOSEST)


class Timer:
    """The time of a run against its limit; starts when it is made.

    It knows how long the last lap and the last check took, and so whether one more of both fits.
    """

    def __init__(
        self, limit: float = math.inf, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit, self._clock = limit, clock  # seconds
        self._began = self._lap_began = clock()
        self._lap_iteration = 0
        self._first: tuple[int, float] | None = None  # iterations and seconds of the first lap
        self._others = 0, 0.0  # iterations and seconds of all later laps
        self._lap = self._check = 0.0  # seconds of the last of these, and of the last check

    def seconds(self) -> float:
        """Seconds since the start, without pauses."""
        return self._clock() - self._began

    @property
    def reserve(self) -> float:
        """Seconds that one more lap and its check take, judging by the last ones.

        The first lap may wait for the compiler, so it does not count: until there is a second lap,
        or a first check, this is 0.
        """
        return self._lap + self._check

    def is_up(self, seconds: float) -> bool:
        """Whether one more lap and its check, started at `seconds`, would overrun the limit."""
        return seconds + self.reserve >= self._limit

    @property
    def seconds_per_iteration(self) -> float | None:
        """The mean without checks and without the first lap, which may wait for the compiler.

        With only one lap it is that of the first; None: nothing was trained.
        """
        iterations, seconds = self._others if self._others[0] else self._first or (0, 0.0)
        return seconds / iterations if iterations else None

    def begin_lap(self, iteration: int) -> None:
        """The iterations after this one are timed."""
        self._lap_iteration, self._lap_began = iteration, self._clock()

    def end_lap(self, iteration: int) -> None:
        """The iterations up to this one are done."""
        count, seconds = iteration - self._lap_iteration, self._clock() - self._lap_began
        if self._first is None:
            self._first = count, seconds
        else:
            self._others = self._others[0] + count, self._others[1] + seconds
            self._lap = seconds

    def check(self, evaluate: Callable[[], float | None]) -> float | None:
        """Evaluate, and time it."""
        began = self._clock()
        exploitability = evaluate()
        self._check = self._clock() - began
        return exploitability

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time stands still inside."""
        stood_at = self.seconds()
        yield
        self._began = self._clock() - stood_at


@dataclass(frozen=True)
class Step:
    """The state of a drive after a batch of iterations."""

    iteration: int
    seconds: float  # on the timer
    reserve: float  # seconds of one more lap and its check
    exploitability: float | None  # of this very iteration; None: it was not checked
    ending: Ending | None  # why this is the last one


def drive(
    solver: Trainable,
    evaluate: Callable[[], float | None],
    checks: Checks,
    timer: Timer,
    *,
    target: float = -math.inf,
    iterations: float = math.inf,
    control: Control | None = None,
    curve: Curve = (),
    due: Callable[[int], float] = lambda _: math.inf,
    between: Callable[[int], None] = lambda _: None,
    pause: Callable[[], None] | None = None,
) -> Iterator[Step]:
    """Train until something ends the run, or `control` stops it: then the last step has no ending.

    Args:
        solver: What is trained.
        evaluate: Its exploitability, in the unit of `target`; None: it is not known.
        checks: Where it is evaluated.
        timer: The clock and its limit.
        target: The exploitability to reach.
        iterations: The last one, those before a resume included.
        control: Stops or pauses between two iterations.
        curve: The checks before a resume.
        due: From an iteration to the next one at which the caller wants a step.
        between: Called between iterations with the number of those that are done.
        pause: Waits while `control` is paused, and the timer stands still; by default in silence.
    """
    control = control or Control()
    pause = pause or control.wait_while_paused
    known = list(curve)

    def ends_batch() -> bool:
        stopped = control.wants_to_stop() or control.is_paused()
        return stopped or timer.is_up(timer.seconds())

    def poll(iteration: int) -> bool:
        timer.end_lap(iteration)
        control.hold()
        between(iteration)
        timer.begin_lap(iteration)
        return ends_batch()

    while True:
        before = solver.iterations
        check_at = checks.after(before, known)
        timer.begin_lap(before)
        solver.train_batch(int(min(check_at, due(before), iterations)) - before, poll)
        now = solver.iterations
        control.hold()
        if now == before and not ends_batch():
            raise RuntimeError(f"the solver did not train beyond iteration {now}")
        exploitability, seconds = None, timer.seconds()
        if now in (check_at, iterations) or timer.is_up(seconds):
            exploitability = timer.check(evaluate)
            if exploitability is not None:
                known.append((now, exploitability))
            seconds = timer.seconds()
        ending: Ending | None = None
        if exploitability is not None and exploitability <= target:
            ending = "target"
        elif now >= iterations:
            ending = "iterations"
        elif timer.is_up(seconds):
            ending = "time"
        yield Step(now, seconds, timer.reserve, exploitability, ending)
        if ending is not None:
            return
        if control.is_paused():
            with timer.paused():
                pause()
        if control.wants_to_stop():
            return


def next_multiple(iteration: int, interval: int) -> int:
    """The first multiple of `interval` after `iteration`."""
    return iteration - iteration % interval + interval
