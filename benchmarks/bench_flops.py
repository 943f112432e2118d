"""Models of single flops: how fast an iteration is, and how long solutions take.

    python benchmarks/bench_flops.py [--seconds 5] [--skip-large] [--all] [--threads 2]

1. One flop (AhKd7s), sizes 0.5 and 1.0, one raise a street, SPR 3.5, full ranges: time to 0.1 % of
   the pot; an iteration beside the time of its matrix products alone, which is what NumPy's BLAS
   takes for as many rows on one thread in the same run.
2. A large tree: seconds per iteration. An earlier implementation in Rust took 58.6 s for one
   iteration of a tree of 39,621 nodes on its machine.
3. Sampled deals against all hands at once: exploitability and game value after the same time.
4. With --all: every flop at preset classes_fast, and the memory of the process.

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
from allstreets.cards.flop_sets import named_flops
from allstreets.cfr.schedules import linear, tuned
from allstreets.engines.card_model import CLASSES, CardModel
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.engines.spec import EngineSpec
from allstreets.games.whole_game import PotGame, pot_at
from allstreets.jobs import TrainConfig, check_config
from allstreets.jobs.flops import plan_flops
from allstreets.solvers import FlopsSolver, FlopTargets

FLOPS = named_flops(["AhKd7s"])
LARGE = 11.0, "33%,50%,75%,100%", 1  # 40,557 nodes
RUST_SECONDS, RUST_NODES = 58.6, 39_621
HANDS = 169


def make_solver(
    pot: PotGame, target: float = 0.0, interval: int = 10**7, model: CardModel = CLASSES
) -> FlopsSolver:
    """A fresh solver of one pot on the flop."""
    games = EngineSpec((pot.rules,), FLOPS.flops, model).build([(pot.tree, pot.payoffs)])
    schedule = linear() if model.kind == "sampled" else tuned()
    return FlopsSolver([pot], FLOPS, games, schedule, FlopTargets(target, check_interval=interval))


def iteration_seconds(pot: PotGame, iterations: int, rounds: int) -> tuple[float, FlopsSolver]:
    """Seconds per iteration, the best of some rounds, after the first ones."""
    solver = make_solver(pot)
    times: list[float] = []
    for number in range(rounds + 1):
        begun = time.perf_counter()
        solver.train_batch(iterations)
        if number:  # the first round waits for memory and perhaps for the compiler
            times.append((time.perf_counter() - begun) / iterations)
    return min(times), solver


def products_seconds(solver: FlopsSolver) -> tuple[float, float]:
    """Seconds of the matrix products of an iteration: folds and showdowns, and showdowns alone."""
    assert isinstance(solver.engine, MatrixEngine)
    plans = solver.engine.games[0].plans
    matrix = np.random.default_rng(1).random((HANDS, HANDS), np.float32)

    def product(rows: int) -> float:
        reach = np.random.default_rng(2).random((rows, HANDS), np.float32)
        return best_seconds(lambda: reach @ matrix, 15)

    shows = sum(product(len(plans[player][0].show_reach)) for player in Player)
    folds = sum(product(len(plans[player][0].fold_reach)) for player in Player)
    return folds + shows, shows


def small_rows() -> list[Row]:
    """The usual tree."""
    pot = pot_at(3.5)
    actions = int(pot.tree.child_count[pot.tree.decisions()].sum())
    seconds, solver = iteration_seconds(pot, 50, 8)
    both, shows = products_seconds(solver)
    rows = [
        Row("usual tree", pot.tree.node_count, "nodes", f"{actions} actions, SPR 3.5"),
        Row("an iteration", 1e3 * seconds, "ms", "one thread, both players"),
        Row("its products, folds and showdowns", 1e3 * both, "ms",
            f"iteration / products = {seconds / both:.2f}"),
        Row("its products, showdowns alone", 1e3 * shows, "ms",
            f"iteration / products = {seconds / shows:.2f}"),
    ]  # fmt: skip
    for target in (0.01, 0.003, 0.001):
        begun = time.perf_counter()
        solver = make_solver(pot, target, 25)
        setup = time.perf_counter() - begun
        solver.train_batch(5000)
        trained = time.perf_counter() - begun
        ((found, _),) = solver.results()
        rows.append(
            Row(
                f"to {100 * target:g} % of the pot",
                trained,
                "s",
                f"{found['iterations']} iterations, checks included; setup {setup:.3f} s of it; "
                f"reached {100 * found['exploitability']:.3f} %",
            )
        )
    return rows


def large_rows() -> list[Row]:
    """A tree about as large as that of the earlier implementation."""
    spr, sizes, raises = LARGE
    pot = pot_at(spr, same_sizes(Street.FLOP, sizes, sizes), raises)
    seconds, solver = iteration_seconds(pot, 5, 3)
    both, _ = products_seconds(solver)
    return [
        Row("large tree", pot.tree.node_count, "nodes", f"{sizes}, SPR {spr:g}"),
        Row("large tree: an iteration", seconds, "s",
            f"{RUST_SECONDS / seconds:,.0f} times faster than {RUST_SECONDS} s for "
            f"{RUST_NODES:,} nodes (another machine)"),
        Row("large tree: its products", both, "s", f"iteration / products = {seconds / both:.2f}"),
        Row("large tree: regrets and strategies", solver.memory_bytes / 1e6, "MB"),
    ]  # fmt: skip


def sampled_rows(seconds: float) -> list[Row]:
    """Sampling against all hands at once, for the same time."""
    pot = pot_at(3.5)
    rows = []
    for name, model in (("exhaustive", CLASSES), ("mccfr", CardModel("sampled"))):
        solver = make_solver(pot, model=model)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            solver.train_batch(10 if model.kind == "sampled" else 100)
        ((found, _),) = solver.results()
        rows.append(
            Row(
                f"{name} after {seconds:g} s",
                100 * float(solver.mean_exploitability()[0]),
                "% of pot",
                f"{solver.iterations} iterations, OOP's value {found['ev_oop']:.5f} pots",
            )
        )
    return rows


def all_rows(threads: int) -> list[Row]:
    """Every flop at the quickest preset of the exhaustive model."""
    config = check_config({"postflop_model": {"preset": "classes_fast"}}, TrainConfig)
    assert config.postflop_model is not None
    with tempfile.TemporaryDirectory() as folder:
        job = plan_flops(config.postflop_model, Path(folder) / "models", threads=threads)
        guess = job.estimate(len(job.places))
        begun = time.perf_counter()
        outcome = job.run()
        seconds = time.perf_counter() - begun
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    figures = outcome.to_json()
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
