"""Real boards beside hand classes and exact games: an iteration, and what its products alone take.

    python benchmarks/bench_boards.py

20 bb, one size, seven pots, one flop for each thread. The products are those of the K × K matrices
of all river boards, by BLAS on one dense block: the floor, without moving combos into groups.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

from typing import Any

import numpy as np
from bench_unified import ONE_SIZE, iteration_seconds
from report import RESULTS, Row, best_seconds, write_rows

from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.boards.subgame import BoardsSubgame
from allstreets.jobs import UnifiedConfig
from allstreets.solvers import WholeGameSolver

FLOPS = ("Ks8s3d", "Qh9d4c")


def solver(flops: int, threads: int, cards: Any, groups: int | None = None) -> WholeGameSolver:
    """A solver of the whole game on one or two flops."""
    config = UnifiedConfig(
        type="unified_cfr",
        stack_depth=20,
        postflop_bet_sizes=ONE_SIZE,
        flops=FLOPS[:flops],
        cards=cards,
        river_groups=groups,
        precision="float16",
    )
    game = config.game()
    ranges = np.ones((2, len(game.pots), 169))
    spec = game.engine(config.card_model(), threads=threads, ranges=ranges)
    return WholeGameSolver(game, game.build(spec), config.schedule())


def products_seconds(games: BoardsEngine, groups: int) -> float:
    """Seconds of the products of an iteration on one core, by BLAS."""
    boards = sum(cards.river_boards for cards in games.cards)
    rows = 0
    for row in games.subgames:
        assert isinstance(row[0], BoardsSubgame)
        rows += sum(len(one.shows.reach) + len(one.folds.reach) for one in row[0].layout.products)
    matrix = np.random.default_rng(1).random((groups, groups), np.float32)
    reach = np.ones((rows, groups), np.float32)
    return best_seconds(lambda: reach @ matrix, 15) * boards


def main() -> None:
    """Measure and write down."""
    rows = []
    for groups in (32, 64):
        one = solver(1, 1, "boards", groups)
        assert isinstance(one.engine, BoardsEngine)
        seconds = iteration_seconds(one, 3)
        floor = products_seconds(one.engine, groups)
        size = one.memory_bytes / 1e6
        remark = f"{size:.0f} MB, products alone by BLAS {1e3 * floor:.0f} ms"
        rows.append(Row(f"boards, {groups} groups, 1 flop, 1 thread", seconds, "s", remark))
        two = iteration_seconds(solver(2, 2, "boards", groups), 3)
        rows.append(Row(f"boards, {groups} groups, 2 flops, 2 threads", two, "s"))
    for cards in ("classes", "exact"):
        found = solver(1, 1, cards)
        seconds = iteration_seconds(found, 3)
        size = found.memory_bytes / 1e6
        rows.append(Row(f"{cards}, 1 flop, 1 thread", seconds, "s", f"{size:.1f} MB"))
    for row in rows:
        print(f"{row.name:<40} {row.value:>9.4f} {row.unit}  {row.remark}")
    write_rows(RESULTS / "boards.json", rows)


if __name__ == "__main__":
    main()
