"""Pruning: skipped actions stay as they are, values stay right, and the cost is known."""

import numpy as np
import pytest
from builders.toys import LEDUC

from allstreets.base import InputError
from allstreets.cfr import CfrSolver, Kuhn, Pruning

RULES = [Pruning(20), Pruning(20, -0.01), Pruning(20, "-0.002*sqrt(t)", 13, 0.05)]


def exploitability(solver: CfrSolver) -> float:
    figure = solver.metrics().exploitability
    assert figure is not None
    return figure


@pytest.mark.parametrize("pruning", [Pruning(100), Pruning(100, "-0.02*sqrt(t)")])
def test_leduc_converges_as_without_and_skips_something(pruning: Pruning) -> None:
    plain, pruned = CfrSolver(LEDUC, "dcfr"), CfrSolver(LEDUC, "dcfr", pruning)
    plain.train_batch(1000)
    pruned.train_batch(1000)
    assert exploitability(pruned) <= 1.1 * exploitability(plain)
    assert pruned.pruned_fraction is not None
    assert pruned.pruned_fraction > 0.02
    assert plain.pruned_fraction is None


@pytest.mark.parametrize("schedule", ["vanilla", "linear", "dcfr"])
def test_the_sound_rule_holds_for_every_schedule(schedule: str) -> None:
    # Regrets that fall without bound tempt to skip forever; a rule that forgets how far the true
    # regret may have risen ends 20 times as exploitable here under vanilla.
    plain, pruned = CfrSolver(LEDUC, schedule), CfrSolver(LEDUC, schedule, Pruning(100))
    plain.train_batch(2000)
    pruned.train_batch(2000)
    assert exploitability(pruned) <= 1.1 * exploitability(plain)
    assert pruned.pruned_fraction is not None
    assert pruned.pruned_fraction > 0.1


@pytest.mark.parametrize("pruning", RULES)
@pytest.mark.parametrize("schedule", ["vanilla", "linear", "dcfr"])
def test_skipped_regrets_are_not_written(schedule: str, pruning: Pruning) -> None:
    solver = CfrSolver(LEDUC, schedule, pruning)
    solver.train_batch(20)
    seen = 0
    for t in range(21, 80):
        before = solver._tables.regrets.copy()
        solver.train_batch(1)
        after, skipped = solver._tables.regrets, solver._skips.skipped[:-1]
        # Discounted where the set was visited, untouched where not; the floor may lift both.
        discounted = np.maximum(before * solver.schedule.at(t).negative, -pruning.regret_floor)
        kept = (after == before) | (after == discounted)
        assert kept[skipped].all()
        assert (before[skipped & (after != before)] < 0).all()
        assert (after != before)[~skipped].any()
        if t % pruning.explore_interval == 0:
            assert not skipped.any()
        seen += int(skipped.sum())
    assert seen > 1000


@pytest.mark.parametrize("pruning", RULES)
def test_what_is_skipped_is_not_played(pruning: Pruning) -> None:
    solver = CfrSolver(LEDUC, "dcfr", pruning)
    solver.train_batch(20)
    parents = LEDUC.layout.parent_lane
    for _ in range(40):
        strategy = solver._tables.strategy.copy()
        solver.train_batch(1)
        skipped = solver._skips.skipped
        for band, begin in enumerate(LEDUC.layout.band_lane[:-1]):
            first, end = LEDUC.layout.band_set[band], LEDUC.layout.band_set[band + 1]
            for number in range(first, end):
                lanes = np.arange(
                    begin + number - first, LEDUC.layout.band_lane[band + 1], end - first
                )
                if skipped[parents[number]]:
                    assert skipped[lanes].all()  # everything below is left out too
                else:
                    assert (strategy[lanes][skipped[lanes]] == 0).all()
                    assert not skipped[lanes].all()


def test_fraction_counts_what_was_skipped() -> None:
    solver = CfrSolver(LEDUC, "dcfr", Pruning(20))
    solver.train_batch(20)
    assert solver.pruned_fraction == 0
    skipped = 0
    for _ in range(30):
        solver.train_batch(1)
        skipped += int(solver._skips.skipped.sum())
    assert solver.pruned_fraction == pytest.approx(skipped / (30 * 2184))


@pytest.mark.parametrize("schedule", ["vanilla", "linear", "dcfr", "tuned"])
def test_off_means_off_and_nothing_to_skip_means_the_same_bits(schedule: str) -> None:
    plain = CfrSolver(LEDUC, schedule)
    off = CfrSolver(LEDUC, schedule, Pruning(warmup=0, threshold=-1e-9, regret_floor=1e-3))
    idle = CfrSolver(LEDUC, schedule, Pruning(warmup=1, threshold=-1e300))
    always = CfrSolver(LEDUC, schedule, Pruning(warmup=1, explore_interval=1))
    for solver in (plain, off, idle, always):
        solver.train_batch(60)
    for solver in (off, idle, always):
        assert solver.regrets.tobytes() == plain.regrets.tobytes()
        for name in ("regrets", "strategy_sums"):
            assert solver.state()[name].tobytes() == plain.state()[name].tobytes()
    assert off.identity == plain.identity
    assert idle.pruned_fraction == always.pruned_fraction == 0


def test_the_warm_up_is_as_without() -> None:
    plain = CfrSolver(LEDUC, "dcfr")
    pruned = CfrSolver(LEDUC, "dcfr", Pruning(50, -1e-6, 20, 1e-3))
    plain.train_batch(50)
    pruned.train_batch(50)
    assert plain.regrets.tobytes() == pruned.regrets.tobytes()


@pytest.mark.parametrize("threshold", [None, -0.001])
def test_regrets_stay_above_the_floor(threshold: float | None) -> None:
    solver = CfrSolver(LEDUC, "linear", Pruning(10, threshold, 10, regret_floor=0.02))
    solver.train_batch(10)
    assert solver.regrets.min() < -0.02
    for _ in range(30):
        solver.train_batch(10)  # the tenth visits everything
        assert solver.regrets.min() >= -0.02


def test_kuhn_is_solved_under_pruning() -> None:
    solver = CfrSolver(Kuhn(), "dcfr", Pruning(50))
    solver.train_batch(2000)
    assert solver.game_value() == pytest.approx(-1 / 18, abs=1e-4)
    assert solver.pruned_fraction is not None
    assert solver.pruned_fraction > 0.1


def test_clipped_schedules_have_nothing_to_prune() -> None:
    for schedule in ("cfr+", "dcfr+"):
        with pytest.raises(InputError, match="nothing to prune"):
            CfrSolver(LEDUC, schedule, Pruning(10))
        CfrSolver(LEDUC, schedule, Pruning(0))


def test_thresholds() -> None:
    iterations = np.array([1, 4, 100])
    assert list(Pruning(1, -3).thresholds(iterations)) == [-3, -3, -3]
    assert list(Pruning(1, "-0.5*sqrt(t)").thresholds(iterations)) == [-0.5, -1, -5]
    assert list(Pruning(1, "- 2e-1 * sqrt( t )").thresholds(iterations)) == pytest.approx(
        [-0.2, -0.4, -2]
    )
    assert list(Pruning(1, "-7").thresholds(iterations)) == [-7, -7, -7]
    everything = Pruning(3, -1, 50).visits_everything(np.array([1, 3, 4, 50, 51, 100]))
    assert list(everything) == [True, True, False, True, False, True]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"warmup": -1}, "prune_warmup is -1"),
        ({"explore_interval": 0}, "explore_interval is 0"),
        ({"regret_floor": 0}, "regret_floor is 0"),
        ({"regret_floor": -3.0}, "regret_floor is -3"),
        ({"threshold": 0.0}, "must be negative"),
        ({"threshold": 5.0}, "must be negative"),
        ({"threshold": "2*sqrt(t)"}, "must be negative"),
        ({"threshold": float("nan")}, "must be negative"),
        ({"threshold": "-inf"}, "must be negative"),
        ({"threshold": "sqrt(t)"}, "give a negative number such as"),
        ({"threshold": "-1.2.3*sqrt(t)"}, "give a negative number such as"),
    ],
)
def test_bad_values_are_refused_with_advice(values: dict[str, float], words: str) -> None:
    with pytest.raises(InputError) as error:
        Pruning(**values)  # type: ignore[arg-type]
    assert words in str(error.value)
