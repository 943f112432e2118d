"""What a half-iteration costs on a cluster beside the work itself, and what the driver holds.

    python benchmarks/bench_cluster.py [--most 64]

1. Overhead against the number of workers: real Ray actors on this machine, whose pots nobody gets
   to, so that they answer with zeros at once. The answers are as long as always.
2. Memory of the driver with a simulated game of 300 GB: all 1,755 flops and seven pots, trained,
   checked, stored as a checkpoint and as a bundle. Workers are simulated, and answer with arrays of
   the true size; everything that the driver does is real.
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
from allstreets.cluster import ClusterFlops, Crew, RayCrew, connect
from allstreets.cluster.crew import Station
from allstreets.cluster.line import Answer, answer, read_answer
from allstreets.cluster.worker import Sizes, Visits
from allstreets.storage import Checkpoint, save_checkpoint, save_unified
from allstreets.training import TrainConfig, check_config
from allstreets.training.solver_config import UnifiedConfig
from allstreets.training.unified_run import UnifiedJob, plan_unified

WORKERS = (1, 2, 4, 8, 16, 32, 64)
HALVES = 100
SIMULATED_BYTES = 300e9
SIMULATED_WORKERS = 16


def make_job(**keys: Any) -> UnifiedJob:
    """A game of 20 bb."""
    game = {"type": "unified_cfr", "stack_depth": 20, "postflop_bet_sizes": [1.0], "threads": 1}
    found = check_config({"solver": {**game, **keys}}, TrainConfig).solver
    assert isinstance(found, UnifiedConfig)
    return plan_unified(found)


def overhead(most: int) -> list[Row]:
    """Half-iterations in which nobody has anything to compute."""
    rows = []
    job = make_job(flops="spread_64")
    with connect("local") as cluster:
        for count in (number for number in WORKERS if number <= most):
            crew = RayCrew(cluster, per_machine=count)
            rows.append(measured(ClusterFlops(job.spec(), crew, threads=1), job))
            print(rows[-1], flush=True)
            crew.close()
    return rows


def measured(games: ClusterFlops, job: UnifiedJob) -> Row:
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
    work = sum(answer.seconds for answer in games.crew.ask("step", *asked))
    messages, sent, received = ((b - a) / HALVES for a, b in zip(before, after, strict=True))
    return Row(
        f"overhead with {len(games.crew.stations)} workers",
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

    def rounded_values(self, *_: Any) -> Any:
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


class SimulatedCrew(Crew):
    """Workers that answer through real bytes."""

    def __init__(self, pots: int) -> None:
        super().__init__()
        self._workers = [Simulated(pots) for _ in range(SIMULATED_WORKERS)]
        self._stations = [Station(f"{k}", f"{k}", 1) for k in range(SIMULATED_WORKERS)]

    @property
    def stations(self) -> Sequence[Station]:
        """Nowhere."""
        return self._stations

    def replace(self, lost: Sequence[int]) -> list[int | None]:
        """Nobody is lost."""
        raise NotImplementedError(lost)

    def close(self) -> None:
        """There is nothing to close."""

    def _exchange(self, asked: Mapping[int, bytes], limit: float) -> dict[int, Answer]:
        del limit
        return {
            each: read_answer(answer(self._workers[each], data)) for each, data in asked.items()
        }


def drive(folder: Path) -> int:
    """Bytes that a driver has had in memory at most."""
    job = make_job(flops="all", postflop_bet_sizes=[0.5, 1.0])
    games = ClusterFlops(job.spec(), SimulatedCrew(len(job.game.flop_pots)))
    with connect("local"):
        solver = job.solver(games)
        solver.train_batch(2)
        solver.metrics()
        point = Checkpoint(solver.identity, 2, 0.0, solver.state(), (), "", games.write_state)
        save_checkpoint(folder / "checkpoints", point)
        save_unified(solver, folder / "bundle", config={})
        print(f"{games.pots} pots, {games.memory_bytes / 1e9:.0f} GB", file=sys.stderr)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Run it."""
    options = argparse.ArgumentParser()
    options.add_argument("--most", type=int, default=64, help="workers")
    options.add_argument("--driver", action="store_true", help="only the driver, here")
    given = options.parse_args()
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
