"""Flops that a solution does not store are solved for its ranges."""

import numpy as np
from builders.whole_solution import combo_result, result

from allstreets.cards import parse_flop
from allstreets.solvers.certify.judge import Completion, Judge
from allstreets.subgames import CLASSES

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
