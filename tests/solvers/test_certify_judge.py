"""Flops that a solution does not store are solved for its ranges."""

import numpy as np
from builders.whole_solution import combo_result, result

from allstreets.cards import parse_flop
from allstreets.solvers.certify.judge import Completion, Judge
from allstreets.subgames import CLASSES, CardModel

QUICKLY = Completion(CLASSES, 3)


def test_what_is_stored() -> None:
    flops = result().game.flops.flops
    assert Judge(result(), QUICKLY).stored == {flop.number: n for n, flop in enumerate(flops)}
    assert Judge(combo_result(), QUICKLY).stored == {}  # turn and river are not


def test_flops_are_completed_side_by_side_as_alone() -> None:
    judge = Judge(result(), QUICKLY, threads=2)
    flops = [parse_flop(text).flop for text in ("9s7s2s", "AsKhQd")]
    both = judge.completed(flops)
    for flop in flops:
        alone = judge.completed([flop])[flop.number]
        assert both[flop.number].keys() == alone.keys()
        for name, array in alone.items():
            np.testing.assert_array_equal(both[flop.number][name], array)
    first, second = (both[flop.number]["strategy.0.0"] for flop in flops)
    assert not np.array_equal(first, second)


def test_flops_are_completed_as_the_solution_solves_its_own_but_for_what_is_named() -> None:
    own = CardModel("boards", groups=48, rows=0, seed=3)
    assert Completion.like(own) == Completion(own)
    assert Completion.like(own, iterations=7) == Completion(own, 7)
    assert Completion.like(own, groups=96).model == CardModel("boards", groups=96, rows=0, seed=3)
    assert Completion.like(own, kind="classes").model == CardModel("classes")
    assert Completion.like(CardModel("classes")).model == CardModel("boards", groups=32)
    assert Completion.like(CardModel("classes"), kind="classes", iterations=5).iterations == 5
