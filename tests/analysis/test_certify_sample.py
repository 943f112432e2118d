"""Draws of flops that stand for all: weights, pairs, and sums that are right on average."""

import numpy as np
import pytest

from allstreets.analysis.certificate_figures import draw_flops, everything
from allstreets.cards import all_flops
from allstreets.cards.flop_sets import by_likeness, named_flops, spread_flops

DEALT = 22_100


@pytest.mark.parametrize(("count", "even"), [(2, 4), (7, 8), (30, 30)])
def test_two_populations_are_drawn_from(count: int, even: int) -> None:
    trained = {flop.number for flop in spread_flops(300).flops}
    draws = draw_flops(trained, count, seed=4)
    seen = [draw for draw in draws if draw.flop.number in trained]
    assert len(draws) == 2 * even
    assert len(seen) == even
    mass = sum(flop.multiplicity for flop in all_flops() if flop.number in trained)
    assert sum(draw.weight for draw in seen) == pytest.approx(mass)
    assert sum(draw.weight for draw in draws) == pytest.approx(DEALT)
    pairs = [draw.pair for draw in draws if draw.pair is not None]
    assert sorted(pairs) == sorted(2 * [*range(even)])
    for first, second in zip(draws[::2], draws[1::2], strict=True):
        assert first.pair == second.pair


def test_a_small_population_is_taken_whole() -> None:
    flops = named_flops(["AsKsQs", "7s7h2d"])
    numbers = {flop.number for flop in flops.flops}
    draws = draw_flops(numbers, 4, seed=1)
    whole = [draw for draw in draws if draw.pair is None]
    assert {draw.flop.number for draw in whole} == numbers
    assert all(draw.weight == draw.flop.multiplicity for draw in whole)
    assert len(draws) == 2 + 4
    assert len(draw_flops(range(1755), 10, seed=1)) == 10  # there are no others
    assert len(draw_flops((), 10, seed=1)) == 10


@pytest.mark.parametrize(
    ("count", "expected"), [(4, 2), (8, 2), (12, 2), (16, 2), (24, 4), (32, 6)]
)
def test_monotone_flops_are_drawn_however_few_are(count: int, expected: int) -> None:
    trained = {*range(0, 1755, 3)}
    for seed in range(20):
        monotone = [
            draw
            for draw in draw_flops(trained, count, seed)
            if len({card % 4 for card in draw.flop.cards}) == 1
        ]
        assert len(monotone) == 2 * expected
        assert sum(draw.weight for draw in monotone) == pytest.approx(4 * 286)  # four suits
        pairs = [draw.pair for draw in monotone]
        assert pairs[::2] == pairs[1::2]


def test_a_stratum_of_few_flops_is_taken_whole() -> None:
    monotone, others = named_flops(["AsKsQs"]).flops, spread_flops(60).flops
    trained = [flop for flop in others if flop.texture.suits != "monotone"]
    numbers = {flop.number for flop in (*monotone, *trained)}
    draws = [draw for draw in draw_flops(numbers, 8, seed=1) if draw.flop.number in numbers]
    assert [draw.flop for draw in draws if draw.pair is None] == list(monotone)
    assert len(draws) == 1 + 6  # a flop that is certain takes the place of a pair
    mass = sum(flop.multiplicity for flop in (*monotone, *trained))
    assert sum(draw.weight for draw in draws) == pytest.approx(mass)


def test_every_part_is_drawn_from_by_its_own_luck() -> None:
    order = {flop.number: number for number, flop in enumerate(by_likeness(all_flops()))}
    drawn = np.array(
        [[order[draw.flop.number] for draw in draw_flops((), 12, seed)] for seed in range(300)]
    )
    correlations = np.corrcoef(drawn.T)[np.triu_indices(12, 1)]
    assert np.abs(correlations).max() < 0.3  # one offset for all parts: above 0.9


def test_sums_over_draws_are_right_on_average() -> None:
    values = np.random.default_rng(5).normal(size=1755)
    wanted = sum(flop.multiplicity * values[flop.number] for flop in all_flops())
    trained = {flop.number for flop in spread_flops(200).flops}
    sums = [
        sum(draw.weight * values[draw.flop.number] for draw in draw_flops(trained, 40, seed))
        for seed in range(300)
    ]
    error = np.std(sums) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - wanted) < 3 * error


def test_a_set_is_taken_with_its_own_weights() -> None:
    flops = named_flops(["AsKsQs:3", "7s7h2d"])
    draws = everything(flops)
    assert [draw.weight for draw in draws] == flops.weights.tolist()
    assert {draw.pair for draw in draws} == {None}
