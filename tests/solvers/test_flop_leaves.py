"""Flops that are visited now and then: the mean of the estimates of their sum.

These tests are about sampling, so the games below answer fixed numbers; with real games the leaves
are compared in `test_unified_steps`.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets.base import Flags, Floats
from allstreets.betting import IP, OOP, Player, PreflopRules, Street, same_sizes
from allstreets.cards import HAND_COUNT, hand_pairs
from allstreets.cards.flop_sets import spread_flops
from allstreets.cfr.schedules import IterationWeights, Schedule, parse_schedule
from allstreets.engines.card_model import CLASSES, DealtPairs
from allstreets.engines.protocol import Engine, Flops, RegretSums
from allstreets.games.whole_game import WholeGame
from allstreets.solvers.leaves import Choice, SubgameLeaves, VisitPlan, inclusion_chances

POTS = 2
EVERYONE = 1326 * 1225
NOBODY = np.zeros((POTS, HAND_COUNT))
WEIGHTS = np.array([24.0, 12.0, 4.0, 30.0, 7.5])
TUNED = parse_schedule("tuned")


class FixedFlops:
    """Flops whose values are given, whatever reach comes in; notes how it is called."""

    pots = POTS
    model = CLASSES
    memory_bytes = 0

    def __init__(self, values: Floats) -> None:
        self.values = values  # [2, P, F, 169]
        self.flops = values.shape[2]
        self.dealt = DealtPairs.of([()] * self.flops)  # as if nothing lay on the table
        self.calls: list[tuple[Player, list[int], list[IterationWeights]]] = []

    def persists(self, flops: Flops) -> bool:
        return len(flops) > 0

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> Floats:
        del hand_mask
        assert player_reach.shape == opponent_reach.shape
        self.calls.append((player, flops.tolist(), list(weights)))
        found: Floats = self.values[player][:, flops]
        return found

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        return self.evaluate(player, opponent_reach, flops) + 1.0

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        assert opponent_reach.shape == (POTS, HAND_COUNT)
        found: Floats = self.values[player][:, flops]
        return found

    def regret_sums(self, flops: Flops) -> RegretSums:
        none = np.zeros((POTS, len(flops)))
        return RegretSums(none, none, none.astype(np.int64))

    def state(self) -> dict[str, NDArray[Any]]:
        return {"calls": np.array(len(self.calls))}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        assert "calls" in state

    def _none(self, *_: object) -> Any:
        raise NotImplementedError

    iterate = average = set_average = quantised = pack = _none


def make_leaves(
    flops: int = 5, seed: int = 1, schedule: Schedule = TUNED
) -> tuple[SubgameLeaves, FixedFlops, Floats]:
    """Leaves that remember random values; the games; what all flops are worth together."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(2, POTS, flops, HAND_COUNT)).astype(np.float32)
    games = FixedFlops(values.astype(np.float64))
    checked: Engine = games
    leaves = SubgameLeaves(checked, WEIGHTS[:flops], EVERYONE, schedule)
    leaves.last = list(generator.normal(size=np.shape(leaves.last)).astype(np.float32))
    leaves.totals[...] = np.einsum("f,qpfh->qph", leaves.weights, np.array(leaves.last, np.float64))
    return leaves, games, np.einsum("f,qpfh->qph", leaves.weights, games.values)


def iterate(leaves: SubgameLeaves) -> Floats:
    """[2, P, 169]: the estimates of one iteration for both players."""
    return np.array([leaves.step(player, NOBODY, NOBODY) for player in Player])


def test_as_many_pairs_are_dealt_as_before_the_flop() -> None:
    leaves, _, _ = make_leaves()
    assert leaves.pairs.sum() == pytest.approx(EVERYONE, rel=1e-12)
    np.testing.assert_allclose(leaves.pairs, hand_pairs(), rtol=1e-12)
    np.testing.assert_allclose(leaves.weights / leaves.weights.sum(), WEIGHTS / WEIGHTS.sum())


def test_real_flops_deal_as_many_pairs_as_there_are_before_the_flop() -> None:
    flops = spread_flops(4)
    rules = WholeGame(PreflopRules.parse(3, [2.5], 1), same_sizes(Street.FLOP, ["a"], ["a"]), flops)
    leaves = SubgameLeaves(rules.build(rules.engine()), flops.weights, EVERYONE, TUNED)
    assert leaves.pairs.sum() == pytest.approx(EVERYONE, rel=1e-12)
    expected = np.zeros((HAND_COUNT, HAND_COUNT))
    for flop, weight in zip(flops.flops, flops.weights, strict=True):
        expected += weight * hand_pairs(flop.cards)
    np.testing.assert_allclose(leaves.pairs, expected * EVERYONE / expected.sum(), rtol=1e-12)
    # Four flops are not all, so some hands come too often, but only somewhat.
    assert np.abs(leaves.pairs.sum(axis=0) / hand_pairs().sum(axis=0) - 1).max() < 0.6


def test_all_flops_at_once_are_their_sum_exactly() -> None:
    leaves, games, total = make_leaves()
    for player in Player:
        np.testing.assert_allclose(leaves.step(player, NOBODY, NOBODY), total[player], rtol=1e-12)
        np.testing.assert_allclose(leaves.totals[player], total[player], rtol=1e-12)
    np.testing.assert_array_equal(leaves.last, games.values)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("player", Player)
def test_over_all_batches_the_mean_estimate_is_the_sum(size: int, player: Player) -> None:
    """A batch of a shuffled epoch is any subset of its size; what was remembered is random."""
    subsets = list(combinations(range(5), size))
    mean = np.zeros((POTS, HAND_COUNT))
    spread = 0.0
    for subset in subsets:
        leaves, _, total = make_leaves()
        leaves.visit(np.array(subset), np.full(size, size / 5))
        estimate = iterate(leaves)[player]
        spread = max(spread, float(np.abs(estimate - total[player]).max()))
        mean += estimate / len(subsets)
    size_of_values = np.abs(total[player]).max()
    np.testing.assert_allclose(mean / size_of_values, total[player] / size_of_values, atol=1e-12)
    assert spread > 0.1 * size_of_values  # single estimates are far off: the mean is no accident


@pytest.mark.parametrize(("choice", "batch"), [("shuffled", 0), ("shuffled", 2), ("reach", 0)])
def test_over_many_seeds_the_mean_estimate_is_the_sum(choice: Choice, batch: int) -> None:
    shares = np.array([0.45, 0.02, 0.13, 0.1, 0.3])
    leaves, _, total = make_leaves()
    remembered = {name: array.copy() for name, array in leaves.state().items()}
    estimates = []
    for seed in range(2000):
        leaves.restore(remembered)
        leaves.visit(*VisitPlan(2, 1, choice, seed).draw(0, batch, shares))
        estimates.append(iterate(leaves)[..., ::40])
    found = np.array(estimates)
    errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    apart = np.abs(found.mean(axis=0) - total[..., ::40]) / errors
    assert apart.max() < 4
    assert errors.max() < 0.1 * np.abs(total).max()


def test_estimates_by_reach_are_weighted_by_one_over_the_chance() -> None:
    """Every subset that can come, each with its own chance: flop 0 always, one of the others."""
    chances = inclusion_chances(np.array([0.8, 0.1, 0.05, 0.03, 0.02]), 2)
    assert chances[0] == 1.0
    mean = np.zeros((2, POTS, HAND_COUNT))
    for other in range(1, 5):
        leaves, _, total = make_leaves()
        flops = np.array([0, other])
        leaves.visit(flops, chances[flops])
        mean += chances[other] * iterate(leaves)
    np.testing.assert_allclose(mean, total, atol=1e-9 * np.abs(total).max())


@pytest.mark.parametrize("choice", ["shuffled", "reach"])
def test_settled_values_are_estimated_exactly(choice: Choice) -> None:
    """Once values stand still every batch knows the sum, whatever it visits."""
    leaves, games, total = make_leaves()
    leaves.visit_all()
    for player in Player:
        leaves.step(player, NOBODY, NOBODY)
    batches = VisitPlan(2, 1, choice)
    for number in range(12):
        leaves.visit(*batches.draw(number // 3, number % 3, np.ones(games.flops) / games.flops))
        for player in Player:
            found = leaves.step(player, NOBODY, NOBODY)
            np.testing.assert_allclose(found, total[player], atol=1e-9 * np.abs(total).max())


def test_what_was_seen_earlier_in_an_epoch_makes_later_batches_lean() -> None:
    """Baselines must not depend on the draw; otherwise the mean is another, known one.

    A flop that comes late in a shuffled epoch has not come early in it, so what it remembers is
    older than the rest. And a batch that is visited again remembers itself. Values stand still
    here, so whatever has been seen is `new`; the rest is still `old`.
    """
    leaves, _, new = make_leaves()
    old = leaves.totals.copy()
    remembered = {name: array.copy() for name, array in leaves.state().items()}
    orders = list(permutations(range(5)))
    mean = np.zeros((3, 2, 2, POTS, HAND_COUNT))  # by batch, and by iteration of the batch
    for order in orders:
        leaves.restore(remembered)
        for batch in range(3):
            flops = np.sort(order[2 * batch : 2 * batch + 2])
            leaves.visit(flops, np.full(len(flops), len(flops) / 5))
            for iteration in range(2):
                mean[batch, iteration] += iterate(leaves) / len(orders)
    size = np.abs(new).max()
    for batch in range(3):
        seen = 2 * batch / 5
        first = new + seen * (new - old)
        np.testing.assert_allclose(mean[batch, 0] / size, first / size, atol=1e-11)
        seen = min(2 * batch + 2, 5) / 5
        again = old + seen * (new - old)
        np.testing.assert_allclose(mean[batch, 1] / size, again / size, atol=1e-11)


def test_what_is_remembered_adds_up() -> None:
    leaves, games, _ = make_leaves()
    generator = np.random.default_rng(5)
    for _ in range(40):
        fresh = generator.normal(size=games.values.shape).astype(np.float32)
        games.values = fresh.astype(np.float64)
        chosen = np.flatnonzero(generator.random(5) < 0.5)
        leaves.visit(chosen, np.full(len(chosen), 0.5))
        for player in Player:
            before = np.array(leaves.last)
            leaves.step(player, NOBODY, NOBODY)
            np.testing.assert_array_equal(
                np.asarray(leaves.last[player])[:, chosen], fresh[player][:, chosen]
            )
            rest = np.setdiff1d(np.arange(5), chosen)
            np.testing.assert_array_equal(
                np.asarray(leaves.last[player])[:, rest], before[player][:, rest]
            )
            np.testing.assert_array_equal(leaves.last[1 - player], before[1 - player])
    expected = np.einsum("f,qpfh->qph", leaves.weights, np.array(leaves.last, np.float64))
    np.testing.assert_allclose(leaves.totals, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("algorithm", ["tuned", "dcfr", "cfr+", "vanilla"])
def test_every_flop_discounts_by_its_own_visits(algorithm: str) -> None:
    schedule = parse_schedule(algorithm)
    leaves, games, _ = make_leaves(schedule=schedule)
    visits = dict.fromkeys(range(5), 0)
    for flops in ([0, 1], [1, 4], [0, 1, 2, 3, 4], [1], [2, 3]):
        leaves.visit(np.array(flops), np.ones(len(flops)))
        games.calls.clear()
        for player in Player:
            leaves.step(player, NOBODY, NOBODY)
        for flop in flops:
            visits[flop] += 1  # both halves are one visit
        for _, visited, now in games.calls:
            assert visited == flops
            assert now == [schedule.at(visits[flop]) for flop in flops]
        assert [call[0] for call in games.calls] == [OOP, IP]
    assert leaves.visits.tolist() == list(visits.values())


def test_evaluating_sums_all_flops_whatever_is_visited() -> None:
    leaves, games, total = make_leaves()
    leaves.visit(np.array([2]), np.array([0.2]))
    for player in Player:
        np.testing.assert_allclose(leaves.evaluate(player, NOBODY), total[player], rtol=1e-12)
        by_flop = leaves.sum_flops(games.values[player] + 1.0)
        found = leaves.best_response(player, NOBODY)
        np.testing.assert_array_equal(found, by_flop)
        np.testing.assert_allclose(found, total[player] + leaves.weights.sum())


def test_restored_leaves_go_on_alike() -> None:
    first, games, _ = make_leaves()
    second = SubgameLeaves(games, WEIGHTS, EVERYONE, TUNED)
    chosen, chances = np.array([1, 3]), np.array([0.4, 0.4])
    first.visit(chosen, chances)
    first.step(OOP, NOBODY, NOBODY)
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.visit(chosen, chances)
    for player in (IP, OOP):
        np.testing.assert_array_equal(
            first.step(player, NOBODY, NOBODY), second.step(player, NOBODY, NOBODY)
        )
    assert first.visits.tolist() == second.visits.tolist() == [0, 2, 0, 2, 0]
