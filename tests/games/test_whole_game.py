"""The whole game: the pots that see a flop, their rules, and the deal before."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from allstreets.betting import (
    BIG_BLINDS,
    IP,
    OOP,
    NodeKind,
    PreflopRules,
    Street,
    build_postflop_tree,
    parse_line,
    payoffs,
    same_sizes,
)
from allstreets.cards import hand_pairs, preflop_equity
from allstreets.cards.flop_sets import parse_flop_set, spread_flops
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.games.whole_game import WholeGame, game_identity
from allstreets.solvers.whole_game import WholeGameSolver

GAME = WholeGame(
    PreflopRules.parse(20, [2.5], 3, ante=0.1, rake=0.05, rake_cap=1),
    same_sizes(Street.FLOP, [0.5, 1.0], [1.0]),
    spread_flops(3),
    max_raises=1,
)
FLOPS = parse_flop_set(["Ks9h2d"])


def test_every_way_to_a_flop_is_a_pot_of_its_own() -> None:
    leaves = np.flatnonzero(GAME.tree.kind == NodeKind.CHANCE).tolist()
    assert [pot.pot.node for pot in GAME.pots] == leaves
    by_line = {
        "c x": (220, 1890),
        "c r2.5 c": (520, 1740),
        "c r2.5 r6.25 c": (1270, 1365),
        "r2.5 c": (520, 1740),
        "r2.5 r6.25 c": (1270, 1365),
    }
    found = {pot.pot.node: (pot.pot.pot, pot.pot.stack) for pot in GAME.pots}
    for line, amounts in by_line.items():
        assert found[parse_line(GAME.tree, line, notation=BIG_BLINDS).node] == amounts


def test_pots_are_played_by_the_rules_of_the_game() -> None:
    for pot in GAME.pots:
        assert (pot.rules.pot, pot.rules.stack) == (pot.pot.pot, pot.pot.stack)
        assert (pot.tree.pot, pot.tree.stack) == (pot.pot.pot, pot.pot.stack)
        assert (pot.rules.rake, pot.rules.rake_cap) == (0.05, 100.0)
        assert pot.rules.max_raises == 1
        assert pot.rules.sizes == GAME.sizes
        np.testing.assert_array_equal(pot.payoffs, payoffs(pot.tree, pot.rules))
        assert pot.tree.node_count == build_postflop_tree(pot.rules).node_count
    # Built again in another process, they are the same.
    for (tree, paid), pot in zip(GAME.engine().trees(), GAME.pots, strict=True):
        np.testing.assert_array_equal(tree.parent, pot.tree.parent)
        np.testing.assert_array_equal(tree.invested, pot.tree.invested)
        np.testing.assert_array_equal(paid, pot.payoffs)
    games = GAME.build(GAME.engine())
    assert isinstance(games, MatrixEngine)
    assert all(one.tree is pot.tree for one, pot in zip(games.games, GAME.pots, strict=True))


def test_thresholds_reach_the_pots() -> None:
    changed = replace(
        GAME, add_allin_threshold=2.5, force_allin_threshold=0.2, merging_threshold=0.1
    )
    for pot in changed.pots:
        rules = pot.rules
        assert rules.add_allin_threshold == 2.5
        assert rules.force_allin_threshold == 0.2
        assert rules.merging_threshold == 0.1
    nodes = [sum(pot.tree.node_count for pot in game.pots) for game in (GAME, changed)]
    assert nodes[0] != nodes[1]


def test_with_all_pairs_an_all_in_is_worth_its_equity() -> None:
    pairs = hand_pairs().astype(np.float64)
    before = GAME.before_the_flop(pairs)
    assert before.weight == 1326 * 1225
    expected = pairs * (2 * preflop_equity().equity - 1)
    np.testing.assert_array_equal(before.margin, expected)
    np.testing.assert_allclose(before.margin, -before.margin.T, atol=1e-9)
    assert np.isfinite(before.margin).all()
    np.testing.assert_array_equal(before.results, payoffs(GAME.tree, GAME.preflop))
    assert before.pots == tuple(pot.pot for pot in GAME.pots)


def test_two_games_are_the_same_when_their_facts_are() -> None:
    text = json.dumps(game_identity(GAME))
    assert json.loads(text) == game_identity(GAME)
    assert json.dumps(game_identity(replace(GAME))) == text
    renamed = replace(GAME, flops=parse_flop_set([flop.text for flop in GAME.flops.flops]))
    others = [
        replace(GAME, preflop=replace(GAME.preflop, ante=0)),
        replace(GAME, preflop=PreflopRules.parse(20, [3], 3, ante=0.1, rake=0.05, rake_cap=1)),
        replace(GAME, sizes=same_sizes(Street.FLOP, [0.5], [1.0])),
        replace(GAME, flops=spread_flops(4)),
        replace(GAME, max_raises=2),
        replace(GAME, merging_threshold=0.1),
        renamed,  # the same flops with other weights
    ]
    texts = {json.dumps(game_identity(other)) for other in others}
    assert len(texts) == len(others)
    assert text not in texts


@pytest.mark.parametrize(("stack", "pots"), [(1, 0), (2, 1), (6, 3)])
def test_short_stacks_see_fewer_flops(stack: float, pots: int) -> None:
    game = replace(GAME, preflop=PreflopRules.parse(stack, [2.5], 3))
    assert len(game.pots) == pots


def test_a_game_whose_trees_are_built_travels_to_other_processes() -> None:
    game = replace(GAME)
    node = game.node_at("c x | x", "").node
    copy = pickle.loads(pickle.dumps(game))
    assert game_identity(copy) == game_identity(game)
    assert copy.node_at("c x | x", "").node == node


def test_sizes_by_kind_of_pot() -> None:
    own = same_sizes(Street.FLOP, [0.33], ["a"])
    game = replace(GAME, pot_sizes={"limped": own, "3bet": own})
    for pot, usual in zip(game.pots, GAME.pots, strict=True):
        kind = pot.pot.name.replace("-", "")
        assert pot.rules.sizes == (own if kind in ("limped", "3bet") else GAME.sizes)
        assert (pot.tree.node_count == usual.tree.node_count) == (kind not in ("limped", "3bet"))
    assert {pot.pot.kind for pot in game.pots} == {"limped", "raised", "3bet", "4bet"}


def test_a_bet_after_the_flop_is_at_least_a_big_blind() -> None:
    """A quarter of a limped pot of 2 bb, with which a big blind of 1 bb can be checked to."""
    game = WholeGame(PreflopRules.parse(20), same_sizes(Street.FLOP, ["25%", "40%"], []), FLOPS)
    limped, *_ = game.pots
    assert [action.amount for action in limped.tree.actions_at(0)[1:]] == [100]
    raised = game.pots[-1]
    assert min(action.amount for action in raised.tree.actions_at(0)[1:]) > 100
    before = replace(game, min_bet=0)
    assert [action.amount for action in before.pots[0].tree.actions_at(0)[1:]] == [50, 80]
    # If no size asks for less, it is the same game as before, with the same mapping.
    half = replace(game, sizes=same_sizes(Street.FLOP, ["50%", "a"], []))
    assert game_identity(half) == game_identity(replace(half, min_bet=0))
    assert game_identity(game) != game_identity(before)


def test_a_big_blind_ante_is_two_halves_and_what_they_cost() -> None:
    """1 bb posted by one player plays as half a bb by each, of stacks that leave as much behind."""
    sizes = same_sizes(Street.FLOP, [1.0], [])
    one, both = (
        WholeGameSolver(game, game.build(game.engine()), parse_schedule("tuned"))
        for game in (
            WholeGame(PreflopRules.parse(4, [], bb_ante=1), sizes, FLOPS),
            WholeGame(PreflopRules.parse(3.5, [], ante=0.5), sizes, FLOPS),
        )
    )
    for solver in (one, both):
        solver.train_batch(5)
    for node, strategy in both.preflop.average().items():
        np.testing.assert_allclose(one.preflop.average()[node], strategy, atol=1e-6)
    found, other = one.figures(), both.figures()
    assert found.exploitability == pytest.approx(other.exploitability, rel=1e-5)
    assert found.values is not None
    assert other.values is not None
    assert found.values == pytest.approx((other.values[OOP] - 500, other.values[IP] + 500))
