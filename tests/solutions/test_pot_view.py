"""All nodes at once give what one node at a time gives."""

from typing import Any

import numpy as np
import pytest
from builders.whole_solution import buckets, classes, raked
from reference.pot import value

from allstreets.betting import NodeKind, Player
from allstreets.solutions.whole_game import WholeSolution


@pytest.mark.parametrize("make", [classes, raked, buckets])
@pytest.mark.parametrize("pot", [0, -1])
def test_values_are_those_of_the_slow_way(make: Any, pot: int) -> None:
    solution = WholeSolution.of(make())
    view = solution.stored.view(solution.game.pots[pot].pot.node, solution.game.flops.flops[-1])
    tree, stages = view.pot.tree, view.hands.stages()
    decisions = np.flatnonzero(tree.kind == NodeKind.DECISION).tolist()
    for node in decisions[:: max(len(decisions) // 12, 1)]:
        here = view._at(node)
        totals = view._totals(node, here.met)
        actor = tree.player_at(node)
        for player in Player:
            other = here.reach[player.opponent]
            expected = value(tree, view.pot.payoffs, stages, view.strategies, node, player, other)
            scale = max(float(np.abs(expected).max()), 1.0)
            np.testing.assert_allclose(totals.players[player], expected, atol=1e-6 * scale)
        for row, child in zip(totals.actions, tree.children_of(node).tolist(), strict=True):
            other = here.reach[actor.opponent]
            expected = value(tree, view.pot.payoffs, stages, view.strategies, child, actor, other)
            scale = max(float(np.abs(expected).max()), 1.0)
            np.testing.assert_allclose(row, expected, atol=1e-6 * scale)
