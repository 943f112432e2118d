"""Flops one by one on a cluster, with tasks of this process: the same files on any worker."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders.small_flops import FLOPS, TEXTS, failing, press_after, run_small, small_config
from builders.worker_pools import TasksHere, as_cluster

from allstreets.base import InputError, Place, place_of
from allstreets.cluster import Need, Node, fitting
from allstreets.jobs import TrainConfig, check_config, plan, read_train_config
from allstreets.jobs.flops import FlopsJob, FlopsOutcome, plan_flops
from allstreets.jobs.job import Callbacks, Progress
from allstreets.jobs.terminal import node_lines, progress_line
from allstreets.solvers import flops as estimate
from allstreets.storage import load_flops

KEYS: dict[str, Any] = {"postflop_sprs": [1, 2], "check_interval": 5}
Observer = Callable[[Progress], None]


def run(
    folder: Place, tasks: TasksHere, observe: Observer | None = None, *, resume: bool = False
) -> FlopsOutcome:
    job = plan_flops(small_config(**KEYS, cluster="local"), folder, resume=resume, threads=1)
    with pytest.MonkeyPatch.context() as patch:
        as_cluster(patch, tasks)
        return job.run(Callbacks(progress=() if observe is None else (observe,)))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("flops-*/*")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder: Path = tmp_path_factory.mktemp("job") / "whole"
    run_small(folder, **KEYS)
    assert len(files(folder)) == 6
    return files(folder)


@pytest.mark.parametrize(("workers", "lost"), [(1, []), (2, [0, 2]), (5, [1])])
def test_files_do_not_depend_on_workers(
    tmp_path: Path, whole: dict[str, bytes], workers: int, lost: list[int]
) -> None:
    tasks = TasksHere(workers, lost)
    outcome = run(tmp_path / "run", tasks)
    assert len(tasks.done) == 3 + len(lost)
    assert (outcome.solved, outcome.missing, outcome.faults) == (6, (), ())
    assert files(tmp_path / "run") == whole
    assert [row["flop"] for row in outcome.rows] == [text for text in TEXTS for _ in (1, 2)]


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_an_interrupted_run_keeps_what_is_solved_and_goes_on(
    tmp_path: Path, whole: dict[str, bytes], scheme: str
) -> None:
    """In a folder, and in a place elsewhere."""
    place = place_of(f"{scheme}{tmp_path}/run")

    def press(progress: Progress) -> None:
        if progress.done == 2 and progress.running:
            signal.raise_signal(signal.SIGINT)

    tasks = TasksHere(1)
    outcome = run(place, tasks, press)
    assert (outcome.interrupted, outcome.solved, tasks.done) == (True, 2, [0])
    assert {row["flop"] for row in load_flops(tmp_path / "run").flops} == {TEXTS[0]}
    outcome = run(place, TasksHere(2), resume=True)
    assert (outcome.interrupted, outcome.solved, outcome.missing) == (False, 4, ())
    assert files(tmp_path / "run") == whole


def test_a_run_of_one_machine_goes_on_here(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "LARGEST_GROUP", 1)
    run_small(tmp_path / "run", press_after(2), threads=1, **KEYS)
    assert (tmp_path / "run" / "checkpoints").exists()
    assert run(tmp_path / "run", TasksHere(2), resume=True).solved == 4
    assert not (tmp_path / "run" / "checkpoints").exists()
    assert files(tmp_path / "run") == whole


def test_a_fault_in_one_flop_does_not_lose_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = ZeroDivisionError("no luck with 9s8s2h")
    monkeypatch.setattr(FlopsJob, "solver", failing("9s8s2h", fault))
    outcome = run(tmp_path / "run", TasksHere(3))
    assert (outcome.solved, len(outcome.missing)) == (4, 2)
    assert outcome.faults[0].message == "ZeroDivisionError: no luck with 9s8s2h"


def test_what_machines_do_is_told(tmp_path: Path) -> None:
    seen: list[Progress] = []
    run(tmp_path / "run", TasksHere(2), seen.append)
    assert [progress.done for progress in seen] == [0, 4, 6]
    assert "Ks7h2d, 9s8s2h in progress" in progress_line(seen[0])
    assert [node.solved for node in seen[-1].nodes] == [2, 1]
    first, second = node_lines(seen[-1])
    assert first.startswith("  10.0.0.0: 2 flops solved | ")
    assert "| 1 MB | waiting " in second


def test_who_may_run_on_a_cluster(tmp_path: Path) -> None:
    models: dict[str, Any] = {"flops": FLOPS, "preset": "classes_fast"}
    models["cluster"] = "auto"
    (job,) = plan(check_config({"postflop_model": models}, TrainConfig), tmp_path / "run")
    assert isinstance(job, FlopsJob)
    assert (job.config.cluster, job.threads) == ("auto", 1)
    alone = tmp_path / "alone.yaml"
    alone.write_text("solver: {type: preflop_cfr, models: m}\n")
    with pytest.raises(InputError, match="whole games and flops one by one run on a cluster"):
        read_train_config(alone, {"cluster": "auto"})


def test_pieces_that_fit_nowhere_are_refused() -> None:
    nodes = (Node("a", "10.0.0.1", 2, 0, 1_000_000),)
    assert fitting(nodes, Need(2), "a flop") == nodes
    for need in (Need(3), Need(memory_bytes=2_000_000)):
        with pytest.raises(InputError, match=r"a flop needs .*which no machine of the cluster"):
            fitting(nodes, need, "a flop")
    with pytest.raises(InputError, match="has a GPU"):
        fitting(nodes, Need(gpus=1), "a flop")
