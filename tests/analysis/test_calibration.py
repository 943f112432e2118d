"""Corrections of pots: they find known errors, and leave out the luck of the draw."""

from typing import Any

import numpy as np
import pytest
from builders.small_games import small_config
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.analysis import Calibrated, Likeness, calibrated
from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_SIZES, spread_flops
from allstreets.engines import CLASSES, DealtPairs
from allstreets.jobs.calibration import calibration_text, measure_corrections
from allstreets.jobs.whole_game import plan_unified
from allstreets.solvers import EXACTLY, Calibration, Completion, WholeGameSolver, some_flops

FLOPS = spread_flops(20)
DEALT = DealtPairs.of([flop.cards for flop in FLOPS.flops])
WEIGHTS = np.ones(20)
CHOSEN = list(range(0, 20, 2))


def measured(reach: Floats, own: Floats, exact: Floats, *, raked: bool = True) -> Calibrated:
    """From own values [2, P, F, 169] and exact ones [D, 2, P, 169]."""
    known = Likeness.of(reach, DEALT, WEIGHTS, own.transpose(2, 0, 1, 3), CHOSEN)
    return calibrated(reach, known, known, exact, raked=raked)


def met(reach: Floats) -> Floats:
    """[F, 2, P, 169]: the opposing combos that each hand meets on each flop."""
    return np.stack([reach[::-1] @ DEALT.matrix(flop) for flop in range(len(DEALT.combos))])


def random_run(seed: int, pots: int = 2) -> tuple[Floats, Floats]:
    """Reach [2, P, 169] and values [2, P, F, 169] of a run."""
    random = np.random.default_rng(seed)
    reach = random.uniform(0.2, 1.0, (2, pots, HAND_COUNT))
    values = random.normal(0, 30, (20, 2, pots, HAND_COUNT)) * met(reach)
    return reach, values.transpose(1, 2, 0, 3)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000))
def test_a_constant_error_is_found(seed: int) -> None:
    """Fixed chips for each combo that a hand meets, on every flop."""
    reach, own = random_run(seed)
    error = np.random.default_rng(seed + 1).normal(0, 2, reach.shape)
    exact = own.transpose(2, 0, 1, 3) + error * met(reach)
    found = measured(reach, own, exact[CHOSEN])
    np.testing.assert_allclose(found.corrections, error, atol=1e-4)
    assert found.luck.max() < 1e-4


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000), st.floats(0.9, 1.1))
def test_an_error_in_proportion_to_the_value_is_found(seed: int, share: float) -> None:
    """The flops that are not solved exactly count with their own values."""
    reach, own = random_run(seed)
    exact = own.transpose(2, 0, 1, 3) * share
    found = measured(reach, own, exact[CHOSEN])
    mean = own.sum(axis=2) / met(reach).sum(axis=0)
    np.testing.assert_allclose(found.corrections, (share - 1) * mean, atol=1e-4)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000), st.floats(0.9, 1.1))
def test_a_run_on_few_flops_is_corrected_to_all(seed: int, share: float) -> None:
    """Drafts of all flops are off in proportion; a run on four of them knows no other flop."""
    reach, drafts = random_run(seed)
    by_flop = drafts.transpose(2, 0, 1, 3)
    exact = by_flop * share
    few = [3, 7, 11, 19]
    dealt = DealtPairs(DEALT.combos[few], None if DEALT.cards is None else DEALT.cards[few])
    own = Likeness.of(reach, dealt, WEIGHTS[few], exact[few])
    known = Likeness.of(reach, DEALT, WEIGHTS, by_flop, CHOSEN)
    found = calibrated(reach, own, known, exact[CHOSEN], raked=True)
    truth = exact.sum(axis=0) / met(reach).sum(axis=0)
    np.testing.assert_allclose(own.means + found.corrections, truth, atol=1e-4)


def test_luck_is_no_correction() -> None:
    """Errors that have nothing in common over the flops are left out, all but a little."""
    reach, own = random_run(1)
    random = np.random.default_rng(2)
    noise = random.normal(0, 2, (20, *reach.shape)) * met(reach)
    found = measured(reach, own, (own.transpose(2, 0, 1, 3) + noise)[CHOSEN])
    left = np.sqrt((found.corrections**2) @ HAND_SIZES / HAND_SIZES.sum())
    assert (left < 0.5 * found.sizes).all()


def test_what_one_player_gains_the_other_loses_without_rake() -> None:
    reach, own = random_run(3)
    exact = own.transpose(2, 0, 1, 3) + 1.5 * met(reach)  # both gain
    found = measured(reach, own, exact[CHOSEN], raked=False)
    by_all = met(reach).sum(axis=0)
    np.testing.assert_allclose(
        np.einsum("aph,aph,aph->p", reach, by_all, found.corrections), 0, atol=1e-3
    )
    assert measured(reach, own, exact[CHOSEN]).corrections.mean() == pytest.approx(1.5)


def test_off_path_pots_have_no_corrections() -> None:
    reach, own = random_run(4)
    reach[0, 1] *= 1e-5
    exact = own.transpose(2, 0, 1, 3) + met(reach)
    found = measured(reach, own, exact[CHOSEN])
    assert (found.corrections[:, 1] == 0).all()
    np.testing.assert_allclose(found.corrections[:, 0], 1.0, atol=1e-4)


SHORT: dict[str, Any] = {
    "cards": "classes",
    "stack_depth": 2,
    "raise_sizes": [],
    "postflop_bet_sizes": [3.0],
    # Most runouts of a monotone flop are alike.
    "flops": ["As9s5s", "Ks8s4s", "Qs7s3s"],
    "epochs": 20,
}
QUICKLY = Completion(EXACTLY, 4)
"""What is compared need not have converged."""


@pytest.fixture(scope="module")
def run() -> WholeGameSolver:
    """A limped pot with one bet, all-in, on three flops, solved with hand classes."""
    solver = plan_unified(small_config(**SHORT)).solver()
    solver.train_batch(20)
    return solver


def test_measured_values_are_the_exact_ones(
    run: WholeGameSolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every flop solved, corrected sums over the flops are those of real cards."""
    solved: list[Floats] = []

    def listen(*args: Any, **keys: Any) -> Calibrated:
        solved.append(args[-1])
        return calibrated(*args, **keys)

    monkeypatch.setattr("allstreets.jobs.calibration.calibrated", listen)
    found = measure_corrections(run, 3, exactly=QUICKLY)
    (exact,) = solved
    wanted = np.einsum("f,faph->aph", run.leaves.weights, exact)
    reach = run.preflop.pot_reach(run.preflop.average())
    try:
        run.leaves.corrections = found.errors
        by_flop = run.evaluate().best
        for player in Player:
            values = run.leaves.best_response(player, reach[player.opponent])
            scale = np.abs(wanted[player]).max()
            np.testing.assert_allclose(values, wanted[player], atol=1e-4 * scale)
            sums = run.leaves.sum_flops(by_flop[player])
            np.testing.assert_allclose(sums, wanted[player], atol=1e-4 * scale)
    finally:
        run.leaves.corrections = None
    gains = reach * found.corrections * (reach[::-1] @ run.leaves.pairs)
    assert gains.sum() == pytest.approx(0, abs=1e-9 * np.abs(gains).sum())
    assert np.abs(found.corrections).max() > 0
    assert "c x: BB " in calibration_text(run.game, found)


def test_corrections_for_all_flops_are_those_of_the_whole_deal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run on two flops; where all are solved exactly, pots are worth the exact mean of all."""
    job = plan_unified(small_config(**{**SHORT, "flops": SHORT["flops"][:2]}))
    run = job.solver()
    run.train_batch(10)
    whole = plan_unified(small_config(**SHORT)).game.flops.flops
    monkeypatch.setattr("allstreets.jobs.calibration.all_flops", lambda: whole)
    exact: list[Floats] = []

    def listen(*args: Any, **keys: Any) -> Calibrated:
        exact.append(args[-1])
        return calibrated(*args, **keys)

    monkeypatch.setattr("allstreets.jobs.calibration.calibrated", listen)
    drafts = Completion(CLASSES, 5)
    found = measure_corrections(run, 3, exactly=QUICKLY, draft=drafts, over="all")
    weights = np.array([flop.multiplicity for flop in whole], np.float64)
    chosen = some_flops(whole, weights, 3).tolist()
    assert sorted(chosen) == list(range(3))
    reach = run.preflop.pot_reach(run.preflop.average())
    dealt = DealtPairs.of([whole[place].cards for place in chosen])
    wanted = np.einsum("f,faph->aph", weights[chosen], exact[0])
    wanted /= reach[::-1] @ dealt.sum(weights[chosen])
    own = run.leaves.best_response(Player.OOP, reach[Player.IP]) / (reach[1] @ run.leaves.pairs)
    seen = reach[1] @ run.leaves.pairs > 0
    np.testing.assert_allclose((own + found.errors[0])[seen], wanted[0][seen], atol=0.02)


def test_a_run_measures_once_and_goes_on_with_corrections() -> None:
    """They are part of its state, and a step adds them to what the flops are worth."""
    shift = np.full((2, 1, HAND_COUNT), 2.5)
    seen: list[int] = []

    def measure(solver: WholeGameSolver) -> Floats:
        seen.append(solver.iterations)
        return shift

    job = plan_unified(small_config(**SHORT))
    plain = job.solver()
    run = WholeGameSolver(
        job.game, job.game.build(job.spec()), plain.schedule,
        tremble=job.config.tremble, calibration=Calibration(8, 3, measure),
    )  # fmt: skip
    run.train_batch(3)
    plain.train_batch(3)
    for name, array in plain.state().items():
        np.testing.assert_array_equal(run.state()[name], array)
    reach = run.preflop.pot_reach(run.preflop.current())
    run.leaves.corrections = shift
    mine, theirs = (each.leaves.step(Player.OOP, reach[0], reach[1]) for each in (run, plain))
    np.testing.assert_allclose(mine, theirs + 2.5 * reach[1] @ run.leaves.pairs)
    run.leaves.corrections = None
    run.train_batch(4)
    assert seen == [3]
    again = WholeGameSolver(
        job.game, job.game.build(job.spec()), plain.schedule,
        tremble=job.config.tremble, calibration=Calibration(8, 3, measure),
    )  # fmt: skip
    again.restore(run.state())
    run.train_batch(2)
    again.train_batch(2)
    for name, array in run.state().items():
        np.testing.assert_array_equal(again.state()[name], array)
    assert seen == [3]


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"calibrate": 4}, "at least 8 flops"),
        ({"calibrate": 8, "cards": "exact"}, "these cards are exact already"),
        ({"calibrate": 8, "memory": "per_batch", "flop_batch_size": 1}, "write resident"),
        ({"calibrate": 8, "cluster": "local"}, "not supported on a cluster yet"),
        ({"calibrate_over": "all"}, "how many flops to solve exactly: calibrate: 24"),
    ],
)
def test_what_cannot_be_calibrated(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=f"calibrate.*{problem}"):
        small_config(**keys)


def test_thresholds_end_a_run_after_it_is_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that holds at the first check would leave the errors of the pots in the solution."""
    measured_at: list[int] = []

    def planned(flops: int, iteration: int, *_: object) -> Calibration:
        def measure(solver: WholeGameSolver) -> Floats:
            measured_at.append(solver.iterations)
            return np.zeros((2, 1, HAND_COUNT))

        return Calibration(flops, iteration, measure)

    monkeypatch.setattr("allstreets.jobs.whole_game.planned_calibration", planned)
    keys = {**SHORT, "epochs": 8, "check_interval": 2, "exploitability_threshold": 1e6}
    ends = {}
    for flops in (0, 8):
        outcome = plan_unified(small_config(**keys, calibrate=flops)).run()
        ends[flops] = outcome.training.progress.iteration, outcome.training.reason
    assert measured_at == [4]
    assert ends == {0: (2, "exploitability_threshold"), 8: (6, "exploitability_threshold")}
