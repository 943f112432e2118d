"""The flops that an iteration visits: each in its turn, or with exactly its chance."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base import Floats, InputError
from allstreets.solvers.leaves import Choice, VisitPlan, inclusion_chances, systematic_sample

SHARES = np.array([0.3, 0.02, 0.15, 0.0, 0.08, 0.05, 0.2, 0.1, 0.06, 0.04])


@given(st.integers(1, 40), st.integers(0, 50), st.integers(1, 4), st.integers(0, 100))
def test_every_iteration_has_its_place(flops: int, size: int, each: int, first: int) -> None:
    batches = VisitPlan(size, each)
    all_places = []
    for epoch in range(5):
        for batch in range(batches.batches(flops)):
            all_places += [(epoch, batch, inner == 0) for inner in range(each)]
    assert len(all_places) == 5 * batches.epoch_iterations(flops)
    iteration = first % len(all_places)
    assert batches.position(iteration, flops) == all_places[iteration]


@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 5), st.integers(0, 99))
def test_a_shuffled_epoch_visits_every_flop_once(
    flops: int, size: int, epoch: int, seed: int
) -> None:
    batches = VisitPlan(size, seed=seed)
    visited: list[int] = []
    for batch in range(batches.batches(flops)):
        chosen, chances = batches.draw(epoch, batch, np.ones(flops) / flops)
        assert 1 <= len(chosen) <= size
        assert (np.diff(chosen) > 0).all()
        np.testing.assert_array_equal(chances, len(chosen) / flops)
        visited += chosen.tolist()
    assert sorted(visited) == list(range(flops))


@pytest.mark.parametrize("size", [0, 10, 11])
@pytest.mark.parametrize("choice", ["shuffled", "reach"])
def test_all_flops_at_once(size: int, choice: Choice) -> None:
    batches = VisitPlan(size, 3, choice)
    assert batches.visits_all(10)
    assert batches.epoch_iterations(10) == 3
    chosen, chances = batches.draw(4, 0, SHARES)
    assert chosen.tolist() == list(range(10))
    assert chances.tolist() == [1.0] * 10


@pytest.mark.parametrize("choice", ["shuffled", "reach"])
def test_what_is_drawn_depends_on_seed_epoch_and_batch_alone(choice: Choice) -> None:
    def drawn(seed: int, epoch: int, batch: int) -> tuple[int, ...]:
        chosen, _ = VisitPlan(3, 1, choice, seed).draw(epoch, batch, SHARES)
        return tuple(chosen.tolist())

    draws = [(seed, epoch, batch) for seed in (1, 2, 3) for epoch in range(4) for batch in range(3)]
    forwards = {place: drawn(*place) for place in draws}
    backwards = {place: drawn(*place) for place in reversed(draws)}
    assert forwards == backwards
    assert len(set(forwards.values())) > len(draws) / 3


@pytest.mark.parametrize("batch", [0, 1, 3])
def test_shuffled_flops_come_as_often_as_their_chance_says(batch: int) -> None:
    """Also in the last batch, which has fewer flops than the others."""
    count = np.zeros(10)
    draws = 3000
    for seed in range(draws):
        chosen, chances = VisitPlan(3, seed=seed).draw(0, batch, SHARES)
        count[chosen] += 1
    chance = float(chances[0])
    assert chance == (0.1 if batch == 3 else 0.3)
    assert np.abs(count / draws - chance).max() < 4 * np.sqrt(chance * (1 - chance) / draws)


@pytest.mark.parametrize("size", [1, 3, 6, 9])
def test_flops_by_reach_come_as_often_as_their_chance_says(size: int) -> None:
    count = np.zeros(10)
    draws = 4000
    wanted = inclusion_chances(SHARES, size)
    for seed in range(draws):
        chosen, chances = VisitPlan(size, 1, "reach", seed).draw(0, 0, SHARES)
        np.testing.assert_array_equal(chances, wanted[chosen])
        count[chosen] += 1
    errors = np.sqrt(wanted * (1 - wanted) / draws)
    certain = wanted == 1
    assert (count[certain] == draws).all()
    assert (np.abs(count / draws - wanted)[~certain] < 4 * errors[~certain]).all()


class Comb(np.random.Generator):
    """Keeps the order, and puts the comb at a given place."""

    def __init__(self, first_tooth: float) -> None:
        super().__init__(np.random.PCG64(0))
        self.first_tooth = first_tooth

    def permutation(self, *args: Any, **_: Any) -> Any:
        return np.arange(args[0])

    def random(self, *_: Any, **__: Any) -> Any:
        return self.first_tooth


@pytest.mark.parametrize("size", [1, 3, 6, 9])
def test_over_all_places_of_the_comb_every_flop_has_exactly_its_chance(size: int) -> None:
    wanted = inclusion_chances(SHARES, size)
    places = 2000
    count = np.zeros(10)
    for place in range(places):
        chosen = systematic_sample(wanted, Comb((place + 0.5) / places))
        assert len(set(chosen.tolist())) == len(chosen) == size
        count[chosen] += 1
    assert np.abs(count / places - wanted).max() <= 1 / places


shares_of_flops = st.lists(
    st.one_of(st.just(0.0), st.floats(1e-9, 1.0)), min_size=2, max_size=30
).map(lambda shares: np.array(shares) / max(sum(shares), 1e-9))


@settings(max_examples=300)
@given(shares_of_flops, st.data())
def test_chances_follow_the_shares(shares: Floats, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(shares) - 1))
    chances = inclusion_chances(shares, size)
    assert chances.sum() == pytest.approx(size)
    assert chances.max() <= 1.0
    assert chances.min() > 0.0  # nobody's values are frozen
    below = chances < 1.0
    wanted = np.maximum(shares, 0.05 * shares.mean()) if shares.any() else np.ones(len(shares))
    ratios = chances[below] / wanted[below]
    if len(ratios):
        assert ratios.max() == pytest.approx(ratios.min())
        # Who is always there would have got more than 1 at the rate of the others.
        assert (wanted[~below] * ratios.max() >= 1 - 1e-9).all()
    for seed in range(3):
        sample = systematic_sample(chances, np.random.default_rng(seed))
        assert set(np.flatnonzero(~below)) <= set(sample.tolist())
        assert abs(len(sample) - size) <= 1


@pytest.mark.parametrize(("size", "iterations"), [(-1, 1), (3, 0), (0, -2)])
def test_what_is_refused(size: int, iterations: int) -> None:
    with pytest.raises(InputError, match=f"flop_batch_size is {size} and iterations_per_batch"):
        VisitPlan(size, iterations)
