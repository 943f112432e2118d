"""All nodes at once give what one node at a time gives."""

from typing import Any

import numpy as np
import pytest
from builders.whole_solution import buckets, classes, raked
from reference.pot import values_below

from allstreets.betting import NodeKind, Player
from allstreets.solutions.whole_game import WholeSolution


@pytest.mark.parametrize("make", [classes, raked, buckets])
@pytest.mark.parametrize("pot", [0, -1])
def test_values_are_those_of_the_slow_way(make: Any, pot: int) -> None:
    solution = WholeSolution.of(make())
    view = solution.stored.view(solution.game.pots[pot].pot.node, solution.game.flops.flops[-1])
    tree, stages = view.pot.tree, view.hands.stages()
    reach = view._at(0).reach
    slow = {
        player: values_below(
            *(tree, view.pot.payoffs, stages, view.strategies),
            *(0, player, reach[player.opponent]),
        )
        for player in Player
    }

    def close(found: Any, expected: Any) -> None:
        scale = max(float(np.abs(expected).max()), 1.0)
        np.testing.assert_allclose(found, expected, atol=1e-6 * scale)

    decisions = np.flatnonzero(tree.kind == NodeKind.DECISION).tolist()
    for node in decisions[:: max(len(decisions) // 12, 1)]:
        here = view._at(node)
        totals = view._totals(node, here.met)
        for player in Player:
            other, expected = slow[player][node]
            np.testing.assert_allclose(here.reach[player.opponent], other, rtol=1e-9, atol=1e-12)
            close(totals.players[player], expected)
        for row, child in zip(totals.actions, tree.children_of(node).tolist(), strict=True):
            close(row, slow[tree.player_at(node)][child][1])
