"""The arrays of a flop: the solver's own numbers, decision by decision."""

from typing import Any

import numpy as np
import pytest
from builders.whole_solution import buckets, classes, combos, forgotten

from allstreets.betting import Player, Street
from allstreets.cards import HAND_OF_COMBO
from allstreets.engines.quantised import ONE_BYTE, TWO_BYTES, Numbers, PackedStrategies, decode
from allstreets.solutions.pot_evaluation import live
from allstreets.solutions.source import SolverSource

BOTH = pytest.mark.parametrize("numbers", [ONE_BYTE, TWO_BYTES])


def packed(solver: Any, flop: int, numbers: Numbers = TWO_BYTES) -> dict[str, Any]:
    reach = solver.preflop.pot_reach(solver.preflop.average())
    found: dict[str, Any] = solver.engine.pack(flop, reach, [numbers] * solver.engine.pots)
    return found


@BOTH
@pytest.mark.parametrize("make", [classes, buckets])
def test_all_at_once_is_one_by_one(make: Any, numbers: Numbers) -> None:
    solver = make()
    streets = solver.engine.model.streets
    for flop in range(solver.engine.flops):
        arrays = packed(solver, flop, numbers)
        for number, pot in enumerate(solver.game.pots):
            averages = [solver.engine.average(number, flop, n) for n in pot.tree.decisions()]
            expected = PackedStrategies.pack(pot.tree, streets, averages, numbers)
            for stage, stored in enumerate(expected.stored):
                found = arrays[f"strategy.{number}.{stage}"]
                assert found.dtype == stored.dtype
                assert np.array_equal(found, stored)


def test_combos_of_an_exact_flop() -> None:
    """The strategies are those of the games, combo by combo."""
    solver = combos()
    arrays = packed(solver, 0)
    tree, hands = solver.game.pots[0].tree, HAND_OF_COMBO[live(solver.game.flops.flops[0])]
    nodes = tree.decisions(Street.FLOP)
    first = 0
    for place, node in enumerate(nodes):
        actions = int(tree.child_count[node])
        chances = decode(arrays["strategy.0.0"][first : first + actions])
        np.testing.assert_allclose(chances, solver.engine.average(0, 0, node), atol=1e-6)
        # The mixed EV of the actions is the EV of the player.
        own = arrays["evs.0"][tree.player_at(node), place]
        mixed = (chances * arrays["action_evs.0"][first : first + actions]).sum(axis=0)
        known = np.isfinite(own)
        assert known.any()
        assert np.abs(mixed - own)[known].max() < 1e-3  # chips
        first += actions
    assert arrays["evs.0"].shape == (len(Player), len(nodes), len(hands))
    assert len(arrays["strategy.0.0"]) == first
    assert arrays["strategy.0.1"].size == 0


def test_every_pot_is_packed_as_finely_as_is_wanted() -> None:
    """Some pots in bytes, others in two: each as if all were kept so."""
    solver = classes()
    both: list[Numbers] = [ONE_BYTE, TWO_BYTES]
    numbers = both * 4
    reach = np.ones((2, solver.engine.pots, 169))
    mixed = solver.engine.pack(1, reach, numbers[: solver.engine.pots])
    for pot in range(solver.engine.pots):
        whole = packed(solver, 1, numbers[pot])[f"strategy.{pot}.0"]
        assert mixed[f"strategy.{pot}.0"].dtype == numbers[pot]
        np.testing.assert_array_equal(mixed[f"strategy.{pot}.0"], whole)


def test_nothing_is_kept_of_what_is_forgotten() -> None:
    source = SolverSource(forgotten())
    assert not source.stores_flops
    assert source.arrays(0) == {}
