"""All nodes at once give what one node at a time gives."""

from typing import Any

import numpy as np
import pytest
from builders.whole_solution import classes, raked

from allstreets.betting import NodeKind, Player
from allstreets.solutions.pot_evaluation import NodeEvaluation
from allstreets.solutions.pot_view import TreeSweep, swept
from allstreets.solutions.whole_game import WholeSolution


@pytest.mark.parametrize("make", [classes, raked])
@pytest.mark.parametrize("pot", [0, -1])
def test_values_are_those_of_the_slow_way(make: Any, pot: int) -> None:
    solution = WholeSolution.of(make())
    view = solution.stored.view(solution.game.pots[pot].pot.node, solution.game.flops.flops[-1])
    tree = view.pot.tree
    values = TreeSweep(view).values
    assert values.shape == (2, tree.node_count, 169)
    slow = NodeEvaluation(tree, view.pot.payoffs, view.hands.stages(), view.strategies)
    decisions = np.flatnonzero(tree.kind == NodeKind.DECISION).tolist()
    for node in decisions[:: max(len(decisions) // 25, 1)]:
        hands = view.node(node, "").hands
        for player in Player:
            expected = slow.value(node, player, hands[player.opponent].reach)
            scale = max(float(np.abs(expected).max()), 1.0)
            np.testing.assert_allclose(values[player, node], expected, atol=1e-9 * scale)


def test_a_view_shows_the_same_evs() -> None:
    game = classes().game
    view = WholeSolution.of(classes()).stored.view(game.pots[0].pot.node, game.flops.flops[0])
    quick = swept(view, True)
    assert swept(view, False) is view
    tree = view.pot.tree
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION)[::7].tolist():
        one, other = view.node(node, ""), quick.node(node, "")
        np.testing.assert_allclose(one.action_evs, other.action_evs, rtol=1e-9, atol=1e-12)
        for player in Player:
            mine, theirs = one.evs(player), other.evs(player)
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
