"""Flops that a solution does not store: solved for its ranges before they are evaluated."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from builders.whole_solution import (
    combo_result,
    result,
    solver_of,
    trips_result,
    whole_game,
)

from allstreets.analysis.certify import FlopEvaluator
from allstreets.betting import Player
from allstreets.cards import parse_flop
from allstreets.cfr import parse_schedule
from allstreets.engines import CLASSES, CardModel
from allstreets.solutions.whole_game import WholeSolution
from allstreets.solvers import EXACTLY, Completion

QUICKLY = Completion(CLASSES, 3)


def test_what_is_stored() -> None:
    flops = result().game.flops.flops
    assert FlopEvaluator(result(), QUICKLY).stored == {
        flop.number: n for n, flop in enumerate(flops)
    }
    assert FlopEvaluator(combo_result(), QUICKLY).stored == {}  # turn and river are not


def test_flops_are_completed_side_by_side_as_alone() -> None:
    judge = FlopEvaluator(result(), QUICKLY, threads=2)
    flops = [parse_flop(text).flop for text in ("9s7s2s", "AsKhQd")]
    both = judge.completed(flops)
    for flop in flops:
        alone = judge.completed([flop])[flop.number]
        assert both[flop.number].keys() == alone.keys()
        for name, array in alone.items():
            np.testing.assert_array_equal(both[flop.number][name], array)
    first, second = (both[flop.number]["strategy.0.0"] for flop in flops)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("river_groups", ["none", pytest.param("suits", marks=pytest.mark.long)])
def test_flops_are_solved_exactly_where_they_are_judged(
    river_groups: Literal["none", "suits"],
) -> None:
    model = CardModel("exact", river_groups=river_groups)
    judge = FlopEvaluator(trips_result(), Completion(model, 4))
    flop = parse_flop("9s9h9d").flop
    values = judge.values(flop)
    game, every = judge.result.game, parse_schedule("ahead").run(1, 4)
    games = game.build(replace(judge.spec, flops=(flop,)))
    games.iterate(judge.solver.ranges, np.ones((len(game.pots), 1), np.bool_), every)
    for player in Player:
        best = games.best_response(
            player, judge.solver.reach[player.opponent], np.zeros(1, np.int64)
        )
        np.testing.assert_allclose(values.best[player], best[:, 0], rtol=1e-5, atol=1e-3)


@pytest.mark.long
def test_what_is_solved_exactly_loses_less() -> None:
    """Long: a flop is solved exactly."""
    flop = parse_flop("9s9h9d").flop

    def gains(model: CardModel) -> float:
        judge = FlopEvaluator(trips_result(), Completion(model, 60))
        best = judge.values(flop).best
        return float(sum((judge.solver.reach[player] * best[player]).sum() for player in Player))

    assert 0 < gains(EXACTLY) < 0.2 * gains(CLASSES)


def test_flops_are_completed_as_the_solution_solves_its_own_but_for_what_is_named() -> None:
    own = CardModel("boards", groups=48, rows=0, seed=3)
    assert Completion.like(own) == Completion(own)
    assert Completion.like(own, iterations=7) == Completion(own, 7)
    assert Completion.like(own, groups=96).model == CardModel("boards", groups=96, rows=0, seed=3)
    assert Completion.like(own, kind="classes").model == CardModel("classes")
    assert Completion.like(CardModel("classes")).model == CardModel("boards", groups=32)
    assert Completion.like(CardModel("classes"), kind="classes", iterations=5).iterations == 5
    assert Completion.like(own, kind="exact", iterations=9) == Completion(EXACTLY, 9)


def test_under_rake_both_players_values_are_kept() -> None:
    game = whole_game(["7s7h7d"], 3, "100%", (), rake=0.05, rake_cap=0.3)
    raked = WholeSolution.of(solver_of(game, 20), name="raked")
    flop = parse_flop("7s7h7d").flop
    judge = FlopEvaluator(raked, QUICKLY)
    values = judge.values(flop)
    assert values.own is not None
    pays = [float((judge.solver.reach[player] * values.own[player]).sum()) for player in Player]
    assert sum(pays) < -1e-3 * abs(pays[0])  # what one player wins is less than the other loses
    assert FlopEvaluator(trips_result(), QUICKLY).values(flop).own is None
