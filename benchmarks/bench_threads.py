"""Speed-up by cores: seconds by number of threads, and the parts that do not scale.

    python benchmarks/bench_threads.py [--threads 1,2,4,8,16] [--only spots,game_400] [--seconds 2]

Every job is built for each number of threads, runs once to touch its memory and to compile, and
then for some seconds; its best time counts. Beside each: how many times faster than on the fewest
threads, the share of the time in which no thread was at work below ("outside": the calling thread
alone, or nobody), and what share of serial work would explain the curve (Amdahl), whatever
the reason: waiting for the last piece, memory that all share, or cores that are two halves of one.
The first rows say what the machine itself allows: arithmetic alone, and reading memory alone.

Needs nothing but the package. Writes benchmarks/results/threads.json.
"""

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from bench_spots import load_spot
from report import Row, write_report

from allstreets.analysis.certify import FlopEvaluator
from allstreets.base import processors
from allstreets.betting import PreflopRules, Street, same_sizes
from allstreets.cards import Flop, FlopTable, build_flop_table, spread_flops
from allstreets.cards.flop_sets import every_flop
from allstreets.cards.flop_tables import count_margins
from allstreets.cfr import parse_schedule
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.card_model import CLASSES, CardModel
from allstreets.engines.machine import Pool
from allstreets.engines.spec import EngineSpec
from allstreets.games.whole_game import WholeGame, pot_at
from allstreets.jobs import TrainConfig, check_config
from allstreets.jobs.flops import plan_flops
from allstreets.solutions.whole_game import WholeSolution
from allstreets.solvers import FlopsSolver, FlopTargets, SpotSolver, WholeGameSolver

THREADS = (1, 2, 4, 8, 16)
ALL_FLOPS = 1755
FIRST_ITERATIONS = 4  # of a whole game: strategies are pure in the second, so that pots fall away
STREAM = 64_000_000  # bytes that each thread reads: more than its share of any cache


@dataclass
class Job:
    """A job to be timed: its function, its number of units, and where threads work below."""

    run: Callable[[], object]
    units: float = 1
    pools: Sequence[Pool] = ()
    again: bool = True  # whether the first run is like all later ones
    inside: float = field(default=0.0, init=False)  # seconds in which the pools were at work

    def __post_init__(self) -> None:
        for pool in self.pools:
            self._watch(pool)

    def _watch(self, pool: Pool) -> None:
        together = pool.together  # `run` goes through it, too

        def timed(work: Callable[[int], None]) -> None:
            begun = time.perf_counter()
            together(work)
            self.inside += time.perf_counter() - begun

        pool.together = timed  # type: ignore[method-assign]


@dataclass(frozen=True)
class Figure:
    """One point of a curve."""

    seconds: float
    outside: float | None  # share of the time


def measured(job: Job, budget: float) -> Figure:
    """The best of the runs that begin within some seconds, and at least of two."""
    if job.again:
        job.run()  # touches memory, compiles
    found: list[Figure] = []
    end = time.perf_counter() + budget
    while len(found) < (2 if job.again else 1) or (job.again and time.perf_counter() < end):
        job.inside, begun = 0.0, time.perf_counter()
        job.run()
        seconds = time.perf_counter() - begun
        outside = 1 - job.inside / seconds if job.pools else None
        found.append(Figure(seconds / job.units, outside))
    return min(found, key=lambda figure: figure.seconds)


@numba.njit(nogil=True)
def arithmetic(rounds: int) -> float:
    """Dependent multiplications and additions in registers."""
    found = 1.0
    for _ in range(rounds):
        found = found * 0.999999 + 0.5
    return found


@numba.njit(nogil=True, fastmath=True)
def read(numbers: Any) -> Any:
    """The sum of an array: as fast as memory delivers it."""
    found = np.float32(0.0)
    for number in numbers:
        found += number
    return found


def arithmetic_job(threads: int) -> Job:
    """A fixed amount of arithmetic."""
    pool, pieces = Pool(threads), 64

    def work(_: int, number: int) -> None:
        arithmetic(2_000_000 + number)

    return Job(lambda: pool.run(pieces, work))


def memory_job(threads: int) -> Job:
    """Arrays of each thread's own, twenty times; seconds a gigabyte."""
    pool = Pool(threads)
    arrays = [np.zeros(0, np.float32)] * threads

    def touch(_: int, number: int) -> None:
        arrays[number] = np.ones(STREAM // 4, np.float32)

    pool.run(threads, touch)

    def work(_: int, number: int) -> None:
        for _ in range(4):
            read(arrays[number])

    return Job(lambda: pool.run(threads, work), 4 * threads * STREAM / 1e9)


def whole_game(flops: int) -> WholeGame:
    """20 bb, one size, one raise a street."""
    return WholeGame(
        PreflopRules.parse(20, [2.5], 4),
        same_sizes(Street.FLOP, "100%", "100%"),
        every_flop() if flops == ALL_FLOPS else spread_flops(flops),
        max_raises=1,
    )


def solver_of(game: WholeGame, model: CardModel, threads: int) -> WholeGameSolver:
    """A fresh solver of a whole game."""
    games = game.build(game.engine(model, threads=threads))
    return WholeGameSolver(game, games, parse_schedule("tuned"))


def game_job(flops: int) -> Callable[[int], Job]:
    """Iterations of the whole game where hands are classes."""

    def job(threads: int) -> Job:
        solver = solver_of(whole_game(flops), CLASSES, threads)
        solver.train_batch(FIRST_ITERATIONS)
        count = max(1, 800 // flops)
        games: Any = solver.engine
        return Job(lambda: solver.train_batch(count), count, [games._pool])

    return job


@cache
def boards_solver(flops: int) -> WholeGameSolver:
    """A solver on real boards; making their groups takes longer than what is timed."""
    solver = solver_of(whole_game(flops), CardModel("boards", groups=32), processors())
    solver.train_batch(FIRST_ITERATIONS)
    return solver


def boards_job(threads: int) -> Job:
    """Iterations of the whole game on real boards."""
    solver = boards_solver(16)
    assert isinstance(solver.engine, BoardsEngine)
    solver.engine._pool = pool = Pool(threads)
    return Job(lambda: solver.train_batch(1), 1, [pool])


def spot_job(name: str) -> Callable[[int], Job]:
    """Iterations of a reference spot."""

    def job(threads: int) -> Job:
        solver = SpotSolver(load_spot(name), threads=threads)
        work = solver.subgame._work
        return Job(lambda: solver.train_batch(4), 4, [work._pool] if work else [])

    return job


def flops_job(threads: int) -> Job:
    """Flops one by one: iterations, a check, and the results that a bundle stores."""
    pot, flops = pot_at(3.5), spread_flops(128)
    spec = EngineSpec((pot.rules,), flops.flops, CLASSES, threads=threads)
    games: Any = spec.build([(pot.tree, pot.payoffs)])
    targets = FlopTargets(0.0, check_interval=10)
    solver = FlopsSolver([pot], flops, games, parse_schedule("tuned"), targets)

    def run() -> None:
        solver.train_batch(20)
        solver.results(threads)

    return Job(run, 1, [games._pool])


def flops_run_job(threads: int) -> Job:
    """The same as a job: groups of flops to 1 % of the pot, with their files."""
    config = check_config(
        {"postflop_model": {"preset": "classes_fast", "flops": 512}}, TrainConfig
    ).postflop_model
    assert config is not None

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            plan_flops(config, Path(folder) / "flops", threads=threads).run()

    return Job(run)


def count_job(threads: int) -> Job:
    """The margins of some flops, counted and not stored."""
    pool, flops = Pool(threads), spread_flops(160).flops
    return Job(lambda: pool.run(len(flops), lambda _, place: _count(flops[place])), 1, [pool])


def _count(flop: Flop) -> None:
    count_margins(flop.cards)


def tables_job(threads: int) -> Job:
    """The tables of all flops from nothing, files included."""

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            FlopTable(Path(folder)).build(threads)

    return Job(run, again=False)


@cache
def small_solution() -> WholeSolution:
    """A whole game on 16 flops."""
    solver = solver_of(whole_game(16), CLASSES, processors())
    solver.train_batch(20)
    return WholeSolution.of(solver)


def certify_job(threads: int) -> Job:
    """Flops judged with real cards."""
    judge = FlopEvaluator(small_solution(), threads=threads)
    flops = small_solution().game.flops.flops[:3]

    def run() -> None:
        for flop in flops:
            judge.values(flop)

    return Job(run, len(flops), again=False)


JOBS: dict[str, tuple[str, str, Callable[[int], Job]]] = {
    "arithmetic": ("arithmetic alone", "s", arithmetic_job),
    "memory": ("reading memory alone", "s/GB", memory_job),
    "game_400": ("whole game, classes, 400 flops", "s/iteration", game_job(400)),
    "game_1755": ("whole game, classes, all flops", "s/iteration", game_job(ALL_FLOPS)),
    "boards": ("whole game, boards, 16 flops, 32 groups", "s/iteration", boards_job),
    "flop_medium": ("spot flop_medium", "s/iteration", spot_job("flop_medium")),
    "turn_deep": ("spot turn_deep", "s/iteration", spot_job("turn_deep")),
    "flops": ("128 flops one by one, 20 iterations", "s", flops_job),
    "flops_run": ("512 flops as a job, to 1 %, stored", "s", flops_run_job),
    "count": ("tables of 160 flops, no files", "s", count_job),
    "tables": ("all flop tables", "s", tables_job),
    "certify": ("certification, a flop", "s", certify_job),
}


def compile_kernels(job: Callable[[int], Job]) -> None:
    """Run once every job that is timed only once."""
    found = job(processors())
    if not found.again:
        found.run()


def curve(name: str, counts: Sequence[int], budget: float) -> Iterator[Row]:
    """The rows of a job."""
    title, unit, job = JOBS[name]
    if name == "certify":
        compile_kernels(job)
    first: tuple[int, float] | None = None
    for threads in counts:
        found = measured(job(threads), budget)
        gc.collect()
        remark = []
        if first is None:
            first = threads, found.seconds
        else:
            faster, more = first[1] / found.seconds, threads / first[0]
            serial = (more / faster - 1) / (more - 1)
            remark = [f"{faster:.2f} times faster, Amdahl {100 * serial:.1f} % serial"]
        if found.outside is not None:
            remark.append(f"{100 * found.outside:.1f} % outside")
        plural = "s" * (threads > 1)
        yield Row(f"{title}, {threads} thread{plural}", found.seconds, unit, "; ".join(remark))


def cores() -> str:
    """Whether processors are cores of their own."""
    path = Path("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")
    return f"those of the first core: {path.read_text().strip()}" if path.exists() else ""


def main() -> None:
    """Measure the requested jobs and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", help="by default 1, 2, 4, 8, 16 as far as there are cores")
    parser.add_argument("--only", help=f"some of {','.join(JOBS)}; spots: both of them")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure, about")
    options = parser.parse_args()
    default = [count for count in THREADS if count <= processors()]
    counts = [int(one) for one in options.threads.split(",")] if options.threads else default
    wanted = (options.only or ",".join(JOBS)).replace("spots", "flop_medium,turn_deep").split(",")
    build_flop_table()
    rows = [Row("processors", processors(), "", cores())]
    for name in wanted:
        begun = time.perf_counter()
        for row in curve(name, counts, options.seconds):
            print(f"{row.name:<58} {row.value:>9.4g} {row.unit:<12} {row.remark}", flush=True)
            rows.append(row)
        print(f"  ({time.perf_counter() - begun:.0f} s for {name})", flush=True)
    write_report("threads", rows)


if __name__ == "__main__":
    main()
