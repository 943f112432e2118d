"""The saves of a running solve, and the points of its curve."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from allstreets.explorer.solves.jobs import ALLOWANCE, SHARE, SaveBudget, Thinned


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_small_spot_is_saved_at_its_first_check() -> None:
    budget = SaveBudget(1_000_000, Clock())
    assert budget.due()


def test_a_large_spot_waits_until_a_save_is_a_small_part() -> None:
    clock = Clock()
    budget = SaveBudget(3_000_000_000, clock)  # some 10 seconds
    assert not budget.due()
    clock.now += 100
    assert not budget.due()
    clock.now += 35
    assert budget.due()


@given(
    st.floats(0.001, 30),
    st.lists(st.floats(0.01, 60), min_size=1, max_size=200),
    st.integers(0, 10**11),
)
def test_saving_costs_a_small_part_of_the_time(cost: float, steps: list[float], size: int) -> None:
    clock = Clock()
    budget = SaveBudget(size, clock)
    spent = first = 0.0
    for step in steps:
        clock.now += step
        if budget.due():
            clock.now += cost
            budget.saved(cost)
            spent += cost
            first = first or cost  # the time of the first one is unknown before it ends
            assert not budget.due()  # not twice in a row
    assert spent - first <= ALLOWANCE + SHARE * (clock.now - 1000.0)


def test_saves_come_at_growing_intervals_and_at_least_every_five_minutes() -> None:
    clock = Clock()
    budget = SaveBudget(1_000_000, clock)
    times = []
    for _ in range(4 * 3600):
        clock.now += 1
        if budget.due():
            budget.saved(0.02)
            times.append(clock.now)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert times[0] == 1001.0
    assert gaps == sorted(gaps)
    assert (gaps[0], gaps[-1]) == (1.0, 300.0)


def rows_of(count: int) -> tuple[list[int], list[int]]:
    """The iterations that stay of a number of checks, and those that were said to stay."""
    thinned = Thinned()
    stay = [25 * n for n in range(1, count + 1) if thinned.add({"iteration": 25 * n})]
    return [row["iteration"] for row in thinned.rows()], stay


@given(st.integers(1, 3000))
def test_the_first_checks_and_the_latest_are_kept(count: int) -> None:
    rows, stay = rows_of(count)
    assert rows[:100] == [25 * n for n in range(1, min(count, 100) + 1)]
    assert rows[-1] == 25 * count
    assert sorted({*stay, rows[-1]}) == rows


def test_a_long_run_has_a_short_curve() -> None:
    rows, _ = rows_of(100_000)
    assert len(rows) < 900
    assert all(later <= 1.011 * earlier + 25 for earlier, later in itertools.pairwise(rows))
