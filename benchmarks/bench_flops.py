"""Models of single flops: how fast an iteration is, and how long solutions take.

    python benchmarks/bench_flops.py [--seconds 5] [--skip-large] [--all] [--threads 2]

1. One flop (AhKd7s), sizes 0.5 and 1.0, one raise a street, SPR 3.5, full ranges: time to 0.1 % of
   the pot; an iteration beside the time of its matrix products alone, which is what NumPy's BLAS
   takes for as many rows on one thread in the same run.
2. A large tree: seconds an iteration. An earlier implementation in Rust took 58.6 s for one
   iteration of a tree of 39,621 nodes on its machine.
3. Sampled deals against all hands at once: exploitability and game value after the same time.
4. With --all: every flop at preset exhaustive_fast, and the memory of the process.

Writes benchmarks/results/flops.json.
"""

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from report import Row, best_seconds, write_report

from allstreets.betting import Player, Street, same_sizes
from allstreets.cards import parse_flop
from allstreets.cfr.schedules import linear
from allstreets.solvers import FlopEnds, FlopGame, FlopModel, FlopSolver, flop_game
from allstreets.training import TrainConfig, check_config
from allstreets.training.postflop_run import PostflopJob

FLOP = parse_flop("AhKd7s").flop
LARGE = 11.0, "33%,50%,75%,100%", 1  # 40,557 nodes
RUST_SECONDS, RUST_NODES = 58.6, 39_621
HANDS = 169


def iteration_seconds(game: FlopGame, iterations: int, rounds: int) -> tuple[float, FlopSolver]:
    """Seconds an iteration, the best of some rounds, after the first ones."""
    solver = FlopSolver(FLOP, game, FlopModel())
    times: list[float] = []
    first = 1
    for number in range(rounds + 1):
        every = solver.model.schedule.run(first, iterations)
        first += iterations
        begun = time.perf_counter()
        solver.trainer.train(every)
        if number:  # the first round waits for memory and perhaps for the compiler
            times.append((time.perf_counter() - begun) / iterations)
    return min(times), solver


def products_seconds(solver: FlopSolver) -> tuple[float, float]:
    """Seconds of the matrix products of an iteration: folds and showdowns, and showdowns alone."""
    plans = solver.judge.game.plans
    matrix = np.random.default_rng(1).random((HANDS, HANDS), np.float32)

    def product(rows: int) -> float:
        reach = np.random.default_rng(2).random((rows, HANDS), np.float32)
        return best_seconds(lambda: reach @ matrix, 15)

    shows = sum(product(len(plans[player][0].show_reach)) for player in Player)
    folds = sum(product(len(plans[player][0].fold_reach)) for player in Player)
    return folds + shows, shows


def small_rows() -> list[Row]:
    """The usual tree."""
    game = flop_game(3.5)
    seconds, solver = iteration_seconds(game, 50, 8)
    both, shows = products_seconds(solver)
    rows = [
        Row("usual tree", game.tree.node_count, "nodes", f"{game.slots} actions, SPR 3.5"),
        Row("an iteration", 1e3 * seconds, "ms", "one thread, both players"),
        Row("its products, folds and showdowns", 1e3 * both, "ms",
            f"iteration / products = {seconds / both:.2f}"),
        Row("its products, showdowns alone", 1e3 * shows, "ms",
            f"iteration / products = {seconds / shows:.2f}"),
    ]  # fmt: skip
    for target in (0.01, 0.003, 0.001):
        begun = time.perf_counter()
        solver = FlopSolver(FLOP, game, FlopModel())
        setup = time.perf_counter() - begun
        for _ in solver.run(FlopEnds(5000, target)):
            pass
        trained = time.perf_counter() - begun
        found = solver.result()
        rows.append(
            Row(
                f"to {100 * target:g} % of the pot",
                trained,
                "s",
                f"{found.iterations} iterations, checks included; setup {setup:.3f} s of it; "
                f"reached {100 * found.exploitability:.3f} %",
            )
        )
    return rows


def large_rows() -> list[Row]:
    """A tree about as large as that of the earlier implementation."""
    spr, sizes, raises = LARGE
    game = flop_game(spr, same_sizes(Street.FLOP, sizes, sizes), raises)
    seconds, solver = iteration_seconds(game, 5, 3)
    both, _ = products_seconds(solver)
    return [
        Row("large tree", game.tree.node_count, "nodes", f"{sizes}, SPR {spr:g}"),
        Row("large tree: an iteration", seconds, "s",
            f"{RUST_SECONDS / seconds:,.0f} times faster than {RUST_SECONDS} s for "
            f"{RUST_NODES:,} nodes (another machine)"),
        Row("large tree: its products", both, "s", f"iteration / products = {seconds / both:.2f}"),
        Row("large tree: regrets and strategies", solver.judge.game.memory_bytes / 1e6, "MB"),
    ]  # fmt: skip


def sampled_rows(seconds: float) -> list[Row]:
    """Sampling against all hands at once, for the same time."""
    game = flop_game(3.5)
    rows = []
    for model in (FlopModel(), FlopModel("mccfr", schedule=linear())):
        solver = FlopSolver(FLOP, game, model)
        begun = time.perf_counter()
        steps = 10 if model.solve_type == "mccfr" else 100
        for _ in solver.run(FlopEnds(10**7, 0.0, check_interval=steps)):
            if time.perf_counter() - begun >= seconds:
                break
        solver.trainer.inform()
        found = solver.exploitability()
        ones = np.ones(HANDS)
        pots = float(solver.judge.stages[0].pairs.sum()) * game.tree.pot
        value = 0.5 + float(solver.judge.evaluate(Player.OOP, ones).sum()) / pots
        rows.append(
            Row(
                f"{model.solve_type} after {seconds:g} s",
                100 * found,
                "% of pot",
                f"{solver.iterations} iterations, OOP's value {value:.5f} pots",
            )
        )
    return rows


def all_rows(threads: int) -> list[Row]:
    """Every flop at the quickest preset of the exhaustive model."""
    config = check_config({"postflop_model": {"preset": "exhaustive_fast"}}, TrainConfig)
    assert config.postflop_model is not None
    with tempfile.TemporaryDirectory() as folder:
        job = PostflopJob(config.postflop_model, Path(folder) / "models", threads=threads)
        guess = job.estimate()
        begun = time.perf_counter()
        outcome = job.run()
        seconds = time.perf_counter() - begun
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    figures = outcome.figures()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        Row(f"all flops, {threads} threads", seconds, "s",
            f"{figures['solved']} solved, {len(outcome.faults)} failed, at most "
            f"{guess.seconds:.0f} s expected"),
        Row("all flops: exploitability, mean", 100 * figures["exploitability_mean"], "% of pot",
            f"at most {100 * figures['exploitability_max']:.2f} %"),
        Row("all flops: iterations, mean", figures["iterations_mean"], ""),
        Row("all flops: peak of the process", peak, "MiB"),
        Row("all flops: folder", size / 1e6, "MB"),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of the sampled comparison")
    parser.add_argument("--skip-large", action="store_true", help="leave the large tree out")
    parser.add_argument("--all", action="store_true", help="solve every flop (minutes)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="for --all")
    options = parser.parse_args()
    rows = small_rows()
    if not options.skip_large:
        rows += large_rows()
    rows += sampled_rows(options.seconds)
    if options.all:
        rows += all_rows(options.threads)
    write_report("flops", rows)


if __name__ == "__main__":
    main()
