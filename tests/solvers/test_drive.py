"""Driving a solver: where checks lie, what ends it, and that it keeps to its time."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from builders.small_spots import RIVER, spot
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import Control, StopWhen
from allstreets.solutions import solve
from allstreets.solvers import Multiples, Planned, SpotSolver, Step, Timer, drive


@dataclass
class Slow:
    """A solver whose exploitability is 100 / t, and which takes its time on a clock of its own."""

    setup: float = 0.0
    iteration: float = 1.0  # seconds
    check: float = 0.0
    first: float = 0.0  # more seconds of the first iteration
    lap: int = 1  # iterations between two polls
    now: float = 0.0
    iterations: int = 0
    checked: list[int] = field(default_factory=list)
    begun: list[float] = field(default_factory=list)  # seconds when each check began

    def clock(self) -> float:
        return self.now

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        end = self.iterations + iterations
        while self.iterations < end:
            count = min(self.lap, end - self.iterations)
            self.now += count * self.iteration + (0 if self.iterations else self.first)
            self.iterations += count
            if callback is not None and callback(self.iterations):
                return

    def exploitability(self) -> float:
        self.checked.append(self.iterations)
        self.begun.append(self.now)
        self.now += self.check
        return 100 / self.iterations

    def drive(self, checks: Any, limit: float = math.inf, **options: Any) -> list[Step]:
        timer = Timer(limit, self.clock)
        self.now += self.setup
        return list(drive(self, self.exploitability, checks, timer, **options))


def test_checks_at_multiples_and_at_the_end() -> None:
    solver = Slow()
    steps = solver.drive(Multiples(10), iterations=34)
    assert solver.checked == [10, 20, 30, 34]
    assert [step.iteration for step in steps] == solver.checked
    assert [step.ending for step in steps] == [None, None, None, "iterations"]
    assert [step.exploitability for step in steps] == [100 / t for t in solver.checked]
    assert [step.seconds for step in steps] == solver.checked


def test_the_target_ends_it_at_the_first_check_below() -> None:
    steps = Slow().drive(Multiples(10), target=1.2, iterations=1000)
    assert (steps[-1].iteration, steps[-1].ending) == (90, "target")


def test_planned_checks_follow_the_power_law() -> None:
    """e = 100 / t meets 1 at 100: a check after at most 50, then after 0.8 of the way, then 3."""
    solver = Slow()
    steps = solver.drive(Planned(1.0), target=1.0)
    assert solver.checked == [10, 20, 70, 94, 99, 102]
    assert steps[-1].ending == "target"


def test_a_plan_goes_on_from_the_checks_before() -> None:
    solver = Slow(iterations=70)
    solver.drive(Planned(1.0), target=1.0, curve=[(20, 5.0), (70, 100 / 70)])
    assert solver.checked == [94, 99, 102]


@pytest.mark.parametrize("at", [1, 10, 33, 70, 93, 99, 101])
@pytest.mark.parametrize("evaluated", [False, True])
def test_a_resumed_run_makes_the_checks_of_an_uninterrupted_one(at: int, evaluated: bool) -> None:
    """Stopped by a control without a check, or by a number of iterations with one."""
    whole, first = Slow(), Slow()
    whole.drive(Planned(1.0), target=1.0)
    if evaluated:
        steps = first.drive(Planned(1.0), iterations=at)
    else:
        steps = first.drive(Planned(1.0), control=StopWhen(lambda: first.iterations >= at))
    curve = [(one.iteration, one.exploitability) for one in steps if one.exploitability is not None]
    second = Slow(iterations=first.iterations)
    second.drive(Planned(1.0), target=1.0, curve=curve)
    assert sorted({*first.checked, *second.checked} - {at}) == sorted({*whole.checked} - {at})
    assert second.iterations == whole.iterations


@pytest.mark.parametrize(
    "curve",
    [
        [],
        [(10, 3.0)],
        [(10, 3.0), (20, 3.0)],  # does not fall
        [(10, 3.0), (20, 4.0)],
        [(20, 4.0), (20, 3.0)],  # twice at one iteration
        [(0, 4.0), (20, 3.0)],
        [(10, 3.0), (20, 0.5)],  # is there already
        [(10, 3.0), (20, 0.0)],
    ],
)
def test_a_plan_without_a_trend(curve: list[tuple[int, float]]) -> None:
    assert Planned(1.0).after(30, curve) == 40


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.floats(1e-300, 1e300),
    st.floats(1e-300, 1e300),
    st.floats(1e-300, 1e300),
)
def test_a_plan_for_any_curve(t0: int, more: int, e0: float, e: float, target: float) -> None:
    later = Planned(target).after(t0 + more, [(t0, e0), (t0 + more, e)])
    assert 1 <= later - (t0 + more) <= 50


def test_a_time_limit_counts_set_up_and_checks() -> None:
    """Ten seconds of set-up, iterations of one, checks of five: all of it fits into fifty."""
    solver = Slow(setup=10.0, check=5.0)
    steps = solver.drive(Multiples(10), 50.0)
    assert solver.checked == [10, 20, 24]
    assert (solver.now, steps[-1].seconds, steps[-1].ending) == (49.0, 49.0, "time")
    assert steps[-1].exploitability == 100 / 24


@given(st.floats(0, 40), st.floats(0.1, 9), st.floats(0, 9), st.integers(1, 30), st.integers(1, 5))
def test_no_check_is_begun_that_would_overrun(
    setup: float, iteration: float, check: float, interval: int, lap: int
) -> None:
    """As far as that is known: from a second lap and a first check on."""
    solver = Slow(setup=setup, iteration=iteration, check=check, lap=lap)
    steps = solver.drive(Multiples(interval), 60.0)
    assert steps[-1].ending == "time"
    assert steps[-1].exploitability == 100 / solver.iterations  # it says how far it got
    if len(solver.begun) > 1 and solver.iterations > 2 * lap:
        longer = (lap - 1) * iteration  # than the last lap, if that was cut short by a check
        assert solver.now <= 60 + longer + 1e-9


def test_the_compiler_does_not_count_as_an_iteration() -> None:
    """The first iteration takes 40 seconds of 60, the others one."""
    solver = Slow(first=39.0)
    solver.drive(Multiples(100), 60.0)
    assert solver.iterations == 20


def test_a_check_that_took_long_once_does_not_end_it() -> None:
    """Its kernel was compiled: the next one is short, and training continues."""

    class Compiling(Slow):
        def exploitability(self) -> float:
            self.check = 0.0 if self.checked else 20.0
            return super().exploitability()

    solver = Compiling()
    solver.drive(Multiples(10), 60.0)
    assert solver.checked == [10, 19, 20, 30, 39]
    assert solver.now == 59.0  # one more iteration might overrun


def test_no_time_at_all_is_one_lap() -> None:
    solver = Slow(setup=5.0)
    (step,) = solver.drive(Multiples(10), 3.0)
    assert (step.iteration, step.ending, step.exploitability) == (1, "time", 100.0)


def test_seconds_per_iteration_without_checks_and_compiling() -> None:
    solver = Slow(first=9.0, check=7.0)
    timer = Timer(clock=solver.clock)
    assert timer.seconds_per_iteration is None
    steps = drive(solver, solver.exploitability, Multiples(1), timer)
    next(steps)
    assert timer.seconds_per_iteration == 10.0
    next(steps)
    next(steps)
    assert timer.seconds_per_iteration == 1.0


def test_a_control_stops_it_without_a_check() -> None:
    solver = Slow()
    steps = solver.drive(Multiples(10), control=StopWhen(lambda: solver.iterations >= 13))
    assert [step.iteration for step in steps] == [10, 13]
    assert (steps[-1].exploitability, steps[-1].ending) == (None, None)


def test_time_stands_still_in_a_pause() -> None:
    solver = Slow()

    class Pausing(Control):
        left = 1

        def is_paused(self) -> bool:
            return self.left > 0 and solver.iterations == 13

        def wait_while_paused(self) -> None:
            self.left -= 1
            solver.now += 1000.0

    steps = solver.drive(Multiples(10), 60.0, control=Pausing(), iterations=30)
    assert [step.iteration for step in steps] == [10, 13, 20, 30]
    assert steps[-1].seconds == 30.0
    assert solver.now == 1030.0


def test_steps_that_the_caller_wants() -> None:
    solver = Slow()
    seen: list[int] = []
    steps = solver.drive(
        Multiples(10), iterations=20, due=lambda now: now - now % 7 + 7, between=seen.append
    )
    assert [step.iteration for step in steps] == [7, 10, 14, 20]
    assert solver.checked == [10, 20]
    assert seen == list(range(1, 21))


def test_a_solver_that_does_not_train() -> None:
    class Stuck(Slow):
        def train_batch(self, *_: Any) -> None:
            pass

    with pytest.raises(RuntimeError, match="did not train beyond iteration 0"):
        Stuck().drive(Multiples(10))


def test_a_spot_is_solved_by_the_plan_or_by_its_interval() -> None:
    planned, fixed = solve(spot(RIVER), 0.002, threads=1), solve(spot(RIVER), 0.002, check=7)
    assert planned.exploitability <= 0.002
    assert fixed.exploitability <= 0.002
    assert fixed.iterations % 7 == 0
    again = solve(spot(RIVER), 0.002, threads=1)
    assert (again.iterations, again.exploitability) == (planned.iterations, planned.exploitability)
    solver = SpotSolver(spot(RIVER), threads=1)
    checks: list[int] = []

    def evaluate() -> float:
        checks.append(solver.iterations)
        return solver.exploitability() / solver.spot.pot

    list(drive(solver, evaluate, Planned(0.002), Timer(), target=0.002))
    assert checks[-1] == planned.iterations
    assert all(3 <= later - one <= 50 for one, later in pairwise(checks))
    assert solve(spot(RIVER), 0.0, max_iterations=34).iterations == 34
