"""Tabular CFR: against the slow twin, against known values, and against itself interrupted."""

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from builders.toys import KUHN, LEDUC
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.games import NaiveCfr, RandomGame, information_sets

from allstreets.base import InputError
from allstreets.cfr import SCHEDULES as NAMES
from allstreets.cfr import (
    CfrSolver,
    Game,
    Kuhn,
    Leduc,
    Pruning,
    parse_schedule,
)
from allstreets.cfr.best_response import as_table
from allstreets.cfr.metrics import avg_positive_regret

if TYPE_CHECKING:
    from allstreets.jobs.loop import TrainingSolver

SCHEDULES = [*NAMES, "dcfr(1.5,0,2)", "cfr+(1)"]
ON_LEDUC = ("vanilla", "cfr+", "dcfr", "ahead")
"""Schedules that are compared there in every run: each weighs, clips or looks ahead by itself."""
PRUNABLE = [schedule for schedule in SCHEDULES if not parse_schedule(schedule).clip]


def compare(game: Game, schedule: str, iterations: int) -> None:
    """Regrets, sums and average against the twin, to 1e-12."""
    solver, twin = CfrSolver(game, schedule), NaiveCfr(game, schedule)
    solver.train_batch(iterations)
    twin.run(iterations)
    flat = solver.form.game
    regrets = as_table(flat, solver.regrets)
    sums = as_table(flat, solver.state()["strategy_sums"])
    average = solver.strategies()
    twin_average = twin.average()
    for key, row in twin.regrets.items():
        assert regrets[key] == pytest.approx(row, abs=1e-12, rel=1e-12)
        assert sums[key] == pytest.approx(twin.sums[key], abs=1e-12, rel=1e-12)
        assert average[key] == pytest.approx(twin_average[key], abs=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_kuhn_agrees_with_the_slow_twin(schedule: str) -> None:
    compare(Kuhn(), schedule, 20)


@pytest.mark.parametrize(
    "schedule",
    [
        pytest.param(name, marks=[pytest.mark.thorough] * (name not in ON_LEDUC))
        for name in SCHEDULES
    ],
)
def test_leduc_agrees_with_the_slow_twin(schedule: str) -> None:
    compare(Leduc(), schedule, 3)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 500), st.sampled_from(SCHEDULES))
def test_random_games_agree_with_the_slow_twin(seed: int, schedule: str) -> None:
    game = RandomGame(seed)
    if len(information_sets(game)) <= 60:
        compare(game, schedule, 6)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_kuhn_has_its_value(schedule: str) -> None:
    solver = CfrSolver(KUHN, schedule)
    solver.train_batch(2000)
    assert solver.game_value() == pytest.approx(-1 / 18, abs=1e-4)
    assert solver.metrics().exploitability == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_leduc_exploitability_falls(schedule: str) -> None:
    solver = CfrSolver(LEDUC, schedule)
    curve = []
    for iterations in (1, 9, 90, 900):
        solver.train_batch(iterations)
        figure = solver.metrics().exploitability
        assert figure is not None
        curve.append(figure)
    assert min(curve) >= 0
    for earlier, later in itertools.pairwise(curve):
        assert later < 0.5 * earlier


def test_leduc_dcfr_plus_is_below_a_thousandth_after_a_thousand_iterations() -> None:
    solver = CfrSolver(LEDUC, "dcfr+")
    solver.train_batch(1000)
    figure = solver.metrics().exploitability
    assert figure is not None
    assert figure < 0.001


def test_both_players_together_win_nothing() -> None:
    solver = CfrSolver(LEDUC, "linear")
    solver.train_batch(10)
    tables = solver._tables
    from allstreets.cfr.kernels.tabular import collect_payoffs

    totals = []
    for player in (0, 1):
        values = np.zeros(solver.form.game.slots + 1)
        collect_payoffs(solver.form.layout, player, tables.reach, values)
        # Every lane's payoff is weighted by the opponent's reach; the player's own completes it.
        totals.append(float(values @ tables.reach))
    assert sum(totals) == pytest.approx(0, abs=1e-12)
    assert abs(totals[0]) > 1e-3


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_cutting_a_run_does_not_show(schedule: str) -> None:
    whole, cut = CfrSolver(LEDUC, schedule), CfrSolver(LEDUC, schedule)
    whole.train_batch(40)
    for iterations in (1, 2, 20, 17):
        cut.train_batch(iterations)
    assert_same(whole, cut)


@pytest.mark.parametrize(
    ("schedule", "pruning"),
    [
        *((schedule, None) for schedule in SCHEDULES),
        *((schedule, Pruning(10)) for schedule in PRUNABLE),
        *((schedule, Pruning(10, "-0.001*sqrt(t)", 7, 0.1)) for schedule in PRUNABLE),
    ],
)
def test_restored_runs_equal_uninterrupted_ones(schedule: str, pruning: Pruning | None) -> None:
    whole, half = CfrSolver(LEDUC, schedule, pruning), CfrSolver(LEDUC, schedule, pruning)
    whole.train_batch(50)
    half.train_batch(23)
    resumed = CfrSolver(LEDUC, schedule, pruning)
    resumed.train_batch(3)  # what was there before must not matter
    resumed.restore({name: array.copy() for name, array in half.state().items()})
    resumed.train_batch(27)
    assert_same(whole, resumed)
    assert whole.pruned_fraction == resumed.pruned_fraction


def assert_same(one: CfrSolver, other: CfrSolver) -> None:
    """Bit for bit."""
    assert one.iterations == other.iterations
    assert one.state().keys() == other.state().keys()
    for name, array in one.state().items():
        assert array.tobytes() == other.state()[name].tobytes(), name
    assert one.metrics() == other.metrics()


def test_state_is_a_copy() -> None:
    solver = CfrSolver(KUHN, "tuned")
    solver.train_batch(5)
    state = solver.state()
    kept = {name: array.copy() for name, array in state.items()}
    solver.train_batch(5)
    for name, array in state.items():
        assert np.array_equal(array, kept[name])


def test_state_of_another_game_is_refused() -> None:
    with pytest.raises(InputError, match="from another game"):
        CfrSolver(KUHN).restore(CfrSolver(LEDUC).state())
    assert CfrSolver(KUHN).identity != CfrSolver(LEDUC).identity
    assert CfrSolver(KUHN, "dcfr").identity != CfrSolver(KUHN, "tuned").identity
    assert CfrSolver(KUHN, "dcfr").identity != CfrSolver(KUHN, "dcfr", Pruning(5)).identity


def test_regrets_are_divided_by_the_weight_they_carry() -> None:
    for name in SCHEDULES:
        solver = CfrSolver(LEDUC, name)
        solver.train_batch(30)
        weight = 0.0
        for t in range(1, 31):
            weight = weight * parse_schedule(name).at(t).positive + 1
        assert solver.regret_weight == pytest.approx(weight)
        expected = avg_positive_regret(solver.regrets, weight)
        assert solver.avg_positive_regret == pytest.approx(expected)
        assert solver.metrics().avg_positive_regret == solver.avg_positive_regret
        assert solver.metrics().max_regret == pytest.approx(solver.regrets.max() / weight)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["vanilla", "linear", "dcfr(1,1,1)"]))
def test_the_bound_is_one(seed: int, schedule: str) -> None:
    solver = CfrSolver(RandomGame(seed), schedule)
    for iterations in (1, 1, 1, 2, 5, 10, 80):
        solver.train_batch(iterations)
        figures = solver.metrics()
        assert figures.regret_bound is not None
        assert figures.exploitability is not None
        assert figures.exploitability <= figures.regret_bound + 1e-12


def test_the_bound_gets_tight_and_is_unknown_elsewhere() -> None:
    solver = CfrSolver(LEDUC, "vanilla")
    assert solver.metrics().regret_bound is None
    solver.train_batch(2000)
    figures = solver.metrics()
    assert figures.regret_bound is not None
    assert figures.exploitability is not None
    assert figures.exploitability < figures.regret_bound < 0.1
    for other in (CfrSolver(LEDUC, "dcfr"), CfrSolver(LEDUC, "cfr+")):
        other.train_batch(1)
        assert other.metrics().regret_bound is None
    pruned = CfrSolver(LEDUC, "vanilla", Pruning(1))
    pruned.train_batch(5)
    assert pruned.metrics().regret_bound is None


def test_untrained_and_empty_solvers() -> None:
    solver = CfrSolver(KUHN)
    assert solver.avg_positive_regret == 0
    assert solver.iterations == 0
    assert solver.metrics().strategy_entropy == pytest.approx(1)
    assert solver.metrics().exploitability == pytest.approx(11 / 24)
    empty = CfrSolver(RandomGame(3))
    assert empty.strategies() == {}
    empty.train_batch(3)
    assert empty.iterations == 3
    assert empty.avg_positive_regret == 0
    assert empty.metrics().exploitability == pytest.approx(0, abs=1e-15)


def test_callback_stops_and_costly_figures_can_be_left_out() -> None:
    solver = CfrSolver(LEDUC, "dcfr")
    solver.train_batch(10_000, lambda done: done >= 3)
    assert 3 <= solver.iterations < 100
    assert solver.metrics(exploitability=False).exploitability is None


def test_is_a_training_solver() -> None:
    solver: TrainingSolver = CfrSolver(LEDUC, "dcfr", Pruning(5))
    assert solver.unit == "chips"
    assert solver.memory_bytes > 8 * 2 * 2184
    assert solver.identity["algorithm"] == "dcfr(1.5,0.5,2)"
