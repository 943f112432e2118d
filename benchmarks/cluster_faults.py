"""Random faults on a real Ray cluster of several raylets: is a run bit-identical at its end?

    python benchmarks/cluster_faults.py [--faults 20] [--seed 1]

A whole game is solved undisturbed in one process, then on a cluster on which at random iterations
worker processes are killed, stopped (they no longer answer), machines are removed and others added.
Says what happened and what it cost; ends with an error if one bit of the solution differs.
"""

import argparse
import os
import random
import signal
import tempfile
import time
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from report import Row, write_report

from allstreets.cluster import worker_pool as pools
from allstreets.cluster.worker_pool import RayPool
from allstreets.jobs import TrainConfig, check_config, cluster_training
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.job import Callbacks, Progress
from allstreets.jobs.whole_game import plan_unified

ITERATIONS = 300
EVERY = 10  # iterations between two checkpoints
MACHINES = 4
KINDS = ("kill", "kill", "kill", "stop", "machine")
TIMEOUT_FACTOR = 6.0  # seconds, for workers that are stopped


def config(**keys: Any) -> UnifiedConfig:
    """A small game of many iterations."""
    game = {
        "type": "unified_cfr",
        "cards": "classes",
        "stack_depth": 10,
        "raise_cap": 1,
        "postflop_bet_sizes": [1.0],
        "flops": "spread_24",
        "epochs": ITERATIONS,
        "check_interval": 1,
        "checkpoint_interval": EVERY,
        "chart_interval": 0,
        "threads": 1,
    }
    found = check_config({"solver": {**game, **keys}}, TrainConfig).solver
    assert isinstance(found, UnifiedConfig)
    return found


def numbers(folder: Path) -> dict[str, bytes]:
    """All strategies and values of a solution."""
    files = [*folder.glob("preflop-*.safetensors"), *folder.glob("flops-*/*.safetensors")]
    return {path.name.partition("-")[0]: path.read_bytes() for path in files}


class Trouble:
    """An observer that breaks something at given iterations."""

    def __init__(self, cluster: Any, machine: dict[str, Any], faults: int, seed: int) -> None:
        self._cluster, self._machine = cluster, machine
        self._random = random.Random(seed)
        self._left = sorted(self._random.sample(range(2, ITERATIONS), faults))
        self.happened: Counter[str] = Counter()
        self.pool: RayPool | None = None

    def __call__(self, progress: Progress) -> None:
        """Called after every iteration; going back does not repeat what has happened."""
        if not self._left or progress.iteration < self._left[0] or self.pool is None:
            return
        self._left.pop(0)
        kind = self._random.choice(KINDS)
        number = self._random.randrange(len(self.pool.nodes))
        node = self.pool.nodes[number]
        if kind == "machine" and node.machine == self._cluster.head_node.node_id:
            kind = "kill"
        if kind == "machine":
            self._remove(node.machine)
        with suppress(ProcessLookupError):
            os.kill(node.process, signal.SIGSTOP if kind == "stop" else signal.SIGKILL)
        self.happened[kind] += 1
        print(f"  iteration {progress.iteration}: {kind} {node.process}", flush=True)

    def _remove(self, key: str) -> None:
        (node,) = [node for node in self._cluster.list_all_nodes() if node.node_id == key]
        self._cluster.remove_node(node, allow_graceful=False)
        self._cluster.add_node(**self._machine)  # a machine that joins during the run


def main() -> None:
    """Run it."""
    options = argparse.ArgumentParser()
    options.add_argument("--faults", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster_utils: Any = import_module("ray.cluster_utils")
    pools.LEAST_SECONDS = TIMEOUT_FACTOR
    machine: dict[str, Any] = {
        "num_cpus": 1,
        "object_store_memory": 80_000_000,
        "include_dashboard": False,
    }
    quick = {"health_check_period_ms": 500, "health_check_failure_threshold": 4}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        plan_unified(config(), folder / "calm").run()
        calm = time.perf_counter() - began
        cluster = cluster_utils.Cluster(
            initialize_head=True, head_node_args={**machine, "_system_config": quick}
        )
        for _ in range(MACHINES - 1):
            cluster.add_node(**machine)
        trouble = Trouble(cluster, machine, given.faults, given.seed)

        class Noted(RayPool):
            def __init__(self, *arguments: Any, **keys: Any) -> None:
                super().__init__(*arguments, **keys)
                trouble.pool = self

        setattr(cluster_training, "RayPool", Noted)  # noqa: B010  # so that its processes are known
        told: list[str] = []

        def tell(text: str) -> None:
            told.append(text)
            print(f"  {text}", flush=True)

        began = time.perf_counter()
        job = plan_unified(config(cluster=cluster.address), folder / "storm")
        job.run(Callbacks(progress=(trouble,), message=tell))
        storm = time.perf_counter() - began
        same = numbers(folder / "calm") == numbers(folder / "storm")
        cluster.shutdown()
    rows = [Row(f"faults: {kind}", count, "") for kind, count in sorted(trouble.happened.items())]
    rows += [
        Row("losses noticed", len(told) - 1, "", "several at once are one"),
        Row("iterations", ITERATIONS, "", f"a checkpoint every {EVERY}"),
        Row("undisturbed, in one process", calm, "s"),
        Row("with faults, on the cluster", storm, "s"),
        Row("same bits", float(same), "", "1: yes"),
    ]
    write_report("cluster_faults", rows)
    if not same:
        raise SystemExit("the solution differs")


if __name__ == "__main__":
    main()
