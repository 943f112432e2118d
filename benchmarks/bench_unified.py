"""The whole game: seconds per iteration beside its matrix products, cost by flops and threads.

    python benchmarks/bench_unified.py                      iterations, flops, threads
    python benchmarks/bench_unified.py --exact              real combos on three flops too (minutes)
    python benchmarks/bench_unified.py --minutes 30         all flops for so long: how good it gets

20 bb, raises to 2.5 times, at most four; after the flop one raise a street. Writes
benchmarks/results/unified.json, and with --minutes benchmarks/results/unified_long.json.
"""

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import gc
import resource
import time
from dataclasses import replace
from typing import Any

import numpy as np
from report import Row, best_seconds, write_report

from allstreets.betting import Player
from allstreets.cards import FlopSet, build_flop_table
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.solvers.whole_game import WholeGameSolver

HANDS = 169
ONE_SIZE = (1.0,)
TWO_SIZES = (0.5, 1.0)


def make_solver(threads: int = 2, flop_set: FlopSet | None = None, **keys: Any) -> WholeGameSolver:
    """The solver of a config with these keys, and with other flops than it names."""
    config = UnifiedConfig.model_validate({"type": "unified_cfr", "cards": "classes", **keys})
    game = config.game() if flop_set is None else replace(config.game(), flops=flop_set)
    games = game.build(game.engine(config.card_model(), threads=threads, device=config.device))
    return WholeGameSolver(
        game,
        games,
        config.schedule(),
        config.batches(),
        config.pruning(),
        config.drop_unplayed_every,
    )


def iteration_seconds(solver: WholeGameSolver, iterations: int, rounds: int = 3) -> float:
    """Seconds per iteration, the best of some rounds, after the first ones."""
    solver.train_batch(2)
    return best_seconds(lambda: solver.train_batch(iterations), rounds) / iterations


def products_seconds(solver: WholeGameSolver, threads: int) -> tuple[float, float]:
    """Seconds of an iteration's products by BLAS: folds and showdowns, and showdowns alone."""
    games = solver.engine
    assert isinstance(games, MatrixEngine)
    matrix = np.random.default_rng(1).random((HANDS, HANDS), np.float32)
    rows = [0, 0]
    for game in games.games:
        for player in Player:
            rows[0] += len(game.plans[player][0].fold_reach)
            rows[1] += len(game.plans[player][0].show_reach)

    def product(count: int) -> float:
        reach = np.ones((count, HANDS), np.float32)
        return best_seconds(lambda: reach @ matrix, 15)

    folds, shows = product(rows[0]), product(rows[1])
    share = games.flops / threads
    return (folds + shows) * share, shows * share


def peak() -> float:
    """Gigabytes that the process has taken at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def cost_rows() -> list[Row]:
    """One size: by number of flops, by threads, and beside the products."""
    rows = []
    for name, flops in (("100", "spread_100"), ("400", "spread_400"), ("all 1,755", "all")):
        solver = make_solver(2, flops=flops, postflop_bet_sizes=ONE_SIZE)
        count = solver.engine.flops
        seconds = iteration_seconds(solver, max(2, 2000 // count))
        both, shows = products_seconds(solver, 2)
        rows.append(
            Row(
                f"one size, {name} flops, 2 threads",
                seconds,
                "s/iteration",
                f"{1e3 * seconds / count:.3f} ms a flop; {seconds / both:.2f} of its products "
                f"({both:.3f} s), {seconds / shows:.2f} of the showdowns' alone; "
                f"{solver.memory_bytes / 1e9:.2f} GB, process {peak():.1f} GB",
            )
        )
        del solver
        gc.collect()
    for threads in (1, 2):
        solver = make_solver(threads, flops="spread_400", postflop_bet_sizes=ONE_SIZE)
        seconds = iteration_seconds(solver, 5)
        rows.append(Row(f"one size, 400 flops, {threads} threads", seconds, "s/iteration"))
        del solver
        gc.collect()
    return rows


def full_rows() -> list[Row]:
    """Two sizes on all flops: every flop in every iteration, and batches of 50."""
    solver = make_solver(2, flops="all", postflop_bet_sizes=TWO_SIZES)
    seconds = iteration_seconds(solver, 2, 2)
    both, shows = products_seconds(solver, 2)
    rows = [
        Row(
            "two sizes, all 1,755 flops, 2 threads",
            seconds,
            "s/iteration",
            f"{seconds / both:.2f} of its products ({both:.2f} s), {seconds / shows:.2f} of the "
            f"showdowns' alone; {solver.memory_bytes / 1e9:.2f} GB, process {peak():.1f} GB",
        )
    ]
    del solver
    gc.collect()
    keys: dict[str, Any] = {
        "flop_batch_size": 50,
        "iterations_per_batch": 200,
        "dcfr_alpha": 1.5,
        "dcfr_beta": 0.5,
        "dcfr_gamma": 2.0,
        "dcfr_warmup": 30,
        "prune_threshold": -1000.0,
        "prune_warmup": 100,
        "explore_interval": 50,
    }
    batches = make_solver(2, flops="all", postflop_bet_sizes=TWO_SIZES, **keys)
    seconds = iteration_seconds(batches, 10)
    rows.append(Row("two sizes, batches of 50 flops, 2 threads", seconds, "s/iteration"))
    return rows


def small_truth_rows() -> list[Row]:
    """Five flops, one size: the exploitability goes below 1 mbb/hand and on."""
    solver = make_solver(2, flops="spread_5", postflop_bet_sizes=ONE_SIZE)
    rows = []
    start = time.perf_counter()
    for iterations in (250, 500, 1000, 2000, 4000):
        solver.train_batch(iterations - solver.iterations)
        reached = solver.exploitability()
        assert reached is not None
        passed = time.perf_counter() - start
        remark = f"exploitability, {passed:.1f} s"
        rows.append(Row(f"five flops, {iterations} iterations", reached, "mbb/hand", remark))
    return rows


def exact_rows() -> list[Row]:
    """Real combos on three flops until 0.5 % of the mean pot."""
    start = time.perf_counter()
    solver = make_solver(
        2,
        cards="exact",
        precision="float16",
        stack_depth=8.0,
        raise_cap=2,
        postflop_bet_sizes=ONE_SIZE,
        max_raises_per_street=0,
        flops=("Ks7h2d", "9s8s5h", "QsQh6s"),
    )
    built = time.perf_counter() - start
    reached = np.inf
    while reached > 0.5 and solver.iterations < 300:
        solver.train_batch(20)
        figures = solver.figures()
        assert figures.flop_exploitability is not None
        reached = float(figures.flop_exploitability @ figures.flop_shares)
    return [
        Row(
            "exact, 3 flops, 8 bb",
            reached,
            "% of pot",
            f"{solver.iterations} iterations, {time.perf_counter() - start:.0f} s, of which "
            f"{built:.0f} s to build; whole game {figures.exploitability:.2f} mbb/hand; "
            f"{solver.memory_bytes / 1e9:.2f} GB, process {peak():.1f} GB",
        )
    ]


def long_rows(minutes: float) -> list[Row]:
    """All flops, one size, for so long."""
    solver = make_solver(2, flops="all", postflop_bet_sizes=ONE_SIZE)
    rows: list[Row] = []
    start, spent, due = time.perf_counter(), 0.0, 30.0
    while spent < 60 * minutes:
        solver.train_batch(10)
        spent = time.perf_counter() - start
        if spent >= due or spent >= 60 * minutes:
            reached = solver.exploitability()
            assert reached is not None
            remark = f"exploitability after {solver.iterations:,} iterations"
            rows.append(Row(f"{spent / 60:.1f} minutes", reached, "mbb/hand", remark))
            print(rows[-1], flush=True)
            due *= 2 if due < 480 else 1.5
    figures = solver.figures()
    assert figures.values is not None
    rows.append(Row("value for the small blind", figures.values[1], "mbb/hand"))
    rows.append(Row("process", peak(), "GB"))
    return rows


def main() -> None:
    """Run the requested parts and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--exact", action="store_true", help="real combos on three flops too")
    arguments = parser.parse_args()
    build_flop_table()
    if arguments.minutes:
        write_report("unified_long", long_rows(arguments.minutes))
        return
    exact = exact_rows() if arguments.exact else []
    write_report("unified", small_truth_rows() + exact + cost_rows() + full_rows())


if __name__ == "__main__":
    main()
