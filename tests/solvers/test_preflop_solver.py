"""The separated preflop solver against loops over hands and deals."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.separated import NaiveSeparated, mean_of_pair, nearest
from separated_play import pot_sprs

from allstreets.base import InputError
from allstreets.betting import Player, PreflopRules, build_preflop_tree, flop_pots
from allstreets.cards import hand_pairs, parse_hand, preflop_equity
from allstreets.cards.flop_sets import named_flops
from allstreets.cfr.schedules import parse_schedule
from allstreets.jobs import Intervals, Iterations, RunFiles, train
from allstreets.solvers.separated import (
    ModelLeaves,
    PairValues,
    PreflopSolver,
    mean_over_flops,
    nearest_spr,
)

SPRS = (0.5, 4.0)
HANDS = [parse_hand(text) for text in ("AA", "AKs", "AKo", "72o", "22", "T9s")]


def random_shares(seed: int, models: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(-0.5, 1.5, (models, 169, 169))


@cache
def rules() -> PreflopRules:
    return PreflopRules.parse(12, [2.5], 2)


@cache
def values() -> PairValues:
    """Equities, moved a little by a model: nearly a real game."""
    matchups = preflop_equity()
    shares = matchups.equity + 0.1 * random_shares(1, 2)
    return PairValues(SPRS, matchups.pairs.astype(np.float64), shares)


def solver(algorithm: str = "tuned") -> PreflopSolver:
    return PreflopSolver(rules(), values(), parse_schedule(algorithm))


def exploitability(of: PreflopSolver) -> float:
    found = of.exploitability()
    assert found is not None
    return found


def test_values_before_the_flop_are_means_over_all_deals() -> None:
    flops = named_flops(["AhAd7s:2", "Tc9c2c"])
    shares = random_shares(2, 2)
    found = mean_over_flops(flops, {3.5: iter(shares), 1.0: iter(shares[::-1])})
    assert found.sprs == (3.5, 1.0)
    boards = [(flop.cards, float(w)) for flop, w in zip(flops.flops, flops.weights, strict=True)]
    scale = preflop_equity().pairs.sum() / sum(w * hand_pairs(cards).sum() for cards, w in boards)
    assert found.pairs.sum() == pytest.approx(1326 * 1225)
    for hand in HANDS:
        for other in HANDS:
            for model, by_flop in enumerate((shares, shares[::-1])):
                pairs, mean = mean_of_pair(boards, list(by_flop), hand, other)
                assert found.pairs[hand, other] == pytest.approx(scale * pairs)
                assert found.shares[model, hand, other] == pytest.approx(mean)


def test_hands_that_no_flop_lets_meet_share_the_pot() -> None:
    aces = parse_hand("AA")
    found = mean_over_flops(named_flops(["AhAdAs"]), {3.5: random_shares(3)})
    assert found.pairs[aces, aces] == 0
    assert found.shares[0, aces, aces] == 0.5


def test_a_model_must_have_every_flop() -> None:
    with pytest.raises(ValueError, match="zip"):
        mean_over_flops(named_flops(["AhAd7s", "Tc9c2c"]), {3.5: random_shares(1)})


sprs = st.floats(0.05, 200)


@given(st.lists(sprs, min_size=1, max_size=5), sprs)
def test_the_nearest_spr_is_nearest_in_logarithms(known: list[float], spr: float) -> None:
    found = known[nearest_spr(known, spr)]
    wanted = nearest(known, spr)
    assert abs(np.log(found / spr)) == pytest.approx(abs(np.log(wanted / spr)), abs=1e-8)


def test_of_two_sprs_that_are_as_near_the_lower_is_taken() -> None:
    assert nearest_spr((4.0, 1.0), 2.0) == 1
    assert nearest_spr((1.0, 4.0), 2.0) == 0


@pytest.mark.parametrize("wrong", [(), (0.0,), (3.5, -1.0)])
def test_sprs_that_are_none(wrong: tuple[float, ...]) -> None:
    shape = (len(wrong), 169, 169)
    with pytest.raises(InputError, match="SPRs"):
        PairValues(wrong, np.ones((169, 169)), np.ones(shape))


def test_every_pot_takes_its_model_and_scales_it() -> None:
    pots = flop_pots(build_preflop_tree(rules()))
    assert [round(pot.spr, 2) for pot in pots] == [5.5, 1.9, 0.46, 1.9, 0.46]
    assert [model for _, model in pot_sprs(solver())] == [4.0, 4.0, 0.5, 4.0, 0.5]
    chips = values().chips(pots)
    hand, other = parse_hand("KQs"), parse_hand("JJ")
    for place, model in enumerate([1, 1, 0, 1, 0]):
        won = pots[place].pot * (values().shares[model, hand, other] - 0.5)
        assert chips[place, hand, other] == pytest.approx(values().pairs[hand, other] * won)


@given(st.integers(0, 10**6))
def test_what_one_player_wins_the_other_loses(seed: int) -> None:
    generator = np.random.default_rng(seed)
    reach = generator.random((2, 2, 169))
    leaves = ModelLeaves(generator.normal(size=(2, 169, 169)))
    mine = leaves.step(Player.OOP, reach[0], reach[1])
    theirs = leaves.best_response(Player.IP, reach[0])
    np.testing.assert_allclose((reach[0] * mine).sum(1), -(reach[1] * theirs).sum(1), atol=1e-8)


def naive(of: PreflopSolver) -> NaiveSeparated:
    table = values()
    shares = {
        pot.node: table.shares[SPRS.index(nearest(SPRS, pot.stack / pot.pot))]
        for pot in of.preflop.game.pots
    }
    return NaiveSeparated(of.preflop.game.tree, table.pairs, preflop_equity().equity, shares)


@pytest.mark.parametrize("algorithm", ["linear", "dcfr", "tuned", "cfr+"])
def test_every_iteration_equals_the_recursion(algorithm: str) -> None:
    fast = solver(algorithm)
    slow = naive(fast)
    iterations = 3
    fast.train_batch(iterations)
    for iteration in range(1, iterations + 1):
        for player in Player:
            now = parse_schedule(algorithm).at(iteration)
            factors = now.positive, now.negative, now.average, now.weight, now.floor == 0
            slow.step(player, factors)
    for node, regrets in fast.preflop.regrets.items():
        wanted = np.array([slow.regrets[node, hand] for hand in range(169)]).T
        np.testing.assert_allclose(regrets, wanted, rtol=1e-9, atol=1e-6)
        average = np.array([slow.strategy(slow.sums, node, hand) for hand in range(169)]).T
        np.testing.assert_allclose(fast.preflop.average()[node], average, atol=1e-9)
    best = (slow.best_value(0) + slow.best_value(1)) / 2 * 10  # 100 chips a big blind
    assert exploitability(fast) == pytest.approx(best)
    positive = [max(r, 0.0) for by_action in slow.regrets.values() for r in by_action]
    weight = 0.0
    for iteration in range(1, iterations + 1):
        weight = weight * parse_schedule(algorithm).at(iteration).positive + 1
    unit = 10 / slow.pairs.sum() / weight
    metrics = fast.metrics()
    assert metrics.exploitability == fast.exploitability()
    assert metrics.avg_positive_regret == pytest.approx(np.mean(positive) * unit)
    assert metrics.max_regret == pytest.approx(max(positive) * unit)
    assert fast.avg_positive_regret == metrics.avg_positive_regret


@pytest.mark.parametrize("algorithm", ["linear", "dcfr", "tuned"])
def test_exploitability_falls(algorithm: str) -> None:
    one = solver(algorithm)
    found = []
    for _ in range(3):
        one.train_batch(40)
        found.append(exploitability(one))
    assert all(later < 0.8 * earlier for earlier, later in pairwise(found))
    assert found[-1] < 5


def test_values_that_agree_with_nothing_are_no_equilibrium() -> None:
    one = solver()
    assert exploitability(one) > 100  # both play uniformly
    assert one.metrics(exploitability=False).exploitability is None
    assert one.metrics().strategy_entropy == pytest.approx(1.0)
    assert one.avg_positive_regret == 0.0


def test_a_restored_solver_goes_on_bit_for_bit() -> None:
    whole, first, second = solver("dcfr"), solver("dcfr"), solver("dcfr")
    whole.train_batch(9)
    first.train_batch(4)
    second.train_batch(1)
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.train_batch(5)
    assert second.iterations == 9
    wanted = whole.state()
    assert wanted.keys() == second.state().keys()
    for name, array in second.state().items():
        np.testing.assert_array_equal(array, wanted[name])
    assert second.metrics() == whole.metrics()


def test_the_training_loop_runs_and_resumes_it(tmp_path: Path) -> None:
    def run(iterations: int, resume: bool) -> PreflopSolver:
        one = solver()
        files = RunFiles(tmp_path / "run", resume=resume)
        train(one, [Iterations(iterations)], files=files, intervals=Intervals(3, 3))
        return one

    run(4, resume=False)
    resumed, whole = run(7, resume=True), solver()
    whole.train_batch(7)
    assert resumed.iterations == 7
    assert resumed.strategies() == whole.strategies()


def test_batches_end_when_the_callback_says_so() -> None:
    one = solver()
    one.train_batch(10, lambda done: done == 3)
    assert one.iterations == 3


def test_strategies_have_the_words_of_the_lines() -> None:
    one = solver()
    one.train_batch(1)
    strategies = one.strategies()
    root = strategies[": AA"]
    assert list(root) == ["f", "c", "r2.5", "a"]
    assert sum(root.values()) == pytest.approx(1.0)
    assert len(strategies) == 169 * len(one.preflop.average())
    assert "r2.5 r6.25: 72o" in strategies


def test_identity_knows_the_values_and_the_rules() -> None:
    other = PairValues(SPRS, values().pairs, values().shares + 1e-9)
    schedule = parse_schedule("tuned")
    kinds = [
        solver(),
        solver("linear"),
        PreflopSolver(rules(), other, schedule),
        PreflopSolver(PreflopRules.parse(12, [3], 2), values(), schedule),
    ]
    assert len({repr(kind.identity) for kind in kinds}) == len(kinds)
    assert solver().identity == solver().identity
    assert solver().unit == "mbb/hand"
    regrets = solver().preflop.regrets.values()
    pots = len(solver().preflop.game.pots)
    wanted = 16 * sum(array.size for array in regrets) + 8 * pots * 169**2
    assert solver().memory_bytes == wanted


def test_rake_is_refused() -> None:
    raked = PreflopRules.parse(12, [2.5], 2, rake=0.05)
    with pytest.raises(InputError, match=r"rake 0\.05: models of single flops"):
        PreflopSolver(raked, values(), parse_schedule("tuned"))


def test_identity_does_not_know_how_sizes_are_spelled() -> None:
    spelled = [
        PreflopSolver(PreflopRules.parse(12, [size], 2), values(), parse_schedule("tuned"))
        for size in ("3bb", "3.0bb", "3.1bb")
    ]
    assert spelled[0].identity == spelled[1].identity != spelled[2].identity
