"""The whole game with cards: classes on a GPU: is it right, and how long do iterations take.

    python3 benchmarks/bench_gpu_matrix.py [--flops all] [--parts check,solve,speed] [--host]

20 bb, one and two bet sizes, one raise a street, all 1,755 flops. Every part stands for itself: one
that fails says so and the others go on. The table comes last.

- check: an iteration, a best response and an evaluation beside the engine for processors, 20 flops
- solve: five flops, 300 iterations by both engines: exploitability
- kernels: milliseconds of each launch of an iteration by events, and of `play` without one phase
- iterate, step, solver: an iteration, recorded; with reach and values through the host; with the
  betting before the flop and sums over flops

`--host` runs on a processor what can run there, with few flops: a test of this script.
"""

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("", "tests")]

from gpu_table import ROWS, part, random_reach, say, timed

from allstreets.betting import Player
from allstreets.cards import build_flop_table
from allstreets.cfr import parse_schedule
from allstreets.kernels.cuda.sources import matrix_source
from allstreets.kernels.matrix_layout import UPDATE
from allstreets.solvers.unified.solver import UnifiedSolver
from allstreets.subgames.cuda_matrix import CudaMatrixFlops
from allstreets.subgames.matrix_flops import MatrixFlops
from allstreets.training.solver_config import UnifiedConfig

SIZES = {"one size": (1.0,), "two sizes": (0.5, 1.0)}
PHASES = ("fetch_piece", "enter_piece", "add_folds", "add_showdowns", "leave_piece")


def configured(sizes: tuple[float, ...], flops: Any) -> tuple[UnifiedConfig, Any]:
    config = UnifiedConfig(type="unified_cfr", postflop_bet_sizes=sizes, flops=flops)
    return config, config.game()


def engine(device: Any, config: UnifiedConfig, game: Any, threads: int = 8) -> CudaMatrixFlops:
    spec = game.engine(config.card_model(), threads=threads)
    return CudaMatrixFlops(spec.trees(), spec._cards(), device, spec.model, threads)


def check(device: Any, flops: Any) -> None:
    for name, sizes in SIZES.items():
        config, game = configured(sizes, flops)
        spec = game.engine(config.card_model(), threads=8)
        here = MatrixFlops(spec.trees(), spec._cards(), spec.model, 8)
        there = engine(device, config, game)
        reach, every = random_reach(here.pots), np.arange(here.flops)
        now = [parse_schedule("ahead").at(1)] * here.flops
        worst = {"step": 0.0, "best response": 0.0, "evaluate": 0.0}
        for player in Player:
            own, other = reach[player], reach[player.opponent]
            mine, found = (games.step(player, own, other, every, now) for games in (here, there))
            worst["step"] = max(worst["step"], distance(mine, found))
        for player in Player:
            other = reach[player.opponent]
            mine, found = (games.best_response(player, other, every) for games in (here, there))
            worst["best response"] = max(worst["best response"], distance(mine, found))
            mine, found = (games.evaluate(player, other, every) for games in (here, there))
            worst["evaluate"] = max(worst["evaluate"], distance(mine, found))
        regrets = distance(here.regret_sums(every).total, there.regret_sums(every).total)
        text = ", ".join(f"{key} {value:.1e}" for key, value in worst.items())
        fine = max(regrets, *worst.values()) < 1e-5
        say(f"check, {name}, {here.flops} flops", f"{text}, regrets {regrets:.1e}: {fine}")
        again = engine(device, config, game)
        again.restore({key: array.copy() for key, array in there.state().items()})
        one, two = (
            games.step(Player.OOP, reach[0], reach[1], every, now) for games in (there, again)
        )
        say(f"repeats bit for bit, {name}", str(np.array_equal(one, two)))


def distance(mine: Any, found: Any) -> float:
    """The largest difference beside the largest number of its pot and flop."""
    size = np.abs(mine).max(axis=-1, keepdims=True)
    return float((np.abs(mine - found) / np.maximum(size, 1e-30)).max())


def solve(device: Any, iterations: int) -> None:
    config, game = configured(SIZES["two sizes"], "spread_5")
    spec = game.engine(config.card_model(), threads=8)
    found = {}
    for name, games in (
        ("processor", MatrixFlops(spec.trees(), spec._cards(), spec.model, 8)),
        ("GPU", engine(device, config, game)),
    ):
        solver = UnifiedSolver(game, games, config.schedule(), config.batches())
        start = time.perf_counter()
        solver.train_batch(iterations)
        seconds = time.perf_counter() - start
        figures = solver.figures()
        found[name] = figures
        say(
            f"five flops, {iterations} iterations, {name}",
            f"{figures.exploitability:.4f} mbb/hand, values {figures.values}, {seconds:.2f} s",
        )


def bytes_and_operations(games: CudaMatrixFlops) -> tuple[float, float]:
    """Of an iteration: what is stored moves five times by halves; showdowns are products."""
    shows = 0
    for player in Player:
        pieces = games._buffers.kept[f"pieces.{player}"]
        found = np.zeros(pieces.shape, np.int32)
        games.device.read(pieces, found)
        shows += int(found[:, 13].sum())
        rows = found[:, 2] + found[:, 3]
        say(
            f"  {player.name}: pieces, rows, showdowns",
            f"{len(found)}, {rows.sum()} (most {rows.max()}), {found[:, 13].sum()} "
            f"(most {found[:, 13].max()})",
        )
    length = games.cards.lengths[0]
    return 2.5 * games.memory_bytes, 2.0 * shows * length * length * games.flops


def launch_chunks(games: CudaMatrixFlops, player: Player, launch: Any) -> None:
    """One kernel on all flops."""
    kernel, blocks, threads, shared = launch
    for chunk, argument in enumerate(games._arguments[player, UPDATE]):
        count = min(games._chunk, games.flops - chunk * games._chunk)
        games._kernels.launch(kernel, count * blocks, threads, shared, argument)


def kernels(device: Any, games: CudaMatrixFlops, name: str) -> None:
    import cupy

    total = 0.0
    for player in Player:
        for kernel, blocks, threads, shared in games._launches[player]:
            launch = kernel, blocks, threads, shared
            work = partial(launch_chunks, games, player, launch)
            spent = timed(device._stream, cupy, work)
            total += spent
            say(f"  {name}, {player.name}: {kernel}", f"{spent:.3f} ms ({shared // 1024} KB)")
    moved, operations = bytes_and_operations(games)
    say(
        f"{name}: all launches",
        f"{total:.2f} ms an iteration: {moved / total / 1e9:.2f} TB/s of stored numbers, "
        f"{operations / total / 1e9:.1f} TFLOP/s of showdowns",
    )


def phases(device: Any, games: CudaMatrixFlops, name: str) -> None:
    """`play` without one phase; spoils what is stored."""
    import cupy

    source, kept = matrix_source(), games._kernels
    defines = f"HANDS={games.cards.lengths[0]}", f"PLAYERS={games._launches[0][1][2]}"
    _, blocks, threads, shared = games._launches[0][1]
    argument = games._arguments[Player.OOP, UPDATE][0]
    every: list[tuple[str, tuple[str, ...]]] = [("whole", ())]
    every += [(f"without {one}", (one,)) for one in PHASES]
    for label, gone in every:
        changed = source
        for one in gone:
            changed = changed.replace(f"    {one}(s);\n", "")
        compiled = device.compile(changed, defines)
        count = min(games._chunk, games.flops) * blocks
        work = partial(compiled.launch, "play", count, threads, shared, argument)
        spent = timed(device._stream, cupy, work, 3)
        say(f"  {name}, play: {label}", f"{spent:.3f} ms")
    games._kernels = kept


def speed(device: Any, flops: Any, gpu: bool) -> None:
    for name, sizes in SIZES.items():
        start = time.perf_counter()
        config, game = configured(sizes, flops)
        games = engine(device, config, game)
        text = f"{time.perf_counter() - start:.1f} s, {games.memory_bytes / 1e9:.2f} GB"
        say(f"{name}, {games.flops} flops: built", text)
        reach, every = random_reach(games.pots), np.arange(games.flops)
        pairs, run = np.ones((games.pots, games.flops), bool), parse_schedule("ahead").run(1, 20)
        for _ in range(3):  # the first one compiles, loads and records
            start = time.perf_counter()
            games.iterate(reach, pairs, run)
            spent = (time.perf_counter() - start) / len(run)
        say(f"{name}: iterate", f"{1e3 * spent:.2f} ms an iteration")
        best = np.inf
        for now in run[:6]:
            start = time.perf_counter()
            for player in Player:
                own, other = reach[player], reach[player.opponent]
                games.step(player, own, other, every, [now] * games.flops)
            best = min(best, time.perf_counter() - start)
        say(f"{name}: step", f"{1e3 * best:.2f} ms an iteration, values to the host")
        buffer = device.landing((games.pots, games.flops, 169))
        start = time.perf_counter()
        for _ in range(5):
            games.device.read(games._buffers.kept["out"], buffer.reshape(-1))
        text = f"{200 * (time.perf_counter() - start):.2f} ms for {buffer.nbytes / 1e6:.1f} MB"
        say(f"{name}: values to the host", text)
        if gpu:
            part(f"{name}: kernels", partial(kernels, device, games, name))
        solver = UnifiedSolver(game, games, config.schedule(), config.batches())
        solver.train_batch(2)
        start = time.perf_counter()
        solver.train_batch(10)
        text = f"{100 * (time.perf_counter() - start):.2f} ms an iteration"
        say(f"{name}: solver, all in", text)
        start = time.perf_counter()
        figures = solver.figures()
        text = f"{time.perf_counter() - start:.2f} s, {figures.exploitability:.2f} mbb/hand"
        say(f"{name}: exploitability after {solver.iterations}", text)
        start = time.perf_counter()
        games.regret_sums(every)
        say(f"{name}: sums of regrets", f"{1e3 * (time.perf_counter() - start):.1f} ms")
        if gpu and name == "two sizes":
            part(f"{name}: phases", partial(phases, device, games, name))


def main() -> None:
    """All parts, and the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flops", default="all")
    parser.add_argument("--parts", default="check,solve,speed")
    parser.add_argument("--host", action="store_true")
    given = parser.parse_args()
    if given.host:
        from builders.host_device import HostDevice

        device: Any = HostDevice()
    else:
        from allstreets.kernels.cuda.device import open_device

        device = open_device("cuda")
    say("device", device.name)
    few = "spread_5" if given.host else "spread_25"
    parts = given.parts.split(",")
    if "check" in parts:
        part("check", lambda: check(device, few))
    if "solve" in parts:
        part("solve", lambda: solve(device, 10 if given.host else 300))
    if "speed" in parts:
        if given.flops == "all" and not given.host:
            part("table", lambda: print(build_flop_table(os.cpu_count())))
        part("speed", lambda: speed(device, few if given.host else given.flops, not given.host))
    print("\n".join(f"{name:44} {text}" for name, text in ROWS))


if __name__ == "__main__":
    main()
