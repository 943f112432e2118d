"""The whole game with cards: classes and buckets on a GPU: is it right, and how long does it take.

    python3 benchmarks/bench_gpu_matrix.py [--cards classes,buckets] [--flops all]
        [--parts check,solve,speed,stream] [--buckets 20/500/500] [--host]

20 bb, one and two bet sizes, one raise a street, all 1,755 flops (buckets: as many as `--flops`
says for classes, and spread_100 where that is all: finding buckets takes processors half a second a
flop). Every part stands for itself: one that fails says so and the others continue. The table comes
last.

- check: an iteration, a best response and an evaluation beside the engine for processors, 20 flops
- solve: five flops, 300 iterations by both engines: exploitability
- kernels: milliseconds of each launch of an iteration by events, and of `play` without one phase
- iterate, step, solver: an iteration, recorded; with reach and sums over flops through the host;
  with the betting before the flop
- apart: an iteration of the solver in milliseconds of kernels, copies and host, each waited for
- stream: the same iteration when three quarters of the flops come and go over PCIe, beside one
  whose flops all stay, and whether the bits are the same

`--host` runs on a processor what can run there, with few flops: a test of this script.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("", "tests")]

from gpu_table import ROWS, TimedDevice, part, random_reach, say, timed

from allstreets.betting import Player
from allstreets.cards import build_flop_table
from allstreets.cfr import parse_schedule
from allstreets.engines.cuda.matrix import CudaMatrixEngine
from allstreets.engines.cuda.matrix_chain import ChainPasses
from allstreets.engines.cuda.matrix_classes import ClassPasses
from allstreets.engines.cuda.programs import source
from allstreets.engines.cuda.residence import Residence, everything_resident, streaming
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.engines.matrix.kernels.layout import UPDATE
from allstreets.engines.spec import EngineSpec
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.solvers.whole_game import WholeGameSolver

SIZES = {"one size": (1.0,), "two sizes": (0.5, 1.0)}
THREADS = 8
PHASES = ("fetch_piece", "enter_piece", "add_folds", "add_showdowns", "leave_piece")


@dataclass(frozen=True)
class Cards:
    """The measured values."""

    kind: str
    buckets: str

    def configured(self, sizes: tuple[float, ...], flops: Any) -> tuple[UnifiedConfig, Any]:
        given: dict[str, Any] = {"postflop_bet_sizes": sizes, "flops": flops, "cards": self.kind}
        if self.kind == "buckets":
            for street, count in zip(
                ("flop", "turn", "river"), self.buckets.split("/"), strict=True
            ):
                given[f"num_hand_buckets_{street}"] = int(count)
        config = UnifiedConfig(type="unified_cfr", **given)
        return config, config.game()


@cache
def known_cards(spec: EngineSpec) -> Any:
    return spec.matrix_cards()


def engine(
    device: Any, config: UnifiedConfig, game: Any, where: Residence | None = None
) -> CudaMatrixEngine:
    spec = game.engine(config.card_model(), threads=THREADS)
    cards = known_cards(spec)
    return CudaMatrixEngine(spec.trees(), cards, device, spec.model, THREADS, where=where)


def check(device: Any, cards: Cards, flops: Any) -> None:
    for name, sizes in SIZES.items():
        config, game = cards.configured(sizes, flops)
        spec = game.engine(config.card_model(), threads=THREADS)
        here = MatrixEngine(spec.trees(), known_cards(spec), spec.model, THREADS)
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
        say(
            f"check, {cards.kind}, {name}, {here.flops} flops",
            f"{text}, regrets {regrets:.1e}: {fine}",
        )
        again = engine(device, config, game)
        again.restore({key: array.copy() for key, array in there.state().items()})
        one, two = (
            games.step(Player.OOP, reach[0], reach[1], every, now) for games in (there, again)
        )
        say(f"repeats bit for bit, {name}", str(np.array_equal(one, two)))


def distance(mine: Any, found: Any) -> float:
    """The largest difference beside the largest number of its pot and flop."""
    mine, found = np.asarray(mine), np.asarray(found)
    size = np.abs(mine).max(axis=-1, keepdims=True)
    return float((np.abs(mine - found) / np.maximum(size, 1e-30)).max())


def solve(device: Any, cards: Cards, iterations: int) -> None:
    config, game = cards.configured(SIZES["two sizes"], "spread_5")
    spec = game.engine(config.card_model(), threads=THREADS)
    found = {}
    for name, games in (
        ("processor", MatrixEngine(spec.trees(), known_cards(spec), spec.model, THREADS)),
        ("GPU", engine(device, config, game)),
    ):
        solver = WholeGameSolver(game, games, config.schedule(), config.batches())
        start = time.perf_counter()
        solver.train_batch(iterations)
        seconds = time.perf_counter() - start
        figures = solver.figures()
        found[name] = figures
        say(
            f"{cards.kind}, five flops, {iterations} iterations, {name}",
            f"{figures.exploitability:.4f} mbb/hand, values {figures.values}, {seconds:.2f} s",
        )


def operations(games: CudaMatrixEngine) -> float:
    """Operations of the products of an iteration, two for each multiplication and addition."""
    passes, lengths, total = games._passes, games.cards.lengths, 0
    if isinstance(passes, ClassPasses):
        for player, lists in zip(Player, passes.lists, strict=True):
            shows, rows = lists.pieces[:, 13], lists.pieces[:, 2] + lists.pieces[:, 3]
            say(
                f"  {player.name}: pieces, rows, showdowns",
                f"{len(shows)}, {rows.sum()} (most {rows.max()}), {shows.sum()} "
                f"(most {shows.max()})",
            )
            total += int(shows.sum()) * lengths[0] ** 2
    else:
        assert isinstance(passes, ChainPasses)
        for player, stages in zip(Player, passes.betting, strict=True):
            for number, stage in enumerate(stages):
                text = f"{stage.reach_rows}, {len(stage.show_rows)}, {len(stage.exit_rows)}"
                say(f"  {player.name}, stage {number}: rows, showdowns, exits", text)
                total += len(stage.show_rows) * lengths[number] ** 2
                if stage.exit_rows:
                    total += 2 * len(stage.exit_rows) * lengths[number] * lengths[number + 1]
    return 2.0 * total * games.flops


class Watched:
    """Kernels that are timed one by one, by events."""

    def __init__(self, device: Any, kernels: Any) -> None:
        self._device, self._kernels = device, kernels
        self.spent: dict[str, float] = {}

    def launch(self, name: str, *given: Any) -> None:
        """Run a kernel, and the same again."""
        import cupy

        work = partial(self._kernels.launch, name, *given)
        self.spent[name] = self.spent.get(name, 0.0) + timed(self._device._stream, cupy, work, 3)


def kernels(device: Any, games: CudaMatrixEngine, name: str) -> None:
    """The time of each launch of an iteration; the stored numbers are spoilt."""
    passes: Any = games._passes
    compiled, total = passes.kernels, 0.0
    for player in Player:
        watched = passes.kernels = Watched(device, compiled)
        for number, flops in enumerate(games._store.parts):
            passes.launch(player, UPDATE, number, len(flops))
        passes.kernels = compiled
        total += sum(watched.spent.values())
        for kernel, spent in watched.spent.items():
            say(f"  {name}, {player.name}: {kernel}", f"{spent:.3f} ms")
    moved = 2.5 * games.memory_bytes
    say(
        f"{name}: all launches",
        f"{total:.2f} ms an iteration: {moved / total / 1e9:.2f} TB/s of stored numbers, "
        f"{operations(games) / total / 1e9:.1f} TFLOP/s of products",
    )


def phases(device: Any, games: CudaMatrixEngine, name: str) -> None:
    """Time `play` without one phase; stored numbers are spoiled."""
    import cupy

    passes = games._passes
    assert isinstance(passes, ClassPasses)
    play = passes.launches[Player.OOP, UPDATE, 0][1]
    defines = f"HANDS={games.cards.lengths[0]}", f"PLAYERS={play.threads}"
    every: list[tuple[str, tuple[str, ...]]] = [("whole", ())]
    every += [(f"without {one}", (one,)) for one in PHASES]
    for label, gone in every:
        changed = source("matrix_classes.cu")
        for one in gone:
            changed = changed.replace(f"    {one}(s);\n", "")
        compiled = device.compile(changed, defines)
        count = len(games._store.parts[0]) * play.tasks
        work = partial(compiled.launch, "play", count, play.threads, play.shared, play.argument)
        spent = timed(device._stream, cupy, work, 3)
        say(f"  {name}, play: {label}", f"{spent:.3f} ms")


def apart(device: Any, config: UnifiedConfig, game: Any, name: str) -> None:
    """An iteration of the solver, taken apart."""
    watched: Any = TimedDevice(device)
    solver = WholeGameSolver(
        game, engine(watched, config, game), config.schedule(), config.batches()
    )
    solver.train_batch(3)
    watched.start()
    start, count = time.perf_counter(), 10
    solver.train_batch(count)
    whole = time.perf_counter() - start
    parts = {**watched.spent, "host": whole - sum(watched.spent.values())}
    each = {kind: calls // count for kind, calls in watched.calls.items()}
    say(
        f"{name}: an iteration taken apart",
        ", ".join(f"{kind} {1e3 * spent / count:.2f} ms" for kind, spent in parts.items())
        + f" ({each['kernels']} launches, {each['copies']} copies)",
    )


def stream(device: Any, cards: Cards, flops: Any) -> None:
    """Flops that come and go beside the same that stay."""
    for name, sizes in SIZES.items():
        config, game = cards.configured(sizes, flops)
        count = len(game.flops.flops)
        size = max(1, min(count // 12, 64))
        found = []
        for label, where in (
            ("all stay", everything_resident(count)),
            ("a quarter stays", Residence(count, count // 4, size)),
        ):
            games = engine(device, config, game, where)
            solver = WholeGameSolver(game, games, config.schedule(), config.batches())
            solver.train_batch(2)
            start, iterations = time.perf_counter(), 6
            solver.train_batch(iterations)
            spent = (time.perf_counter() - start) / iterations
            text = f"{1e3 * spent:.2f} ms an iteration"
            told = streaming(where, games.memory_bytes)
            if told is not None:
                text += (
                    f", {told.copied_bytes / 1e9:.2f} GB: {told.copied_bytes / spent / 1e9:.1f} "
                    f"GB/s both ways; expected at least {1e3 * told.seconds:.2f} ms"
                )
            say(f"stream, {cards.kind}, {name}: {label}", text)
            found.append(solver.preflop.state())
            del games, solver
        same = all(np.array_equal(found[0][key], found[1][key]) for key in found[0])
        say(f"stream, {cards.kind}, {name}: the same bit for bit", str(same))


def speed(device: Any, cards: Cards, flops: Any, gpu: bool) -> None:
    for sizes_name, sizes in SIZES.items():
        name = f"{cards.kind}, {sizes_name}"
        start = time.perf_counter()
        config, game = cards.configured(sizes, flops)
        games = engine(device, config, game)
        text = f"{time.perf_counter() - start:.1f} s, {games.memory_bytes / 1e9:.2f} GB"
        say(f"{name}, {games.flops} flops: built", text)
        reach, every = random_reach(games.pots), np.arange(games.flops)
        weights = np.ones(games.flops)
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
                found: Any = games.step(player, own, other, every, [now] * games.flops)
                found.weighted(weights)
            best = min(best, time.perf_counter() - start)
        say(f"{name}: step", f"{1e3 * best:.2f} ms an iteration, sums over flops to the host")
        start = time.perf_counter()
        size = np.asarray(found).nbytes
        text = f"{1e3 * (time.perf_counter() - start):.2f} ms for {size / 1e6:.1f} MB"
        say(f"{name}: values to the host, once", text)
        if gpu:
            part(f"{name}: kernels", partial(kernels, device, games, name))
        solver = WholeGameSolver(game, games, config.schedule(), config.batches())
        solver.train_batch(2)
        start = time.perf_counter()
        solver.train_batch(10)
        text = f"{100 * (time.perf_counter() - start):.2f} ms an iteration"
        say(f"{name}: solver, all in", text)
        part(f"{name}: apart", partial(apart, device, config, game, name))
        start = time.perf_counter()
        figures = solver.figures()
        text = f"{time.perf_counter() - start:.2f} s, {figures.exploitability:.2f} mbb/hand"
        say(f"{name}: exploitability after {solver.iterations}", text)
        start = time.perf_counter()
        games.regret_sums(every)
        say(f"{name}: sums of regrets", f"{1e3 * (time.perf_counter() - start):.1f} ms")
        if gpu and cards.kind == "classes" and sizes_name == "two sizes":
            part(f"{name}: phases", partial(phases, device, games, name))


def main() -> None:
    """All parts, and the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cards", default="classes,buckets")
    parser.add_argument("--buckets", default="20/500/500")
    parser.add_argument("--flops", default="all")
    parser.add_argument("--parts", default="check,solve,speed,stream")
    parser.add_argument("--host", action="store_true")
    given = parser.parse_args()
    if given.host:
        from builders.host_device import HostDevice

        device: Any = HostDevice()
    else:
        from allstreets.engines.device import open_device

        device = open_device("cuda")
    say("device", device.name)
    few = "spread_5" if given.host else "spread_25"
    parts = given.parts.split(",")
    if given.flops == "all" and not given.host and "classes" in given.cards:
        part("table", lambda: print(build_flop_table(os.cpu_count())))
    for kind in given.cards.split(","):
        cards = Cards(kind, "4/16/20" if given.host else given.buckets)
        many = "spread_100" if kind == "buckets" and given.flops == "all" else given.flops
        works: dict[str, Callable[[], None]] = {
            "check": partial(check, device, cards, few),
            "solve": partial(solve, device, cards, 10 if given.host else 300),
            "speed": partial(speed, device, cards, few if given.host else many, not given.host),
            "stream": partial(stream, device, cards, "spread_15" if given.host else many),
        }
        for name, work in works.items():
            if name in parts:
                part(f"{kind}: {name}", work)
    print("\n".join(f"{name:44} {text}" for name, text in ROWS))


if __name__ == "__main__":
    main()
