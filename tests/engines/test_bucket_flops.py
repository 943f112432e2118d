"""Bucket models of several flops below one preflop tree."""

from dataclasses import replace

import numpy as np
import pytest
from builders.small_games import BUCKETS, small_config

from allstreets.cards import HAND_COUNT, HAND_OF_COMBO, hand_combos
from allstreets.cards.flop_sets import spread_flops
from allstreets.engines.matrix.buckets import (
    BucketCounts,
    bucket_flops,
    build_bucket_model,
)
from allstreets.solvers.whole_game import WholeGameSolver

FLOPS = spread_flops(2).flops
COUNTS = BucketCounts(6, 12, 15)


def test_roots_lead_all_combos_into_buckets() -> None:
    stages, roots, buckets_of = bucket_flops(FLOPS, COUNTS, 3, threads=1)
    assert roots.shape[:2] == (2, HAND_COUNT)
    generator = np.random.default_rng(2)
    for flop, parts, root, held in zip(FLOPS, stages, roots, buckets_of, strict=True):
        combos, buckets = hand_combos(flop.cards), parts[0].combos
        # Every hand in: every bucket is wholly there, and no combo is lost or counted twice.
        hands = len(buckets)
        np.testing.assert_allclose(np.ones(HAND_COUNT) @ root[:, :hands], 1.0)
        np.testing.assert_allclose(root[:, :hands] @ buckets, combos)
        assert not root[:, hands:].any()
        assert buckets.sum() == 1176
        # Any range: as many combos arrive as are sent, in the buckets that the model says.
        reach = generator.random(HAND_COUNT)
        assert (reach @ root[:, :hands]) @ buckets == pytest.approx(reach @ combos)
        model = build_bucket_model(flop.cards, COUNTS, 3)
        live = np.flatnonzero(held >= 0)
        means = np.bincount(held[live], reach[HAND_OF_COMBO[live]]) / model.weights[0]
        np.testing.assert_allclose(reach @ root[:, :hands], means)
        np.testing.assert_array_equal(held, model.flop_buckets)


def test_threads_and_seeds() -> None:
    one, two, other = (
        bucket_flops(FLOPS, COUNTS, seed, threads) for seed, threads in ((3, 1), (3, 2), (4, 1))
    )
    np.testing.assert_array_equal(one[1], two[1])
    for mine, theirs in zip(one[0], two[0], strict=True):
        for stage, same in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(stage.margin, same.margin)
            np.testing.assert_array_equal(stage.combos, same.combos)
    assert other[1].shape != one[1].shape or not np.array_equal(other[1], one[1])


def test_a_whole_game_over_buckets_is_solved() -> None:
    config = small_config(**BUCKETS)
    game = config.game()
    games = game.build(game.engine(replace(config.card_model(), seed=2)))
    solver = WholeGameSolver(game, games, config.schedule())
    assert solver.identity["cards"] == "buckets (6, 12, 15) seed 2"
    # Without card removal between the players, all 1,176 combos meet all 1,176.
    for pairs in solver.engine.dealt.reached(np.ones(HAND_COUNT), np.ones(HAND_COUNT)):
        assert pairs == pytest.approx(1176**2)
    gaps = []
    for iterations in (10, 40, 150):
        solver.train_batch(iterations)
        found = solver.exploitability()
        assert found is not None
        gaps.append(found)
    assert 0 < gaps[2] < gaps[1] < gaps[0]
    assert gaps[2] < 2
    values = solver.figures().values
    assert values is not None
    assert sum(values) == pytest.approx(0, abs=0.01)
