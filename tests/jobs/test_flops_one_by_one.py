"""Jobs over flops: threads, faults, interruptions, and going on."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_flops import (
    BUCKETED,
    FLOPS,
    TEXTS,
    failing,
    press_after,
    run_small,
    small_config,
)

from allstreets.base import InputError
from allstreets.cards import Flop, parse_flop
from allstreets.jobs.flops import FlopsJob, plan_flops
from allstreets.jobs.job import Progress
from allstreets.solvers import flops as estimate
from allstreets.solvers.flops import FlopsSolver, estimate_flops, require_flop_room
from allstreets.storage import load_flops, mapped, solution_files
from allstreets.storage.mapped import map_arrays

KEYS: dict[str, Any] = {"postflop_sprs": [1, 2], "check_interval": 5}
FIGURES = ("exploitability", "iterations", "converged", "ev_oop", "bet_oop", "bet_ip")


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("flops-*/*"))


def arrays_of(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.name: map_arrays(path)[0] for path in files_of(folder)}


def assert_same(one: Path, other: Path) -> None:
    """Every array of every flop, to the last bit."""
    left, right = arrays_of(one), arrays_of(other)
    assert left.keys() == right.keys()
    for name, arrays in left.items():
        for key, array in arrays.items():
            np.testing.assert_array_equal(array, right[name][key])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("job") / "whole"
    run_small(folder, **KEYS)
    return folder


def test_every_flop_is_solved_as_if_alone(whole: Path) -> None:
    result = load_flops(whole)
    assert [row["flop"] for row in result.flops] == [text for text in TEXTS for _ in (1, 2)]
    assert result.models.missing == []
    job = plan_flops(small_config(**KEYS), whole)
    for flop in job.flops:
        for pot in job.pots:
            solver = job.solver([flop], [pot])
            solver.train_batch(job.iterations)
            ((expected, arrays),) = solver.results()
            row = result.models.row(result.models.sprs.index(pot.pot.spr), flop)
            assert {key: row[key] for key in FIGURES} == {key: expected[key] for key in FIGURES}
            kept = arrays_of(whole)[f"{flop.text}-{pot.pot.name}.safetensors"]
            assert kept.keys() == arrays.keys()
            for key, array in kept.items():
                np.testing.assert_array_equal(array, arrays[key])
            assert row["exploitability"] <= 0.01


def test_groups_change_nothing(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "LARGEST_GROUP", 2)
    run_small(tmp_path / "run", **KEYS)
    assert_same(tmp_path / "run", whole)


@pytest.mark.parametrize(
    "keys",
    [{}, BUCKETED, {"cards": "sampled"}, {"prune_warmup": 10, "prune_threshold": -100}],
    ids=["classes", "buckets", "sampled", "pruned"],
)
def test_threads_change_nothing(tmp_path: Path, keys: dict[str, Any]) -> None:
    few = {**keys, "iterations": 50, "flops": FLOPS[:2]}
    for threads in (1, 3):
        run_small(tmp_path / str(threads), threads=threads, **few)
    assert_same(tmp_path / "1", tmp_path / "3")


def test_a_fault_in_one_flop_does_not_lose_the_others(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, make = tmp_path / "run", FlopsJob.solver
    with monkeypatch.context() as patch:
        fault = ZeroDivisionError("no luck with 9s8s2h")
        patch.setattr(FlopsJob, "solver", failing("9s8s2h", fault))
        outcome = run_small(folder, **KEYS)
    assert [(fault.flop, fault.spr) for fault in outcome.faults] == [("9s8s2h", 1), ("9s8s2h", 2)]
    assert outcome.faults[0].message == "ZeroDivisionError: no luck with 9s8s2h"
    assert outcome.missing == (("9s8s2h", 1.0), ("9s8s2h", 2.0))
    assert (outcome.solved, outcome.interrupted) == (4, False)
    assert outcome.problem == "2 flops could not be solved: " + outcome.faults[0].message
    assert {row["flop"] for row in load_flops(folder).flops} == {"Ks7h2d", "QsQh5d"}
    solved: list[str] = []

    def counting(job: FlopsJob, flops: list[Flop], *arguments: Any) -> FlopsSolver:
        solved.extend(flop.text for flop in flops)
        return make(job, flops, *arguments)

    monkeypatch.setattr(FlopsJob, "solver", counting)
    outcome = run_small(folder, resume=True, **KEYS)
    assert solved == ["9s8s2h"]  # only what was missing
    assert (outcome.faults, outcome.missing, outcome.problem) == ((), (), None)
    assert_same(folder, whole)


def test_an_interrupted_run_goes_on_to_the_same_end(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "LARGEST_GROUP", 1)
    folder = tmp_path / "run"
    outcome = run_small(folder, press_after(2), threads=1, **KEYS)
    assert outcome.interrupted
    assert (len(outcome.rows), len(outcome.missing), outcome.solved) == (2, 4, 2)
    assert len(files_of(folder)) == 2  # and nothing half done
    (saved,) = (folder / "checkpoints").glob("9s8s2h-1/checkpoint-*")  # the flop in work
    assert int(saved.name.removeprefix("checkpoint-")) > 0
    for path in (files_of(folder)[0].with_name("9s8s2h-spr1.safetensors"),
                 folder / ".manifest.json.0a1b2c3d.tmp"):  # fmt: skip
        path.write_text("what a killed writer leaves")
    begun: list[int] = []

    def observe(progress: Progress) -> None:
        if progress.part is not None and not begun:
            begun.append(progress.part.iteration)

    outcome = run_small(folder, observe, resume=True, **KEYS)
    assert begun == [int(saved.name.removeprefix("checkpoint-"))]  # no iteration is lost
    assert not outcome.interrupted
    assert outcome.solved == 4
    assert_same(folder, whole)
    assert outcome.to_json()["solved"] == 6
    left = {path.name for path in folder.iterdir() if not path.name.startswith("flops-")}
    assert left == {".lock", "manifest.json"}


def held_back(*texts: str) -> Callable[..., None]:
    """Replaces `train_batch`: two groups train a little, and wait for each other.

    Those of these flops then wait until they are to stop.
    """
    train, both = FlopsSolver.train_batch, threading.Barrier(2)

    def train_batch(solver: FlopsSolver, count: int, callback: Callable[[int], bool]) -> None:
        if solver.iterations == 0:
            train(solver, 3)
            both.wait()
        elif solver.flops.flops[0].text not in texts:
            train(solver, count, callback)
        while solver.flops.flops[0].text in texts and not callback(solver.iterations):
            time.sleep(0.001)

    return train_batch


def checkpoints_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.glob("checkpoints/*/checkpoint-*")}


def test_all_groups_in_work_are_saved_on_request(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "LARGEST_GROUP", 1)
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(FlopsSolver, "train_batch", held_back(*TEXTS))
        outcome = run_small(folder, press_after(0), threads=2, **KEYS)
    assert (outcome.interrupted, outcome.solved) == (True, 0)
    both = {f"checkpoints/{text}-1/checkpoint-{3:012d}" for text in TEXTS[:2]}
    assert checkpoints_of(folder) == both
    outcome = run_small(folder, resume=True, threads=1, **KEYS)
    assert (outcome.solved, outcome.missing) == (6, ())
    assert not (folder / "checkpoints").exists()
    assert_same(folder, whole)


def test_a_group_that_cannot_be_stored_ends_the_others_in_work(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> dict[str, Any]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(estimate, "LARGEST_GROUP", 1)
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(FlopsSolver, "train_batch", held_back(*TEXTS[1:]))
        patch.setattr(solution_files, "write_mapped", full)
        with pytest.raises(InputError, match=r"No space left on device.*--resume"):
            run_small(folder, threads=2, **KEYS)
    assert checkpoints_of(folder) == {f"checkpoints/9s8s2h-1/checkpoint-{3:012d}"}
    assert run_small(folder, resume=True, threads=2, **KEYS).solved == 6
    assert_same(folder, whole)


def test_a_checkpoint_of_other_flops_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "LARGEST_GROUP", 1)
    run_small(tmp_path / "run", press_after(0), flops=FLOPS[:1])
    outcome = run_small(tmp_path / "run", resume=True, flops=FLOPS[1:2])
    assert (outcome.solved, outcome.missing) == (1, ())
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_a_run_that_was_killed_before_its_first_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in (".lock", ".manifest.json.0a1b2c3d.tmp"):
        (folder / name).write_text("")
    assert run_small(folder, flops=FLOPS[:1]).missing == ()


def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    run_small(tmp_path / "run")
    before = {path: path.stat().st_mtime_ns for path in files_of(tmp_path / "run")}
    outcome = run_small(tmp_path / "run", resume=True)
    assert (outcome.solved, outcome.missing) == (0, ())
    after = {path: path.stat().st_mtime_ns for path in files_of(tmp_path / "run")}
    assert before == after


def test_a_run_may_be_extended(tmp_path: Path) -> None:
    run_small(tmp_path / "run", flops=FLOPS[:1])
    outcome = run_small(tmp_path / "run", resume=True, flops=FLOPS[1:], postflop_sprs=[2, 1])
    assert outcome.solved == 4
    assert len(load_flops(tmp_path / "run").flops) == 5


def test_other_settings_are_refused(tmp_path: Path) -> None:
    run_small(tmp_path / "run", flops=FLOPS[:1])
    with pytest.raises(InputError, match="already contains this model; continue it with --resume"):
        run_small(tmp_path / "run")
    with pytest.raises(InputError, match="another model of flops: exploitability_threshold di"):
        run_small(tmp_path / "run", resume=True, exploitability_threshold=0.5)
    with pytest.raises(InputError, match="does not exist"):
        run_small(tmp_path / "nowhere", resume=True)
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="contains other files"):
        run_small(tmp_path / "other")


def test_two_runs_do_not_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "LARGEST_GROUP", 1)

    def second(progress: Progress) -> None:
        if progress.done == 1:
            job = plan_flops(small_config(), tmp_path / "run", resume=True)
            with pytest.raises(InputError, match="another run is writing"):
                job.run()

    assert run_small(tmp_path / "run", second).missing == ()


def test_a_full_disk_ends_the_run_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = mapped.write_mapped

    def full(path: Path, *arguments: Any) -> dict[str, Any]:
        if "QsQh5d" in path.name:
            raise OSError(28, "No space left on device")
        return write(path, *arguments)

    monkeypatch.setattr(estimate, "LARGEST_GROUP", 1)
    with monkeypatch.context() as patch:
        patch.setattr(solution_files, "write_mapped", full)
        with pytest.raises(InputError, match=r"No space left on device.*--resume"):
            run_small(tmp_path / "run", threads=1)
    assert {row["flop"] for row in load_flops(tmp_path / "run").flops} == set(TEXTS[:2])
    assert run_small(tmp_path / "run", resume=True).solved == 1


def test_progress_counts_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "LARGEST_GROUP", 2)
    seen: list[Progress] = []
    run_small(tmp_path / "run", seen.append, threads=1)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert {progress.done for progress in seen} == {0, 2, 3}
    assert seen[-1].total == 3
    assert seen[-1].running == ()
    running = {progress.running for progress in seen if progress.running}
    assert running == {((TEXTS[0], 2.0), (TEXTS[1], 2.0)), ((TEXTS[2], 2.0),)}
    assert seen[0].eta_seconds is None
    assert seen[-1].eta_seconds == 0


def test_estimates() -> None:
    def needs(flops: int, **keys: Any) -> estimate.FlopEstimate:
        job = plan_flops(small_config(**keys), Path("nowhere"), threads=2)
        return estimate_flops(flops, job.pots, job.model, job.iterations, job.targets, job.threads)

    need, more = needs(100), needs(200)
    assert need.nodes == small_config().pots()[0].tree.node_count
    assert more.seconds == pytest.approx(2 * need.seconds)
    assert more.memory_bytes > need.memory_bytes > 250_000_000
    with pytest.raises(InputError, match="Use fewer bet sizes"):
        require_flop_room(need, 1_000_000)
    require_flop_room(need, None)
    for kind in ("fast", "sampled_fast"):
        assert needs(5, preset=kind).seconds > 0


def test_groups_in_work_follow_threads_and_memory() -> None:
    job = plan_flops(small_config(), Path("nowhere"), threads=2)
    model, pots = job.model, job.pots

    def need(flops: int, threads: int, free: int | None = None) -> estimate.FlopEstimate:
        return estimate_flops(flops, pots, model, job.iterations, job.targets, threads, free)

    assert need(1755, 1, 10**12).at_once == 1
    assert need(1755, 2).at_once == 2
    assert need(1755, 64, 10**12).at_once == 3
    assert need(1755, 64, 10**12).memory_bytes > need(1755, 1).memory_bytes
    assert need(1755, 256, 10**12).at_once == 8  # two flops for each thread
    assert need(100, 256, 10**12).at_once == 2  # there are no more
    assert need(1755, 256, 10**6).at_once == 1


def test_flops_are_named_as_they_are_called() -> None:
    assert [parse_flop(text).flop.text for text in FLOPS] == TEXTS
