"""Values from any node on: against the matrix engine, and pair of hands by pair of hands."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from builders.one_flop import OneFlop
from builders.whole_solution import buckets, classes
from reference.solution import hand_ev, reach_of

from allstreets.betting import NodeKind, Player
from allstreets.cards import flop_matchups, hand_pairs
from allstreets.engines.card_model import CLASSES
from allstreets.engines.quantised import ONE_BYTE, PackedStrategies
from allstreets.solutions.pot_evaluation import PotValues, combo_hands, flop_hands, pairs_met
from allstreets.solvers.whole_game import WholeGameSolver

RANDOM = np.random.default_rng(7)


def random_evaluation(solver: WholeGameSolver, pot: int, flop: int) -> PotValues:
    """A pot on a flop where both players play at random."""
    model = solver.engine.model
    game, found = solver.game.pots[pot], solver.game.flops.flops[flop]
    held = None
    if model.kind == "buckets":
        pots = solver.engine.pots
        held = solver.engine.pack(flop, np.zeros((2, pots, 169)), [ONE_BYTE] * pots)["held"]
    stages = flop_hands(model, found, held).stages()
    empty = PackedStrategies(game.tree, model.streets, ())
    averages = []
    for node in game.tree.decisions():
        hands = len(stages[int(empty.stages[node])].combos)
        raw = RANDOM.random((int(game.tree.child_count[node]), hands)) ** 3
        averages.append(raw / raw.sum(axis=0))
    kept = PackedStrategies.pack(game.tree, model.streets, averages)
    reach = RANDOM.random((2, len(stages[0].combos)))
    return PotValues(game.tree, game.payoffs, stages, kept, tuple(reach))


@pytest.mark.parametrize("make", [classes, buckets])
@pytest.mark.parametrize("player", list(Player))
def test_the_root_is_what_the_engine_says(make: Any, player: Player) -> None:
    solver = make()
    for pot in range(len(solver.game.pots)):
        slow = random_evaluation(solver, pot, 0)
        engine = OneFlop(slow.tree, slow.payoffs, tuple(slow.stages))
        for node in engine.game.tree.decisions():
            engine.set_average(node, slow.strategies.at(node))
        expected = engine.evaluate(player, slow.reach[player.opponent])
        np.testing.assert_allclose(slow.at(player, 0), expected, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("player", list(Player))
def test_any_node_is_what_pairs_of_hands_add_up_to(player: Player) -> None:
    solver = classes()
    slow = random_evaluation(solver, 1, 2)
    cards = solver.game.flops.flops[2].cards
    pairs = hand_pairs(cards).astype(np.float64)
    equity = np.nan_to_num(flop_matchups(cards).equity)
    at, start = cache(slow.strategies.at), np.stack(slow.reach)
    nodes = RANDOM.choice(np.flatnonzero(slow.tree.kind == NodeKind.DECISION), 4, replace=False)
    for node in nodes.tolist():
        other = reach_of(slow.tree, slow.strategies.at, node, start)[player.opponent]
        values = slow.at(player, node)
        met = pairs @ other
        for hand in RANDOM.choice(np.flatnonzero(met > 0), 2).tolist():
            expected = hand_ev(
                slow.tree,
                slow.payoffs,
                at,
                lambda _: equity,
                pairs,
                other,
                node,
                player,
                hand,
            )
            assert values[hand] / met[hand] == pytest.approx(expected, abs=1e-3)


def test_pairs_met_is_the_matrix_times_the_reach() -> None:
    for stage in (
        flop_hands(CLASSES, classes().game.flops.flops[0]).first,
        combo_hands(classes().game.flops.flops[0]).first,
        random_evaluation(buckets(), 0, 0).stages[1],
    ):
        reach = RANDOM.random((3, len(stage.combos)))
        np.testing.assert_allclose(pairs_met(stage, reach), reach @ stage.pairs.T, rtol=1e-9)
