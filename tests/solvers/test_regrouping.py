"""A run in which hands are grouped again: when that is, and that it can be interrupted."""

import numpy as np
import pytest
from builders.small_games import small_config

from allstreets.engines import RebucketsHands
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.solvers import WholeGameSolver, rebucketing
from allstreets.solvers.leaves import VisitPlan
from allstreets.solvers.rebucketing import FIRST_LOOK, Rebucketing

CONFIG = small_config(
    cards="boards", river_groups=16, turn_rows=16, flops=["KsKhKd"], stack_depth=3, raise_cap=0,
    max_raises_per_street=0, regroup=2,
)  # fmt: skip


def make() -> WholeGameSolver:
    """A solver whose groups are for all hands at first."""
    game = CONFIG.game()
    games = game.build(game.engine(CONFIG.card_model()))
    return WholeGameSolver(game, games, CONFIG.schedule(), regroup=CONFIG.regroupings())


def looks(times: int, iterations: int = 1) -> Rebucketing:
    """A hook for a run with epochs of this length."""
    solver = make()
    plan = VisitPlan(iterations=iterations)
    return Rebucketing(solver.engine, solver.preflop, plan, times)


def test_it_is_looked_at_a_few_times_each_later_than_the_last() -> None:
    thrice, never = looks(3), looks(0)
    due = [visits for visits in range(1, 2000) if thrice.is_due(visits)]
    assert due == [FIRST_LOOK, 3 * FIRST_LOOK, 9 * FIRST_LOOK]
    assert not any(never.is_due(visits) for visits in range(1000))


def test_a_look_that_falls_into_a_batch_comes_after_it() -> None:
    thrice = looks(3, iterations=200)
    due = [visits for visits in range(0, 3000, 200) if thrice.is_due(visits)]
    assert due == [200, 600, 1400]


def test_a_run_goes_on_after_new_groups_as_if_never_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rebucketing, "FIRST_LOOK", 2)
    whole, resumed = make(), make()
    assert isinstance(whole.engine, BoardsEngine)
    whole.train_batch(3)
    assert whole.engine.sets.ranges.min() < 1.0  # no longer those of all hands
    resumed.restore({name: array.copy() for name, array in whole.state().items()})
    for solver in (whole, resumed):
        solver.train_batch(1)
    found = resumed.state()
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, found[name], err_msg=name)
    assert whole.exploitability() == resumed.exploitability()


def test_other_cards_have_no_groups_to_make() -> None:
    game = small_config().game()
    solver = WholeGameSolver(game, game.build(game.engine()), CONFIG.schedule(), regroup=2)
    assert not isinstance(solver.engine, RebucketsHands)
    solver.rebucketing.rebucket()  # nothing
