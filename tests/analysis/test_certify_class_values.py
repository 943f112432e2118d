"""Flops played by hand classes for given ranges: the same as by one engine, in any parts."""

import numpy as np
from builders.whole_solution import classes

from allstreets.analysis.certify import ITERATIONS, class_values
from allstreets.betting import Player
from allstreets.cards import all_flops
from allstreets.cfr import parse_schedule


def test_parts_of_the_flops_play_as_all_of_them_together() -> None:
    solver = classes()
    reach = solver.preflop.pot_reach(solver.preflop.average())
    trained = solver.game.flops.flops
    told: list[tuple[int, int]] = []
    one_by_one = class_values(
        solver.game, reach, progress=lambda *done: told.append(done), flops=trained, part_bytes=1
    )
    assert told == [(1, 3), (2, 3), (3, 3)]
    together = solver.game.build(solver.game.engine())
    together.iterate(
        reach,
        np.ones((reach.shape[1], len(trained)), np.bool_),
        parse_schedule("ahead").run(1, ITERATIONS),
    )
    for player in Player:
        best = together.best_response(player, reach[1 - player], np.arange(len(trained)))
        np.testing.assert_allclose(
            one_by_one[:, player], best.transpose(1, 0, 2), rtol=1e-5, atol=1e-3
        )


def test_pots_that_nobody_gets_to_are_worth_nothing() -> None:
    solver = classes()
    nobody = np.zeros((2, len(solver.game.pots), 169))
    some = class_values(solver.game, nobody, flops=all_flops()[:2])
    assert some.shape == (2, *nobody.shape)
    assert not some.any()
