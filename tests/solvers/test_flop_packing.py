"""The arrays of a flop hold what the solver says, decision by decision."""

from typing import Any

import numpy as np
import pytest
from builders.whole_solution import buckets, classes, combos, forgotten

from allstreets.betting import Player, Street
from allstreets.cards import HAND_OF_COMBO
from allstreets.solvers.flops.hands import CardModel, live
from allstreets.solvers.flops.packing import FlopPacker, is_packable
from allstreets.solvers.flops.strategies import (
    ONE_BYTE,
    TWO_BYTES,
    FlopStrategies,
    Numbers,
    decisions,
    decode,
)
from allstreets.solvers.spot.stored import street_nodes

BOTH = pytest.mark.parametrize("numbers", [ONE_BYTE, TWO_BYTES])


def packed(solver: Any, flop: int, numbers: Numbers = TWO_BYTES) -> dict[str, Any]:
    reach = solver.preflop.pot_reach(solver.preflop.average())
    values = np.zeros((2, solver.games.pots, 169), np.float32)
    return FlopPacker(solver, numbers).pack(flop, reach, values)


@BOTH
@pytest.mark.parametrize("make", [classes, buckets])
def test_all_at_once_is_one_by_one(make: Any, numbers: Numbers) -> None:
    solver = make()
    streets = CardModel.parse(solver.games.model).streets
    for flop in range(solver.games.flops):
        arrays = packed(solver, flop, numbers)
        for number, pot in enumerate(solver.game.pots):
            averages = [solver.games.average(number, flop, n) for n in decisions(pot.tree)]
            expected = FlopStrategies.pack(pot.tree, streets, averages, numbers)
            for stage, stored in enumerate(expected.stored):
                found = arrays[f"strategy.{number}.{stage}"]
                assert found.dtype == stored.dtype
                assert np.array_equal(found, stored)


@BOTH
@pytest.mark.parametrize("make", [classes, buckets])
def test_what_is_rounded_for_a_while_is_what_is_kept(make: Any, numbers: Numbers) -> None:
    solver = make()
    arrays = [packed(solver, flop, numbers) for flop in range(2)]
    streets = CardModel.parse(solver.games.model).streets
    for number, pot in enumerate(solver.game.pots):
        stored = tuple(arrays[1][f"strategy.{number}.{stage}"] for stage in range(len(streets)))
        kept = FlopStrategies(pot.tree, streets, stored)
        before = [solver.games.average(number, 0, node) for node in decisions(pot.tree)]
        with solver.games.rounded(range(1, 2), int(np.iinfo(numbers).max)):
            for node in decisions(pot.tree):
                np.testing.assert_array_equal(solver.games.average(number, 1, node), kept.at(node))
            after = [solver.games.average(number, 0, node) for node in decisions(pot.tree)]
            assert all(map(np.array_equal, before, after))  # other flops are left alone
    again = [packed(solver, flop, numbers) for flop in range(2)]
    for one, other in zip(arrays, again, strict=True):
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_combos_of_an_exact_flop() -> None:
    """By class the strategies are the means that the games themselves tell."""
    solver = combos()
    arrays = packed(solver, 0)
    tree, hands = solver.game.pots[0].tree, HAND_OF_COMBO[live(solver.game.flops.flops[0])]
    nodes = street_nodes(tree, Street.FLOP)
    first = 0
    for place, node in enumerate(nodes):
        actions = int(tree.child_count[node])
        chances = decode(arrays["strategy.0.0"][first : first + actions])
        counts = np.bincount(hands, minlength=169)
        means = np.array([np.bincount(hands, row, 169) for row in chances]) / np.maximum(counts, 1)
        held = counts > 0
        exact = solver.games.average(0, 0, node)
        assert np.abs(means - exact)[:, held].max() <= 1e-6  # kept in 32 bits
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


def test_what_is_forgotten_cannot_be_packed() -> None:
    assert not is_packable(forgotten().games)
    with pytest.raises(TypeError, match="are not kept"):
        FlopPacker(forgotten())
