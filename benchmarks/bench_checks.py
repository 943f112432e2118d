"""The checks of a spot: every 10 iterations, every 25, or planned.

    python benchmarks/bench_checks.py [--spots river,turn,flop] [--repeats 5]

Each spot is driven to 0.3 and 0.1 % of the pot on one thread, checks included and set-up not, by
the clock of the processor. The three ways take turns, so that a busy moment hits them all alike,
and the shortest of their times counts. Iterations and checks are the same in every run.
Writes benchmarks/results/checks.json.
"""

import argparse
import gc
import math
import time
from pathlib import Path

from bench_spots import load_spot
from report import Row, write_report

from allstreets.games import Spot
from allstreets.jobs import read_spot
from allstreets.solvers import Checks, Multiples, Planned, SpotSolver, Timer, drive

SAMPLES = Path(__file__).parent.parent / "sample_spots"
TARGETS = (0.003, 0.001)


def find_spot(name: str) -> Spot:
    """A sample spot by the name of its file, or a reference spot."""
    file = SAMPLES / f"{name}.yaml"
    return read_spot(file, {})[1] if file.exists() else load_spot(name)


def measure(spot: Spot, checks: Checks, target: float) -> tuple[float, int, int]:
    """Seconds to the target, iterations, checks."""
    solver = SpotSolver(spot, threads=1)
    solver.exploitability()  # touches memory, and compiles where that was not done yet
    count = 0

    def evaluate() -> float:
        nonlocal count
        count += 1
        return solver.exploitability() / spot.pot

    timer = Timer(clock=time.process_time)
    for _ in drive(solver, evaluate, checks, timer, target=target):
        pass
    return timer.seconds(), solver.iterations, count


def rows_of(name: str, target: float, repeats: int) -> list[Row]:
    """One spot to one target, in all three ways."""
    spot = find_spot(name)
    ways: dict[str, Checks] = {
        "every 10": Multiples(10),
        "every 25": Multiples(25),
        "planned": Planned(target),
    }
    best = dict.fromkeys(ways, math.inf)
    counts: dict[str, tuple[int, int]] = {}
    for _ in range(repeats):
        for way, checks in ways.items():
            seconds, *found = measure(spot, checks, target)
            best[way], counts[way] = min(best[way], seconds), (found[0], found[1])
            gc.collect()
    rows = []
    for way, seconds in best.items():
        iterations, checked = counts[way]
        remark = f"{iterations} iterations, {checked} checks"
        if way != "every 10":
            remark += f"; {seconds / best['every 10']:.2f} of every 10"
        rows.append(Row(f"{name} to {100 * target:g} % of pot, {way}", seconds, "s", remark))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spots", default="river,turn,flop")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = [
        row
        for name in options.spots.split(",")
        for target in TARGETS
        for row in rows_of(name, target, options.repeats)
    ]
    write_report("checks", rows)


if __name__ == "__main__":
    main()
