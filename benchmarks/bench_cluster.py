"""The cost of a half-iteration on a cluster beside the work itself, and the driver's memory.

    python benchmarks/bench_cluster.py [--most 64]
    python benchmarks/bench_cluster.py --scaling [--cores 16] [--price 0.05]

1. Overhead against the number of workers: real Ray actors on this machine, whose pots nobody gets
   to, so that they answer with zeros at once. The answers are as long as always.
2. Memory of the driver with a simulated game of 300 GB: all 1,755 flops and seven pots, trained,
   checked, stored as a checkpoint and as a bundle. Workers are simulated, and answer with arrays of
   the true size; everything that the driver does is real.
3. Scaling on paper (`--scaling`): the efficiency of 16 to 256 machines, computed from what a flop,
   a message and the driver's own work were measured to take, and from how whole flops fit onto
   cores. No cluster of this size was there to measure it on.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from report import Row, write_report

from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.cluster import ClusterEngine, RayPool, WorkerPool, connect
from allstreets.cluster.connection import Answer, answer, read_answer
from allstreets.cluster.engine import split_flops
from allstreets.cluster.worker import Sizes, Visits
from allstreets.cluster.worker_pool import WorkerNode
from allstreets.games import flop_costs
from allstreets.jobs import TrainConfig, check_config
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.whole_game import UnifiedJob, plan_unified
from allstreets.storage import Checkpoint, save_checkpoint, save_unified

WORKERS = (1, 2, 4, 8, 16, 32, 64)
HALVES = 100
SIMULATED_BYTES = 300e9
SIMULATED_WORKERS = 16

# Measured: real boards with 64 groups, 20 bb, one size, seven pots, a flop on one core.
FLOP_SECONDS, FLOP_BYTES = 0.16, 0.155e9  # an iteration; regrets and strategies
MESSAGE_SECONDS = 72e-6  # of the driver's processor, a question and its answer: 4.6 ms for 64
NETWORK = 1.25e9  # bytes per second into the driver: 10 Gbit/s, assumed
DELAY = 1e-4  # seconds, of a message and its answer, assumed


def make_job(**keys: Any) -> UnifiedJob:
    """A game of 20 bb."""
    game = {
        "type": "unified_cfr",
        "cards": "classes",
        "stack_depth": 20,
        "postflop_bet_sizes": [1.0],
        "threads": 1,
    }
    found = check_config({"solver": {**game, **keys}}, TrainConfig).solver
    assert isinstance(found, UnifiedConfig)
    return plan_unified(found)


def overhead(most: int) -> list[Row]:
    """Half-iterations without any computation."""
    rows = []
    job = make_job(flops="spread_64")
    with connect("local") as cluster:
        for count in (number for number in WORKERS if number <= most):
            pool = RayPool(cluster, per_machine=count)
            rows.append(measured(ClusterEngine(job.spec(), pool, threads=1), job))
            print(rows[-1], flush=True)
            pool.close()
    return rows


def measured(games: ClusterEngine, job: UnifiedJob) -> Row:
    """Time, messages and bytes of a half-iteration."""
    nobody = np.zeros((games.pots, HAND_COUNT))
    flops = np.arange(games.flops)
    now = [job.config.schedule().at(1)] * games.flops
    for player in Player:
        games.step(player, nobody, nobody, flops, now)
    traffic = games.traffic
    before = traffic.messages, traffic.sent_bytes, traffic.received_bytes
    seconds, processor = [], time.process_time()
    for half in range(HALVES):
        began = time.perf_counter()
        games.step(Player(half % 2), nobody, nobody, flops, now)
        seconds.append(time.perf_counter() - began)
    processor = (time.process_time() - processor) / HALVES
    after = traffic.messages, traffic.sent_bytes, traffic.received_bytes
    asked = Player(0), nobody, nobody, flops, Visits.of(now), None
    work = sum(answer.seconds for answer in games.pool.ask("step", *asked))
    messages, sent, received = ((b - a) / HALVES for a, b in zip(before, after, strict=True))
    return Row(
        f"overhead with {len(games.pool.nodes)} workers",
        1e3 * statistics.median(seconds),
        "ms",
        f"least {1e3 * min(seconds):.2f} ms; processor: driver {1e3 * processor:.2f} ms, "
        f"engines of all workers {1e3 * work:.1f} ms; "
        f"{messages:.0f} messages, {sent / 1e3:,.0f} kB out, {received / 1e3:,.0f} kB back",
    )


class Simulated:
    """A worker without games: its answers have the size of those with."""

    def __init__(self, pots: int) -> None:
        self._pots = pots
        self._own = np.zeros(0, np.int64)

    def begin(self, *_: Any) -> str:
        """Nothing is built."""
        return "simulated"

    def own(self, places: Any, fresh: bool) -> None:
        """Own flops."""
        del fresh
        self._own = places

    def sizes(self) -> Sizes:
        """As if there were games."""
        return Sizes(int(SIMULATED_BYTES / SIMULATED_WORKERS), 0, can_drop_hands=False)

    def _values(self, *before: int) -> Any:
        return np.zeros((*before, self._pots, len(self._own), HAND_COUNT))

    def step(self, *_: Any) -> Any:
        """Values of all own flops, in double precision as with real boards."""
        return self._values()

    best_response = evaluate = step

    def quantised_values(self, *_: Any) -> Any:
        """[2, 2, P, K, 169]."""
        return self._values(2, 2)

    def regret_sums(self, flops: Any) -> Any:
        """[3, P, K]."""
        return np.zeros((3, self._pots, np.isin(self._own, flops).sum()))

    def shared_state(self) -> dict[str, Any]:
        """As of real boards."""
        return {"ranges": np.ones((3, 2, HAND_COUNT))}

    def write_state(self, folder: Path) -> dict[str, str]:
        """The names and checksums of files that are not written."""
        del folder
        return {f"flop-{place:04d}.safetensors": "0" * 64 for place in self._own.tolist()}

    def write_packed(self, *arguments: Any) -> list[dict[str, Any]]:
        """The same of a bundle's."""
        return [{"bytes": 20_000_000, "sha256": "0" * 64} for _ in arguments[-1]]


class SimulatedPool(WorkerPool):
    """Workers that answer through real bytes."""

    def __init__(self, pots: int) -> None:
        super().__init__()
        self._workers = [Simulated(pots) for _ in range(SIMULATED_WORKERS)]
        self._nodes = [WorkerNode(f"{k}", f"{k}", 1) for k in range(SIMULATED_WORKERS)]
        self.seconds = 0.0  # in which workers would have worked

    @property
    def nodes(self) -> Sequence[WorkerNode]:
        """Nowhere."""
        return self._nodes

    def replace(self, lost: Sequence[int]) -> list[int | None]:
        """Nobody is lost."""
        raise NotImplementedError(lost)

    def close(self) -> None:
        """There is nothing to close."""

    def _exchange(self, asked: Mapping[int, bytes], limit: float) -> dict[int, Answer]:
        del limit
        began = time.process_time()
        told = {each: answer(self._workers[each], data) for each, data in asked.items()}
        self.seconds += time.process_time() - began
        return {each: read_answer(data) for each, data in told.items()}


def drive(folder: Path) -> int:
    """Bytes that a driver has had in memory at most."""
    job = make_job(flops="all", postflop_bet_sizes=[0.5, 1.0])
    games = ClusterEngine(job.spec(), SimulatedPool(len(job.game.flop_pots)))
    with connect("local"):
        solver = job.solver(games)
        solver.train_batch(2)
        solver.metrics()
        point = Checkpoint(solver.identity, 2, 0.0, solver.state(), (), "", games.write_state)
        save_checkpoint(folder / "checkpoints", point)
        save_unified(solver, folder / "bundle", config={})
        print(f"{games.pots} pots, {games.memory_bytes / 1e9:.0f} GB", file=sys.stderr)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def driver_seconds(iterations: int = 5) -> float:
    """The driver's work in a half-iteration of all flops and seven pots, in double precision."""
    job = make_job(flops="all")
    pool = SimulatedPool(len(job.game.flop_pots))
    solver = job.solver(ClusterEngine(job.spec(), pool))
    solver.train_batch(1)
    pool.seconds, began = 0.0, time.process_time()
    solver.train_batch(iterations)
    return (time.process_time() - began - pool.seconds) / (2 * iterations)


def scaling(cores: int, price: float, flop_seconds: float) -> list[Row]:
    """Efficiency, time and cost of an iteration on many machines, on paper.

    1. Work: a flop takes its share of the measured time, by its river boards and by how much more
       the betting takes than that of the game which was measured. Flops are whole, so that the time
       is that of the core with most of them. Cores are taken to be as fast when all are busy.
    2. Beside it, twice per iteration: the driver's work, a message for each machine, and the
       answers of all flops through the driver's network.
    """
    rows, driver = [], driver_seconds()
    measured = boards_job(stack_depth=20, postflop_bet_sizes=[1.0])
    deep = boards_job(stack_depth=100, raise_sizes=[2.5, 3.5], postflop_bet_sizes=[0.5, 1.0])
    for name, job in (("20 bb, one size", measured), ("100 bb, two sizes", deep)):
        flops = job.game.flops.flops
        costs = flop_costs(flops, job.config.card_model())
        ratio = job.need.seconds_per_iteration / measured.need.seconds_per_iteration
        seconds = flop_seconds * ratio * costs / costs.mean()
        memory = FLOP_BYTES * len(flops) * job.need.memory_bytes / measured.need.memory_bytes
        answers = len(job.game.flop_pots) * len(flops) * HAND_COUNT * 8
        for nodes in (16, 64, 256):
            shares = split_flops(seconds, np.ones(nodes * cores))
            work = max(float(seconds[share].sum()) for share in shares)
            beside = 2 * (driver + nodes * MESSAGE_SECONDS + answers / NETWORK + DELAY)
            ideal, real = seconds.sum() / (nodes * cores), work + beside
            hours = 300 * real / 3600
            rows.append(
                Row(
                    f"{name}, {nodes} machines of {cores} cores",
                    100 * ideal / real,
                    "% efficiency",
                    f"{real:.2f} s an iteration: {ideal:.3f} s of work, {work - ideal:.3f} s as "
                    f"flops are whole, {beside:.3f} s beside it; "
                    f"{memory / nodes / 1e9:,.0f} GB each; 300 iterations {hours:.2f} h, "
                    f"{hours * nodes * cores * price:,.0f} $",
                )
            )
    return [Row("driver, a half-iteration of all flops", 1e3 * driver, "ms", ""), *rows]


def boards_job(**keys: Any) -> UnifiedJob:
    """A game with real boards on all flops."""
    return make_job(cards="boards", river_groups=64, flops="all", raise_cap=3, **keys)


def main() -> None:
    """Run it."""
    options = argparse.ArgumentParser()
    options.add_argument("--most", type=int, default=64, help="workers")
    options.add_argument("--driver", action="store_true", help="only the driver, here")
    options.add_argument("--scaling", action="store_true", help="on paper, without a cluster")
    options.add_argument("--cores", type=int, default=16, help="of a machine, for --scaling")
    options.add_argument("--price", type=float, default=0.05, help="$ per core and hour")
    options.add_argument("--flop-seconds", type=float, default=FLOP_SECONDS, help="20 bb, a core")
    given = options.parse_args()
    if given.scaling:
        write_report("cluster_scaling", scaling(given.cores, given.price, given.flop_seconds))
        return
    with tempfile.TemporaryDirectory() as folder:
        if given.driver:
            print(drive(Path(folder)))
            return
    rows = overhead(given.most)
    told = subprocess.run(
        [sys.executable, __file__, "--driver"], check=True, capture_output=True, text=True
    )
    peak = int(told.stdout)
    rows.append(Row("driver of a simulated 300 GB game", peak / 1e9, "GB", told.stderr.strip()))
    write_report("cluster", rows)


if __name__ == "__main__":
    main()
