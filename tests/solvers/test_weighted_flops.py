"""A game whose flops weigh fractions: dealt and summed by weight, zero-sum, and solved."""

import numpy as np
import pytest
from builders.whole_solution import solver_of, whole_game

from allstreets.betting import Player
from allstreets.cards import HAND_SIZES, hand_pairs, subset_flops
from allstreets.jobs.config.flop_choice import leaf_features
from allstreets.solutions import WholeSolution

FLOPS = ["Ks7d2c:0.37", "9h8h2c:2.71", "QcQd5h:1.13"]


def test_a_game_of_weighted_flops() -> None:
    game = whole_game(FLOPS, stack=6)
    solver = solver_of(game, 60)
    weights = game.flops.weights
    assert (weights % 1 != 0).all()
    dealt = sum(w * hand_pairs(f.cards) for f, w in zip(game.flops.flops, weights, strict=True))
    np.testing.assert_allclose(
        solver.preflop.game.pairs, dealt * (1326 * 1225 / np.sum(dealt)), rtol=1e-12
    )
    figures = solver.figures()
    assert figures.values is not None
    assert sum(figures.values) == pytest.approx(0, abs=1e-3)
    assert figures.exploitability is not None
    assert 0 < figures.exploitability < 5
    result = WholeSolution.of(solver)
    assert [row["weight"] for row in result.flops] == weights.tolist()
    # The value before the flop is the weighted sum of the values on the flops.
    reach = solver.preflop.pot_reach(solver.preflop.average())
    own = solver.evaluate().own
    for player in Player:
        values = solver.leaves.evaluate(player, reach[player.opponent])
        by_hand = np.einsum("k,pkh->ph", solver.leaves.weights, own[player])
        np.testing.assert_allclose(values, by_hand, rtol=1e-6, atol=1e-3)


def test_subsets_deal_hands_as_the_whole_deck_does() -> None:
    game = whole_game("subset_25", stack=2)
    assert game.flops.weights.tolist() == subset_flops(25).weights.tolist()
    solver = solver_of(game, 0)
    share = solver.preflop.game.pairs.sum(axis=1) / (1225 * HAND_SIZES)
    assert np.abs(share - 1).max() < 0.06


def test_leaf_features() -> None:
    rng = np.random.default_rng(1)
    values, reach = rng.normal(size=(2, 3, 4, 169)), rng.random((2, 3, 169))
    found = leaf_features(values, reach)
    assert found.shape == (4, 2 * 3 * 169)
    for flop, player, pot, hand in ((0, 0, 0, 0), (3, 1, 2, 168), (2, 0, 1, 20)):
        expected = values[player, pot, flop, hand]
        expected *= np.sqrt(reach[player, pot, hand] / HAND_SIZES[hand])
        assert found[flop, (player * 3 + pot) * 169 + hand] == pytest.approx(expected)
