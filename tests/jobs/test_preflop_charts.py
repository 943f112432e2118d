"""The preflop strategy on the way: the averages of that very iteration, at the right iterations."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_games import small_config

from allstreets.betting import PreflopRules
from allstreets.cfr.schedules import parse_schedule
from allstreets.jobs import (
    Intervals,
    Iterations,
    Progress,
    TrainConfig,
    TrainingOutcome,
    check_config,
    train,
)
from allstreets.jobs.api import plan
from allstreets.jobs.job import Callbacks
from allstreets.jobs.preflop import PreflopOutcome
from allstreets.jobs.whole_game import UnifiedOutcome, charts_every, plan_unified, preflop_so_far
from allstreets.solutions import WholeSolution
from allstreets.solvers.separated import PairValues, PreflopSolver

Seen = list[tuple[Progress, WholeSolution]]


def watched(folder: Path | None = None, **keys: Any) -> tuple[Seen, UnifiedOutcome]:
    """A small whole game and the reported charts."""
    seen: Seen = []
    resume = keys.pop("resume", False)
    job = plan_unified(small_config(**keys), folder, resume=resume)
    return seen, job.run(Callbacks(charts=lambda *seen_now: seen.append(seen_now)))


def test_the_charts_of_a_whole_game_are_its_averages() -> None:
    """Compared with games that end at that iteration; the run itself does not notice."""
    seen, outcome = watched(chart_interval=5)
    assert [progress.iteration for progress, _ in seen] == [5, 10]  # 12 at the end, 4 at checks
    assert [progress.check and progress.check.iteration for progress, _ in seen] == [4, 8]
    unseen = plan_unified(small_config(chart_interval=0)).run().solver
    for name, array in unseen.state().items():
        assert outcome.solver.state()[name].tobytes() == array.tobytes(), name
    for progress, result in seen:
        ended = plan_unified(small_config(epochs=progress.iteration)).run().solver
        expected = ended.preflop.average()
        assert result.before.strategies.keys() == expected.keys()
        for node, strategy in expected.items():
            np.testing.assert_array_equal(result.before.strategies[node], strategy)
        assert (result.iterations, result.exploitability) == (progress.iteration, None)
        current = ended.preflop.current()
        assert any((strategy != current[node]).any() for node, strategy in expected.items())


def test_the_figures_of_the_same_iteration_stand_beside() -> None:
    seen, outcome = watched(chart_interval=4)
    assert [progress.iteration for progress, _ in seen] == [4, 8]
    by_iteration = {
        check.iteration: check.metrics.exploitability for check in outcome.training.history
    }
    for progress, result in seen:
        assert progress.check is not None
        assert progress.check.iteration == progress.iteration
        assert result.exploitability == by_iteration[progress.iteration] is not None


def test_how_often_by_default() -> None:
    assert [progress.iteration for progress, _ in watched()[0]] == [3, 6, 9]
    assert watched(chart_interval=0)[0] == []
    assert watched(chart_interval=100)[0] == []
    assert len(watched(chart_interval=1)[0]) == 11


def test_a_resumed_run_draws_the_same_charts(tmp_path: Path) -> None:
    whole, _ = watched(chart_interval=3)
    first, _ = watched(tmp_path / "run", chart_interval=3, epochs=6)
    second, _ = watched(tmp_path / "run", chart_interval=3, resume=True)
    assert [progress.iteration for progress, _ in first] == [3]
    assert [progress.iteration for progress, _ in second] == [9]
    assert [progress.iteration for progress, _ in whole] == [3, 6, 9]
    for node, strategy in whole[-1][1].before.strategies.items():
        np.testing.assert_array_equal(second[0][1].before.strategies[node], strategy)


def test_charts_without_exploitability() -> None:
    """`memory: per_batch` cannot say how good it is, and has preflop strategies all the same."""
    seen, _ = watched(
        chart_interval=2, memory="per_batch", flop_batch_size=1, iterations_per_batch=2, epochs=2
    )
    assert [progress.iteration for progress, _ in seen] == [2, 4, 6]
    for _, result in seen:
        assert result.exploitability is None
        assert sum(result.strategy(hand="AA").values()) == pytest.approx(1)


def test_the_separated_pipeline(tmp_path: Path) -> None:
    model = {
        "bet_sizes": [1.0],
        "postflop_sprs": [1],
        "flops": ["Ks7d2c"],
        "iterations": 20,
        "threads": 1,
    }
    solver = {"type": "preflop_cfr", "stack_depth": 6, "raise_cap": 1, "chart_interval": 20}
    data = {"solver": {**solver, "iterations": 60}, "postflop_model": model}
    config = check_config(data, TrainConfig)
    assert config.postflop_model is not None
    flops, job = plan(config, tmp_path)
    flops.run()
    seen: Seen = []
    outcome = job.run(Callbacks(charts=lambda *seen_now: seen.append(seen_now)))
    assert isinstance(outcome, PreflopOutcome)
    assert [progress.iteration for progress, _ in seen] == [20, 40]
    again = PreflopSolver(outcome.solver.rules, outcome.solver.pair_values, outcome.solver.schedule)
    again.train_batch(40)
    for node, strategy in again.preflop.average().items():
        np.testing.assert_array_equal(seen[1][1].before.strategies[node], strategy)


def test_nobody_looks() -> None:
    """Without an observer, or never: nothing is asked of the loop."""
    rules = PreflopRules.parse(6, [2.5], 1)
    values = PairValues(sprs=(1.0,), shares=np.full((1, 169, 169), 0.5), pairs=np.ones((169, 169)))
    solver = PreflopSolver(rules, values, parse_schedule("tuned"))
    told: Seen = []
    assert charts_every(3, solver, rules, None) == ()
    assert charts_every(0, solver, rules, lambda *one: told.append(one)) == ()
    outcome: TrainingOutcome = train(
        solver,
        [Iterations(7)],
        intervals=Intervals(7, 7),
        regularly=charts_every(7, solver, rules, lambda *one: told.append(one)),
    )
    assert told == []  # it ends there
    found = preflop_so_far(solver, rules, outcome.progress)
    assert found.exploitability == solver.exploitability()
    assert found.at("").decision.known is False
