"""The separated solution inside the whole game."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from builders.engine_abilities import pair_values
from separated_play import (
    model_values,
    models_at,
    own_models,
    play_separated,
    pot_sprs,
    resolve_flops,
)

from allstreets.base import InputError
from allstreets.betting import NodeKind, Player, PreflopRules, Street, parse_line, same_sizes
from allstreets.cards import hand_pairs
from allstreets.cards.flop_sets import named_flops
from allstreets.cfr.schedules import tuned
from allstreets.engines.card_model import DealtPairs
from allstreets.engines.matrix.cards import class_stages
from allstreets.engines.matrix.engine import MatrixCards, MatrixEngine
from allstreets.games.whole_game import PotGame, WholeGame
from allstreets.solvers.flops import FlopsSolver, FlopTargets
from allstreets.solvers.leaves import SubgameLeaves
from allstreets.solvers.separated import ModelLeaves, PreflopSolver, mean_over_flops
from allstreets.solvers.whole_game import PreflopTraining, WholeGameSolver


@cache
def game() -> WholeGame:
    sizes = same_sizes(Street.FLOP, [1.0], [1.0])
    flops = named_flops(["Ah9d4s", "8c7c7d:3"])
    return WholeGame(PreflopRules.parse(12, [2.5], 2), sizes, flops, max_raises=1)


def flop_games(pots: tuple[PotGame, ...]) -> MatrixEngine:
    trees = [(pot.tree, pot.payoffs) for pot in pots]
    flops = [flop.cards for flop in game().flops.flops]
    cards = MatrixCards([class_stages(flop) for flop in flops], DealtPairs.of(flops))
    return MatrixEngine(trees, cards)


def unified() -> WholeGameSolver:
    return WholeGameSolver(game(), flop_games(game().pots), tuned())


NEVER = FlopTargets(exploitability=0.0)


@cache
def uniform(*sprs: float) -> FlopsSolver:
    pots = models_at(game(), sprs) if sprs else own_models(game())
    made = FlopsSolver(pots, game().flops, flop_games(pots), tuned(), NEVER)
    made.train_batch(60)
    return made


def sprs_of(models: FlopsSolver) -> list[float]:
    return [pot.pot.spr for pot in models.pots]


@cache
def separated(*sprs: float) -> PreflopSolver:
    solver = PreflopSolver(game().preflop, model_values(uniform(*sprs)), tuned())
    solver.train_batch(150)
    return solver


@cache
def solved() -> WholeGameSolver:
    solver = unified()
    solver.train_batch(60)
    return solver


def exploitability(of: PreflopTraining) -> float:
    found = of.exploitability()
    assert found is not None
    return found


def played(*sprs: float) -> WholeGameSolver:
    solver = unified()
    play_separated(solver, separated(*sprs).preflop.average(), uniform(*sprs))
    return solver


def test_pots_with_the_same_chips_are_one_model() -> None:
    assert len(game().pots) == 5
    assert [round(spr, 3) for spr in sprs_of(uniform())] == [5.5, 1.9, 0.46]
    assert all(own == model for own, model in pot_sprs(separated()))
    assert sprs_of(uniform(2.0)) == [2.0]
    assert uniform(2.0).pots[0].pot.pot == 1000


def test_models_get_better_and_are_measured_in_pots() -> None:
    models = own_models(game())
    made = FlopsSolver(models, game().flops, flop_games(models), tuned(), NEVER)
    found = []
    for _ in range(3):
        made.train_batch(10)
        found.append(made.mean_exploitability())
    assert all((later < earlier).all() for earlier, later in pairwise(found))
    # The same by hand, flop by flop.
    weights, full = game().flops.weights, np.ones((3, 169))
    gains = np.zeros(3)
    for player in Player:
        by_flop = made.engine.best_response(player, full, np.arange(2))
        for model, pot in enumerate(models):
            gains[model] += sum(
                weight * values.sum() / pot.pot.pot
                for weight, values in zip(weights, by_flop[model], strict=True)
            )
    np.testing.assert_allclose(found[-1], gains / 2 / (weights.sum() * 1176 * 1081))


def test_values_of_models_are_means_over_their_flops() -> None:
    models, flops = uniform(), game().flops
    found = model_values(models)
    pairs = np.array(
        [
            weight * hand_pairs(flop.cards)
            for flop, weight in zip(flops.flops, flops.weights, strict=True)
        ]
    )
    np.testing.assert_allclose(
        found.pairs / found.pairs.sum(), pairs.sum(axis=0) / pairs.sum(), rtol=1e-12
    )
    met = pairs.sum(axis=0) > 0
    for model, pot in enumerate(models.pots):
        won = (pairs * pair_values(models.engine, model, np.arange(len(pairs)))).sum(axis=0)
        shares = 0.5 + won[met] / pairs.sum(axis=0)[met] / pot.pot.pot
        np.testing.assert_allclose(found.shares[model][met], shares, atol=1e-6)


def test_of_models_with_the_same_spr_the_first_counts() -> None:
    """It is the one that is played, too."""
    (one,) = models_at(game(), [2.0])
    twice = FlopsSolver([one, one], game().flops, flop_games((one, one)), tuned())
    alone = FlopsSolver([one], game().flops, flop_games((one,)), tuned())
    bets = np.zeros((len(one.tree.children_of(0)), 169))
    bets[-1] = 1.0
    twice.engine.set_average(1, 0, 0, bets)
    flop = np.array([0])
    assert not np.array_equal(
        pair_values(twice.engine, 1, flop), pair_values(twice.engine, 0, flop)
    )
    np.testing.assert_array_equal(model_values(twice).shares, model_values(alone).shares)


def test_both_players_values_share_the_pot() -> None:
    models = uniform()
    chips = model_values(models).chips([pot.pot for pot in models.pots])
    leaves = SubgameLeaves(models.engine, game().flops.weights, 1326 * 1225, tuned())
    reach = np.random.default_rng(1).random((3, 169))
    for player in Player:
        wanted = leaves.evaluate(player, reach)
        found = ModelLeaves(chips).evaluate(player, reach)
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


def test_values_of_the_whole_game_agree_with_its_own_values_as_a_table() -> None:
    """Its own strategies as the models of every pot: nothing is lost by the table."""
    whole = solved()
    by_pot = {
        float(place + 1): list(0.5 + pair_values(whole.engine, place, np.arange(2)) / pot.pot.pot)
        for place, pot in enumerate(game().pots)
    }
    own = mean_over_flops(game().flops, by_pot)
    totals = np.array([pot.pot.pot for pot in game().pots])[:, None, None] * (own.shares - 0.5)
    leaves = ModelLeaves(totals * whole.leaves.pairs)
    average = whole.preflop.average()
    reach = whole.preflop.pot_reach(average)
    for player in Player:
        other = reach[player.opponent]
        wanted = whole.leaves.evaluate(player, other)
        found = leaves.evaluate(player, other)
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())
        for best in (True, False):
            values = [
                whole.preflop.values(player, below, best=best, strategies=average)[0].sum()
                for below in (found, wanted)
            ]
            assert values[0] == pytest.approx(values[1], rel=1e-4)


def test_its_own_trees_are_played_as_they_are() -> None:
    solver, models = played(), uniform()
    for place, pot in enumerate(game().pots):
        model = sprs_of(models).index(pot.pot.spr)
        for node in np.flatnonzero(pot.tree.kind == NodeKind.DECISION).tolist():
            for flop in range(2):
                found = solver.engine.average(place, flop, node)
                wanted = models.engine.average(model, flop, node)
                np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_other_trees_are_played_by_the_line() -> None:
    solver, models = played(2.0), uniform(2.0)
    deep, model = game().pots[0].tree, models.pots[0].tree
    lines = {"": "", "x": "x", "b200": "b1000", "x b200": "x b1000", "b200 r800": "b1000 a"}
    for line, other in lines.items():
        nodes = [parse_line(tree, text).node for tree, text in ((deep, line), (model, other))]
        for flop in range(2):
            found = solver.engine.average(0, flop, nodes[0])
            wanted = models.engine.average(0, flop, nodes[1])
            np.testing.assert_allclose(found, wanted, atol=1e-6)
    over = parse_line(deep, "b200 r800 c | * |", any_card=True).node
    np.testing.assert_array_equal(solver.engine.average(0, 1, over)[0], 1.0)


def test_before_the_flop_nothing_can_be_gained_beyond_what_the_preflop_solver_says() -> None:
    figures = played().figures()
    assert figures.preflop_exploitability is not None
    assert figures.preflop_exploitability == pytest.approx(exploitability(separated()), abs=1e-3)
    assert figures.preflop_exploitability < 1


def test_one_game_beats_two() -> None:
    whole = exploitability(solved())
    own, coarse = exploitability(played()), exploitability(played(2.0))
    assert whole < 30
    assert own > 2 * whole
    assert coarse > own


def test_flops_solved_for_the_ranges_that_get_there_are_better_and_not_good() -> None:
    solver = unified()
    resolve_flops(solver, separated().preflop.average(), 60)
    found = exploitability(solver)
    assert exploitability(solved()) < found < exploitability(played())
    before = separated().preflop.average()
    for node, strategy in solver.preflop.average().items():
        np.testing.assert_allclose(strategy, before[node], atol=1e-12)


def test_flops_solved_again_for_the_unified_ranges_are_as_good_as_unified() -> None:
    solver = unified()
    resolve_flops(solver, solved().preflop.average(), 100)
    assert exploitability(solver) < 1.5 * exploitability(solved())


def test_models_are_asked_for_sensible_sprs_and_no_rake() -> None:
    with pytest.raises(InputError, match=r"an SPR of 0\.0001 cannot be played"):
        models_at(game(), [0.0001])
    raked = WholeGame(
        PreflopRules.parse(12, [2.5], 2, rake=0.05), game().sizes, game().flops, max_raises=1
    )
    with pytest.raises(InputError, match="without rake"):
        own_models(raked)
    with pytest.raises(InputError, match="without rake"):
        models_at(raked, [3.5])
