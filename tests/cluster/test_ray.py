"""A real Ray cluster of several machines, as far as Ray can tell; workers and a machine are killed.

One cluster serves all tests, in their order: each leaves it smaller than it was.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from builders.small_games import kept_numbers, small_config

from allstreets.base import InputError
from allstreets.cluster import ray_crew
from allstreets.cluster.ray_crew import RayCrew
from allstreets.training import cluster_run
from allstreets.training.records import Progress
from allstreets.training.unified_run import UnifiedOutcome, plan_unified
from allstreets.training.watch import Watch

KEYS: dict[str, Any] = {"flops": "spread_5", "check_interval": 1}


class Crews:
    """The cluster, and the crews that were made on it."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.made: list[RayCrew] = []

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def kill_worker(self, number: int) -> None:
        os.kill(self.made[-1].stations[number].process, signal.SIGKILL)

    def remove_machine(self, number: int) -> None:
        key = self.made[-1].stations[number].node
        (node,) = [node for node in self.cluster.list_all_nodes() if node.node_id == key]
        self.cluster.remove_node(node, allow_graceful=False)
        with suppress(ProcessLookupError):  # a worker notices the end of its machine a bit later
            self.kill_worker(number)


@pytest.fixture(scope="module")
def crews() -> Iterator[Crews]:
    cluster_utils: Any = pytest.importorskip("ray.cluster_utils")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    machine: dict[str, Any] = {
        "num_cpus": 1,
        "object_store_memory": 80_000_000,
        "include_dashboard": False,
    }
    quick = {"health_check_period_ms": 500, "health_check_failure_threshold": 4}
    cluster = cluster_utils.Cluster(
        initialize_head=True, head_node_args={**machine, "_system_config": quick}
    )
    cluster.add_node(**machine)
    yield Crews(cluster)
    cluster.shutdown()


@pytest.fixture(autouse=True)
def note_crews(crews: Crews, monkeypatch: pytest.MonkeyPatch) -> None:
    class Noted(RayCrew):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            crews.made.append(self)

    monkeypatch.setattr(cluster_run, "RayCrew", Noted)


def run(
    folder: Path, at: dict[int, Callable[[], None]] | None = None, **keys: Any
) -> tuple[UnifiedOutcome, list[str]]:
    """Train; `at` some iterations something happens, once."""
    left, told = dict(at or {}), list[str]()

    def happen(progress: Progress) -> None:
        if progress.check is not None and progress.check.iteration == progress.iteration:
            left.pop(progress.iteration, lambda: None)()

    job = plan_unified(small_config(**KEYS, **keys), folder)
    outcome = job.run(Watch(progress=(happen,), told=told.append))
    assert not left
    return outcome, told


def test_killed_workers_and_a_lost_machine_change_nothing(tmp_path: Path, crews: Crews) -> None:
    run(tmp_path / "here")
    outcome, told = run(
        tmp_path / "there",
        {
            2: lambda: crews.kill_worker(0),  # before the first checkpoint, which is that of 4
            6: lambda: crews.kill_worker(1),
            9: lambda: crews.remove_machine(_other(crews)),
        },
        cluster=crews.address,
    )
    assert outcome.training.reason == "iterations"
    assert kept_numbers(tmp_path / "there") == kept_numbers(tmp_path / "here")
    assert told[0] == "cluster: 2 workers with 2 cores in all"
    assert [text.rpartition("from ")[2] for text in told[1:]] == [
        "the beginning",
        "iteration 4",
        "iteration 8",
    ]
    # It is read from the files: the workers are gone.
    assert outcome.result().exploitability == outcome.figures.exploitability
    assert not crews.made[-1].stations


def _other(crews: Crews) -> int:
    """A worker that is not on the first machine, without which there is no cluster."""
    head = crews.cluster.head_node.node_id
    stations = crews.made[-1].stations
    return next(number for number, station in enumerate(stations) if station.node != head)


def test_what_cannot_work_is_refused(
    tmp_path: Path, crews: Crews, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("allstreets.cluster.flops.__version__", "0.0.1")
        with pytest.raises(InputError, match="install the same version on every machine"):
            run(tmp_path / "run", cluster=crews.address)
    monkeypatch.setattr(ray_crew, "START_SECONDS", 0.0)  # as if somebody else held the cores
    with pytest.raises(InputError, match="no machine of the cluster has a core to lend"):
        run(tmp_path / "run", cluster=crews.address)
