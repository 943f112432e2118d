"""The job around the spot solver: its ends, its saves, its resumes."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import RIVER, TURN

from allstreets import base
from allstreets.base import InputError
from allstreets.cfr import Metrics
from allstreets.jobs import Callbacks, Observer, Progress, SpotConfig
from allstreets.jobs import spot as spot_run
from allstreets.jobs.config.spot import read_spot
from allstreets.jobs.job import must_announce, must_compile
from allstreets.jobs.spot import SpotJob, SpotOutcome, stop_rules
from allstreets.solvers import SpotSolver
from allstreets.storage import CheckpointWarning, load_spot, save_spot
from allstreets.storage.spot_bundle import read_spot_manifest


def job(
    keys: dict[str, Any], target: str = "0.3%", observers: Sequence[Observer] = (), **options: Any
) -> SpotOutcome:
    config, spot = read_spot(None, {**keys, "exploitability_threshold": target})
    return SpotJob(config, spot, **options).run(Callbacks(progress=tuple(observers)))


def test_the_target_ends_it() -> None:
    outcome = job(RIVER, "1%")
    assert outcome.training.reason == "exploitability_threshold"
    assert outcome.exploitability <= 0.01
    checks = [check.iteration for check in outcome.training.history]
    assert checks[:2] == [10, 20]  # of which the others are predicted
    assert all(3 <= later - one <= 50 for one, later in pairwise(checks))
    assert outcome.solver.iterations == checks[-1]
    assert sum(outcome.evs) == pytest.approx(100, abs=1e-3)
    figures = outcome.to_json()
    assert figures["exploitability_pct"] == pytest.approx(figures["exploitability_chips"])
    assert 0 < figures["seconds_per_iteration"] < figures["seconds"]


def test_compiling_is_announced_once_for_each_kind_of_spot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "compiled_folder", lambda: tmp_path)
    config, spot = read_spot(None, RIVER)
    solved = SpotJob(config, spot, max_iterations=3)
    kernels = solved.plan().kernels
    assert kernels is not None
    assert must_compile(spot, "float32")
    solved.run()
    assert not must_compile(spot, "float32")
    assert not must_announce(kernels)
    assert must_compile(read_spot(None, TURN)[1], "float32")


def test_other_ends() -> None:
    assert job(RIVER, "0", max_iterations=7).solver.iterations == 7
    assert job(RIVER, "0", seconds=0.2).training.reason == "time"
    names = [rule.name for rule in stop_rules(0.003, None, None)]
    assert names == ["exploitability_threshold", "iterations"]
    assert [rule.name for rule in stop_rules(0.0, None, 5.0)] == ["time"]


def test_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_run, "MAX_ITERATIONS", 57)
    for target in ("0", "0.0001%"):
        outcome = job(RIVER, target)
        assert (outcome.training.reason, outcome.solver.iterations) == ("iterations", 57)
        assert outcome.training.progress.total is None


class Clock:
    """Goes on when a solver is made, trains and is evaluated: 10, 1 and 5 seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.checks = 0.0, 0
        prepare, train, metrics = SpotSolver.__init__, SpotSolver.train_batch, SpotSolver.metrics

        def slow_setup(solver: SpotSolver, *arguments: Any) -> None:
            prepare(solver, *arguments)
            self.now += 10.0

        def slow_training(
            solver: SpotSolver, iterations: int, callback: Callable[[int], bool]
        ) -> None:
            for _ in range(iterations):
                train(solver, 1)
                self.now += 1.0
                if callback(solver.iterations):
                    return

        def slow_metrics(solver: SpotSolver, **options: Any) -> Metrics:
            if solver.iterations:  # else the rules look at what there is to look at
                self.now, self.checks = self.now + 5.0, self.checks + 1
            return metrics(solver, **options)

        for name, slow in (
            ("__init__", slow_setup), ("train_batch", slow_training), ("metrics", slow_metrics),
        ):  # fmt: skip
            monkeypatch.setattr(SpotSolver, name, slow)

    def __call__(self) -> float:
        return self.now


def test_a_time_limit_counts_set_up_and_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    outcome = job(RIVER, "0.01%", seconds=50.0, clock=clock, output=tmp_path / "solved")
    assert outcome.training.reason == "time"
    assert outcome.solver.iterations == 24
    assert [check.iteration for check in outcome.training.history] == [10, 20, 24]
    assert outcome.seconds == clock.now == 49.0
    assert outcome.exploitability == outcome.solver.exploitability() / outcome.solver.spot.pot
    assert outcome.to_json()["seconds_per_iteration"] == 1.0
    # The next run has as much time again; what it restores is what the last one measured.
    again = job(RIVER, "0.01%", seconds=50.0, clock=clock, output=tmp_path / "solved", resume=True)
    assert again.solver.iterations > 24
    assert again.seconds == clock.now
    rows = read_spot_manifest(tmp_path / "solved")["metrics"]
    assert [row["iteration"] for row in rows][:3] == [10, 20, 24]


def test_a_set_up_that_takes_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = job(RIVER, "0.01%", seconds=8.0, clock=Clock(monkeypatch))
    assert (outcome.training.reason, outcome.solver.iterations) == ("time", 1)
    assert outcome.exploitability == outcome.solver.exploitability() / outcome.solver.spot.pot


@pytest.mark.parametrize("keys", [RIVER, TURN])
def test_resumed_equals_uninterrupted(tmp_path: Path, keys: dict[str, Any]) -> None:
    folder = tmp_path / "solved"
    job(keys, "0", max_iterations=33, output=folder)
    resumed = job(keys, "0", max_iterations=60, output=folder, resume=True)
    whole = job(keys, "0", max_iterations=60, output=tmp_path / "whole")
    for name, array in whole.solver.state().items():
        assert resumed.solver.state()[name].tobytes() == array.tobytes()
    assert resumed.exploitability == whole.exploitability
    assert resumed.evs == whole.evs
    manifest = read_spot_manifest(folder)
    assert manifest["iterations"] == 60
    assert [row["iteration"] for row in manifest["metrics"]] == [25, 33, 50, 60]
    seconds = [row["seconds"] for row in manifest["metrics"]]
    assert seconds == sorted(seconds)  # time goes on
    assert resumed.seconds > 0


def test_a_resumed_job_ends_where_an_uninterrupted_one_does(tmp_path: Path) -> None:
    folder = tmp_path / "solved"
    job(RIVER, "0.1%", max_iterations=33, output=folder)
    resumed = job(RIVER, "0.1%", output=folder, resume=True)
    whole = job(RIVER, "0.1%", output=tmp_path / "whole")
    assert resumed.solver.iterations == whole.solver.iterations
    assert resumed.exploitability == whole.exploitability
    rows = read_spot_manifest(folder)["metrics"]
    planned = [row["iteration"] for row in read_spot_manifest(tmp_path / "whole")["metrics"]]
    assert [row["iteration"] for row in rows] == sorted([*planned, 33])


def test_resuming_what_is_solved_ends_at_once(tmp_path: Path) -> None:
    first = job(RIVER, "1%", output=tmp_path / "solved")
    again = job(RIVER, "1%", output=tmp_path / "solved", resume=True)
    assert again.solver.iterations == first.solver.iterations
    further = job(RIVER, "0.1%", output=tmp_path / "solved", resume=True)
    assert further.solver.iterations > first.solver.iterations


def test_refusals_come_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--resume needs --output"):
        job(RIVER, resume=True)
    with pytest.raises(InputError, match="does not exist"):
        job(RIVER, output=tmp_path / "none", resume=True)
    with pytest.raises(InputError, match="starts on the river"):
        job(RIVER, output=tmp_path / "none", saved="flop")
    assert not (tmp_path / "none").exists()
    job(RIVER, "0", max_iterations=1, output=tmp_path / "solved")
    with pytest.raises(InputError, match="continue it with --resume"):
        job(RIVER, output=tmp_path / "solved")
    with pytest.raises(InputError, match="contains another spot: pot differ"):
        job({**RIVER, "pot": 98}, output=tmp_path / "solved", resume=True)
    with pytest.raises(InputError, match="unknown algorithm"):
        job({**RIVER, "algorithm": "magic"})
    with pytest.raises(InputError, match="threads"):
        job(RIVER, threads=0)


def test_a_long_run_is_saved_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_run, "SAVE_SECONDS", 0.0)
    seen: list[int] = []

    def look(progress: Progress) -> None:
        if (tmp_path / "solved" / "manifest.json").exists():
            seen.append(read_spot_manifest(tmp_path / "solved")["iterations"])
        assert progress.unit == "% of pot"

    job(RIVER, "0", max_iterations=75, output=tmp_path / "solved", observers=[look])
    assert 25 in seen
    assert load_spot(tmp_path / "solved").iterations == 75


def test_config_is_what_the_loop_gets() -> None:
    assert SpotConfig(exploitability_threshold=0.01).exploitability_threshold == 0.01
    assert job({**RIVER, "algorithm": "dcfr"}, "5%").to_json()["algorithm"] == "dcfr(1.5,0.5,2)"


def test_a_save_on_the_way_that_fails_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spot_run, "SAVE_SECONDS", 0.0)
    saves = iter([InputError("cannot write the solution: No space left on device")])

    def failing_once(*arguments: Any, **options: Any) -> None:
        for error in saves:
            raise error
        save_spot(*arguments, **options)

    monkeypatch.setattr(spot_run, "save_spot", failing_once)
    with pytest.warns(CheckpointWarning, match="No space left on device; the run continues"):
        outcome = job(RIVER, "0", max_iterations=60, output=tmp_path / "solved")
    assert outcome.unsaved is None
    assert load_spot(tmp_path / "solved").iterations == 60
