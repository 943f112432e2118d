"""The part before the flop: reach, EVs and frequencies of every node."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from builders.whole_solution import (
    classes,
    combo_result,
    combos,
    figures,
    forgotten,
    raked,
    result,
    same,
)
from reference.solution import hand_ev, reach_of

from allstreets.betting import NodeKind, Player, payoffs
from allstreets.cards import preflop_equity
from allstreets.solutions.preflop import PreflopStrategies
from allstreets.solutions.tables import node_report
from allstreets.solutions.whole_game import WholeSolution


def test_the_root_is_worth_the_game() -> None:
    root = result().at("").decision.whole_hand()
    values = figures().values
    assert values is not None
    assert root.player == Player.IP
    assert 1000 * root.ev() == pytest.approx(values[1], abs=1e-3)
    assert 1000 * root.ev(Player.OOP) == pytest.approx(values[0], abs=1e-3)
    assert root.share == pytest.approx(1)


@pytest.mark.parametrize("make", [classes, raked, combos])
def test_evs_are_those_of_the_solver(make: Any) -> None:
    solver = make()
    before = (combo_result() if make is combos else WholeSolution.of(solver)).before
    average = solver.preflop.average()
    reach = solver.preflop.game.reach(average)
    assert same(before.reach, reach)
    pairs = solver.preflop.game.pairs
    for player in Player:
        opponent_reach = solver.preflop.pot_reach(average)[player.opponent]
        leaves = solver.leaves.evaluate(player, opponent_reach)
        values = solver.preflop.values(player, leaves, best=False, strategies=average)
        for node in average:
            met = pairs @ reach[node, player.opponent]
            shown = before.node(node).whole_hand().evaluate().hands[player]
            there = np.isfinite(shown)
            np.testing.assert_allclose(
                shown[there], values[node][there] / met[there] / 100, atol=1e-3
            )
            if reach[node, player.opponent].max() > 1e-6:
                assert there[met > 0].all()


def test_actions_mix_to_the_ev_of_the_hand() -> None:
    before = result().before
    for node in before.strategies:
        evs = before.node(node).evaluate()
        player = before.tree.player_at(node)
        mixed = (before.strategies[node] * evs.actions).sum(axis=0)
        np.testing.assert_allclose(mixed, evs.hands[player], atol=1e-5)


def test_folding_costs_what_was_put_in() -> None:
    root, facing = (result().at(line).decision for line in ("", "r2.5"))
    assert np.allclose(root.whole_hand().action_evs[0], -0.5, atol=1e-6)
    assert np.allclose(facing.whole_hand().action_evs[0], -1.0, atol=1e-6)
    ante = WholeSolution.of(raked()).at("").decision
    assert np.allclose(ante.whole_hand().action_evs[0], -0.6, atol=1e-6)
    for node in (root, facing, ante):  # from here on, nothing
        assert np.allclose(node.action_evs[0], 0.0, atol=1e-6)


def test_all_in_and_called_is_the_equity_of_pairs() -> None:
    """The big blind facing an all-in: fold or show down, pair by pair."""
    solver, before = classes(), result().before
    tree = before.tree
    node = next(child for child in tree.children_of(0).tolist() if len(tree.actions_at(child)) == 2)
    view = before.node(node).whole_hand()
    assert view.actions == ("f", "c")
    at = before.strategies.__getitem__
    start = np.ones((2, 169))
    other = reach_of(tree, at, node, start)[Player.IP]
    results = payoffs(tree, solver.game.preflop)
    equity = preflop_equity().equity
    for hand in (0, 20, 100, 168):
        expected = hand_ev(
            tree, results, at, lambda _: equity, before.pairs, other, node, Player.OOP, hand
        )
        assert 100 * view.evs()[hand] == pytest.approx(expected, abs=1e-3)


def test_frequencies_count_combos() -> None:
    before = result().before
    node = result().at("c").decision  # the small blind limps
    assert node.taken.sum() == pytest.approx(1)
    own, other = before.reach[before.tree.children_of(0)[1]]
    weights = own * (before.pairs @ other)
    assert node.taken[0] == pytest.approx(node.strategy[0] @ weights / weights.sum())
    assert node.share == pytest.approx(weights.sum() / before.pairs.sum())
    assert node.hands[0].weights.sum() == pytest.approx(node.hands[1].weights.sum())


def test_arrays_come_back() -> None:
    before = result().before
    again = PreflopStrategies.unpack(before.tree, before.arrays())
    for node, strategy in before.strategies.items():
        assert same(again.strategies[node], strategy)
    assert same(again.pairs, before.pairs)
    assert before.values is not None
    assert again.values is not None
    assert same(again.values, before.values.astype(np.float32))
    chips = before.tree.pot_at(0)
    assert chips == 150
    assert (before.tree.kind == NodeKind.DECISION).sum() == len(before.strategies)


def test_values_that_nobody_knows() -> None:
    before = WholeSolution.of(forgotten()).before
    assert before.values is None
    assert "values" not in before.arrays()
    node = before.node(0)
    assert np.isnan(node.evs()).all()
    assert np.isnan(node.ev())
    assert not node.known
    assert node.taken.sum() == pytest.approx(1)


def test_a_raise_that_nobody_makes_has_no_ev() -> None:
    """Its answers were never learned; a fold ends the hand, and is worth what it is."""
    before = result().before
    raised = before.tree.children_of(0).tolist()[2]
    chances = before.strategies[0].copy()
    chances[1] += chances[2]
    chances[2] = 0.0
    never = replace(before, strategies={**before.strategies, 0: chances})
    root, answer = never.node(0), never.node(raised)
    assert before.node(0).known_actions.all()
    assert root.known_actions.tolist() == [True, True, False, True]
    assert np.isnan(root.action_evs[2]).all()
    assert np.isnan(root.range_evs()).tolist() == [False, False, True, False]
    assert root.range_evs()[0] == pytest.approx(0.0, abs=1e-9)
    assert root.whole_hand().range_evs()[0] == pytest.approx(-0.5)
    assert before.node(raised).reached
    assert not answer.reached
    assert np.isnan(answer.learned.hands).all()
    assert answer.line_reach.shares == (1.0, 0.0)
    assert node_report(answer)["reached"] is False
