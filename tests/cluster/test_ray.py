"""A real Ray cluster of several machines, as far as Ray can tell; workers and a machine are killed.

One cluster serves all tests, in their order: each leaves it smaller than it was. Long: Ray starts a
dozen processes. Workers of this process stand in for it in the other files.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from builders import small_flops
from builders.small_games import kept_numbers, small_config
from builders.small_spots import RIVER

from allstreets import load, solve_many
from allstreets.base import InputError, Remote
from allstreets.cluster import RayTasks, Task, connect, require_versions, worker_pool
from allstreets.cluster.worker_pool import RayPool
from allstreets.jobs import Here, cluster_training
from allstreets.jobs.flops import plan_flops
from allstreets.jobs.job import Callbacks, Progress
from allstreets.jobs.whole_game import UnifiedOutcome, plan_unified
from allstreets.storage import SpotSet

pytestmark = pytest.mark.long
KEYS: dict[str, Any] = {"flops": "spread_5", "check_interval": 1}


class Pools:
    """The cluster, and the pools that were made on it."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.made: list[RayPool] = []

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def kill_worker(self, number: int) -> None:
        os.kill(self.made[-1].nodes[number].process, signal.SIGKILL)

    def remove_machine(self, number: int) -> None:
        key = self.made[-1].nodes[number].machine
        (node,) = [node for node in self.cluster.list_all_nodes() if node.node_id == key]
        self.cluster.remove_node(node, allow_graceful=False)
        with suppress(ProcessLookupError):  # a worker notices the end of its machine a bit later
            self.kill_worker(number)


@pytest.fixture(scope="module")
def pools() -> Iterator[Pools]:
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
    yield Pools(cluster)
    cluster.shutdown()


@pytest.fixture(autouse=True)
def note_crews(pools: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    class Noted(RayPool):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            pools.made.append(self)

    monkeypatch.setattr(cluster_training, "RayPool", Noted)


def run(
    folder: Path, at: dict[int, Callable[[], None]] | None = None, **keys: Any
) -> tuple[UnifiedOutcome, list[str]]:
    """Train; `at` some iterations something happens, once."""
    left, told = dict(at or {}), list[str]()

    def happen(progress: Progress) -> None:
        if progress.check is not None and progress.check.iteration == progress.iteration:
            left.pop(progress.iteration, lambda: None)()

    job = plan_unified(small_config(**KEYS, **keys), folder)
    outcome = job.run(Callbacks(progress=(happen,), message=told.append))
    assert not left
    return outcome, told


def test_killed_workers_and_a_lost_machine_change_nothing(tmp_path: Path, pools: Pools) -> None:
    run(tmp_path / "here")
    outcome, told = run(
        tmp_path / "there",
        {
            2: lambda: pools.kill_worker(0),  # before the first checkpoint, which is that of 4
            6: lambda: pools.kill_worker(1),
            9: lambda: pools.remove_machine(_other(pools)),
        },
        cluster=pools.address,
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
    assert not pools.made[-1].nodes


def test_a_worker_that_is_killed_while_it_starts_is_replaced(
    tmp_path: Path, pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, true_host = tmp_path / "killed", worker_pool.Host

    class DyingHost(true_host):  # type: ignore[valid-type, misc]
        def open(self, address: str, key: bytes) -> Any:  # once, on whichever machine is first
            try:
                killed.touch(exist_ok=False)
            except FileExistsError:
                return true_host.open(self, address, key)
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError

    monkeypatch.setattr(worker_pool, "Host", DyingHost)
    with connect(pools.address) as cluster:
        pool = RayPool(cluster)
        assert killed.exists()
        assert len(pool.nodes) == len(cluster.nodes())
        assert [answer.value for answer in pool.ask("sees", tmp_path)] == [True] * len(pool.nodes)
        pool.close()


def test_a_worker_that_never_starts_is_told(pools: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    class DeadHost:
        def open(self, *_: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(worker_pool, "Host", DeadHost)
    with (
        connect(pools.address) as cluster,
        pytest.raises(InputError, match="no worker could be started on the cluster: "),
    ):
        RayPool(cluster)


def _other(pools: Pools) -> int:
    """A worker that is not on the first machine, without which there is no cluster."""
    head = pools.cluster.head_node.node_id
    nodes = pools.made[-1].nodes
    return next(number for number, node in enumerate(nodes) if node.machine != head)


def test_pieces_of_work_survive_their_workers(tmp_path: Path, pools: Pools) -> None:
    def once_killed(folder: Path, number: int) -> int:  # inside: workers do not have this file
        if number == 3 and not (folder / "killed").exists():
            (folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 4:
            raise ZeroDivisionError("four")
        return number * number

    with connect(pools.address) as cluster:
        tasks = RayTasks(cluster)
        require_versions(tasks, tasks.nodes())
        once, five = partial(once_killed, tmp_path), [Task(number) for number in range(5)]
        found = [done for some in tasks.run(once, five) for done in some]
        assert (tmp_path / "killed").exists()
        assert {done.place: done.piece.value for done in found if done.piece} == {
            0: 0,
            1: 1,
            2: 4,
            3: 9,
        }
        (failed,) = [done for done in found if done.piece is None]
        assert (failed.place, type(failed.error)) == (4, ZeroDivisionError)
        left = tasks.run(once, [Task(0)])
        next(left)
        left.close()


def test_flops_one_by_one_are_the_same_there(tmp_path: Path, pools: Pools) -> None:
    seen: list[Progress] = []
    told: list[str] = []
    small_flops.run_small(tmp_path / "here")
    config = small_flops.small_config(cluster=pools.address)
    there = Remote(f"file://{tmp_path}/there")
    outcome = plan_flops(config, there).run(Callbacks(progress=(seen.append,), message=told.append))
    assert (outcome.solved, outcome.missing) == (3, ())
    kept = [
        {path.name: path.read_bytes() for path in (tmp_path / each).glob("flops-*/*")}
        for each in ("here", "there")
    ]
    assert kept[0] == kept[1]
    assert told[0].startswith("cluster: ")
    assert sum(node.solved for node in seen[-1].nodes) == 3


def test_many_spots_are_the_same_there(tmp_path: Path, pools: Pools) -> None:
    options: dict[str, Any] = {"boards": ["Ks7d4c9h2s", "Qs7d4c9h2s"], "target": 0.05, "threads": 1}
    here = solve_many([RIVER], executor=Here(), **options)
    seen: list[Progress] = []
    there = solve_many(
        [RIVER],
        cluster=pools.address,
        output=tmp_path / "spots",
        observers=[seen.append],
        **options,
    )
    assert [replace(row, seconds=None, folder=None) for row in there] == [
        replace(row, seconds=None) for row in here
    ]
    kept = load(tmp_path / "spots")
    assert isinstance(kept, SpotSet)
    assert [kept.open(entry).evs for entry in kept.entries] == [
        (row.ev_oop, row.ev_ip) for row in here
    ]
    assert sum(node.solved for node in seen[-1].nodes) == 2


def test_what_cannot_work_is_refused(
    tmp_path: Path, pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("allstreets.cluster.engine.__version__", "0.0.1")
        with pytest.raises(InputError, match="install the same version on every machine"):
            run(tmp_path / "run", cluster=pools.address)
    monkeypatch.setattr(worker_pool, "START_SECONDS", 0.0)  # as if another program held the cores
    with pytest.raises(InputError, match="no machine of the cluster has a core free"):
        run(tmp_path / "run", cluster=pools.address)
