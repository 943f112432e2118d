"""A GPU on exact spots and whole games, beside the processors of the same machine.

    python benchmarks/bench_gpu.py [--parts spots,classes] [--spots flop_small,turn_deep]

Iterations are timed as a user has them: a spot's from Python to Python, a whole game's with the
betting before the flop and the sums over all flops. Beside each: how fast the numbers move that an
iteration cannot do without (regrets read twice and written once, averages read and written), and
what share of a plain copy on the same device that is. A spot's time to 0.3 % of the pot is with its
set-up, kernels compiled before. Processors run with all of their threads.

Writes benchmarks/results/gpu.json.
"""

import argparse
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench_spots import load_spot
from report import Row, write_report

from allstreets.base import processors
from allstreets.betting import Player
from allstreets.engines.device import open_device
from allstreets.engines.spec import EngineSpec
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.solutions import solve
from allstreets.solvers import SpotSolver, WholeGameSolver

SPOTS = "turn_rainbow,turn_deep,flop_small,flop_medium"
SIZES = {"one size": (1.0,), "two sizes": (0.5, 1.0)}
COPIED = 4_000_000_000  # bytes


def copy_speed(device: Any) -> float:
    """Bytes a second that a copy on the device reads and writes."""
    import cupy

    one = cupy.ones(COPIED // 4, cupy.float32)
    other = cupy.empty_like(one)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        other[...] = one
        cupy.cuda.get_current_stream().synchronize()
        best = min(best, time.perf_counter() - start)
    del device
    return 2 * COPIED / best


def seconds_of(iterations: Callable[[int], object], count: int) -> float:
    """Seconds per iteration; the first two, which load and record, are not counted."""
    iterations(2)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        iterations(count)
        best = min(best, (time.perf_counter() - start) / count)
    return best


def figures(name: str, solver: Any, seconds: float, copy: float) -> Iterator[Row]:
    """The time of an iteration on the device, and the bytes that it moves."""
    use = solver.device_use
    moved = use.moved_bytes / seconds
    remark = f"{moved / 1e12:.2f} TB/s, {moved / copy:.0%} of a copy; {use.used_bytes / 1e9:.1f} GB"
    yield Row(f"{name}, GPU", 1e3 * seconds, "ms/iteration", remark)


def spots(names: Sequence[str], copy: float, alone: bool) -> Iterator[Row]:
    """Exact spots."""
    for name in names:
        spot = load_spot(name)
        for precision in ("float32", "float16"):
            there = SpotSolver(spot, precision=precision, device="cuda")

            def wait(count: int, there: SpotSolver = there) -> None:
                there.train_batch(count)
                there.subgame.evaluate(Player.OOP, there.reach[1])

            seconds = seconds_of(wait, 50)
            yield from figures(f"{name}, {precision}", there, seconds, copy)
        found = solve(spot, device="cuda")
        yield Row(f"{name}, GPU to 0.3 %", found.seconds, "s", f"{found.iterations} iterations")
        if alone:
            continue
        here = SpotSolver(spot)
        cpu = seconds_of(here.train_batch, 5)
        remark = f"{processors()} threads, float32"
        yield Row(f"{name}, processors", 1e3 * cpu, "ms/iteration", remark)


def classes(copy: float, alone: bool) -> Iterator[Row]:
    """Whole games of all flops."""
    for name, sizes in SIZES.items():
        config = UnifiedConfig(
            type="unified_cfr", cards="classes", postflop_bet_sizes=sizes, flops="all"
        )
        game = config.game()

        def solver(spec: EngineSpec, game: Any = game, config: Any = config) -> WholeGameSolver:
            return WholeGameSolver(game, game.build(spec), config.schedule(), config.batches())

        start = time.perf_counter()
        threads = processors()
        there = solver(game.engine(config.card_model(), threads=threads, device="cuda"))
        built = time.perf_counter() - start
        title = f"classes, 1,755 flops, {name}"
        yield Row(f"{title}, built", built, "s")
        there.train_batch(8)
        yield from figures(title, there, seconds_of(there.train_batch, 20), copy)
        start = time.perf_counter()
        reached = there.figures().exploitability
        spent = time.perf_counter() - start
        yield Row(f"{title}, best responses, GPU", spent, "s", f"{reached:.1f} mbb/hand")
        del there
        if alone:
            continue
        here = solver(game.engine(config.card_model(), threads=threads))
        here.train_batch(8)
        cpu = seconds_of(here.train_batch, 3)
        yield Row(f"{title}, processors", 1e3 * cpu, "ms/iteration", f"{threads} threads")


def main() -> None:
    """All parts; one that fails does not keep the others."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", default="spots,classes")
    parser.add_argument("--spots", default=SPOTS)
    parser.add_argument("--alone", action="store_true", help="leave out the processors")
    given = parser.parse_args()
    device = open_device("cuda")
    assert device is not None
    copy = copy_speed(device)
    rows = [Row(f"copy on {device.name}", copy / 1e12, "TB/s")]
    every = {
        "spots": lambda: spots(given.spots.split(","), copy, given.alone),
        "classes": lambda: classes(copy, given.alone),
    }
    for part in given.parts.split(","):
        try:
            for row in every[part]():
                print(row, flush=True)
                rows.append(row)
        except Exception:
            traceback.print_exc()
    write_report("gpu", rows)


if __name__ == "__main__":
    main()
