"""The tables of all flops: the time to count them, and their size on disk.

    python benchmarks/bench_tables.py [--quick]

1. One flop on one thread: the mean of 20 that are spread over all.
2. All 1,755 flops from nothing, into a temporary cache folder, on two threads, and whether they add
   up exactly to the preflop table (skipped with --quick).

Writes benchmarks/results/tables.json.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from report import Row, best_seconds, write_report

from allstreets.cards import FlopTable, all_flops, preflop_matchups
from allstreets.cards.flop_sets import spread_flops
from allstreets.cards.flop_tables import count_margins
from allstreets.cards.hands import HAND_COUNT, HAND_OF_COMBO, disjoint_combos


def flop_rows() -> list[Row]:
    """One flop at a time."""
    flops = spread_flops(20).flops
    count_margins(flops[0].cards)  # compiled before it is timed

    def count(cards: tuple[int, ...]) -> float:
        return best_seconds(lambda: count_margins(cards), 3)

    seconds = [count(flop.cards) for flop in flops]
    return [Row("one flop, 1 thread", 1e3 * float(np.mean(seconds)), "ms", "mean of 20")]


def table_rows() -> list[Row]:
    """All flops from nothing."""
    with tempfile.TemporaryDirectory() as folder:
        table = FlopTable(Path(folder))
        begun = time.perf_counter()
        table.build(2)
        built = time.perf_counter() - begun
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        opened = FlopTable(Path(folder))
        begun = time.perf_counter()
        opened.margins(1000)
        one = time.perf_counter() - begun
        total = np.zeros((HAND_COUNT, HAND_COUNT), np.int64)
        for flop in all_flops():
            total += flop.multiplicity * opened.margins(flop.number).astype(np.int64)
    if not np.array_equal(total, 10 * preflop_margins()):
        raise SystemExit("the flops do not add up to the preflop table")
    return [
        Row("all flops, 2 threads", built, "s", "from nothing; they add up to the preflop table"),
        Row("all flops on disk", size / 1e6, "MB"),
        Row("open and read one flop", 1e3 * one, "ms", "checksum included"),
    ]


def preflop_margins() -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Wins − losses of classes over all boards; every board holds ten flops."""
    counts, fits = preflop_matchups(), disjoint_combos()
    wins = np.where(fits, counts.wins.astype(np.int64), 0)
    net = wins - wins.T
    members = HAND_OF_COMBO[:, None] == np.arange(HAND_COUNT)
    by_row = np.array([net[members[:, hand]].sum(axis=0) for hand in range(HAND_COUNT)])
    found = [by_row[:, members[:, hand]].sum(axis=1) for hand in range(HAND_COUNT)]
    return np.array(found, np.int64).T


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave all flops out")
    rows = flop_rows()
    if not parser.parse_args().quick:
        rows += table_rows()
    write_report("tables", rows)


if __name__ == "__main__":
    main()
