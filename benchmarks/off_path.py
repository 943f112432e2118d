"""The cost of trembles of spots, and the quality of off-path answers without and with them.

    export PYTHONPATH=tests  # the local gains are a reference of theirs
    python benchmarks/off_path.py [--spots river_wide,turn_rainbow] [--trembles 0,0.0001,0.001]

For each spot and tremble: iterations and seconds to the target (0.3 % of the pot), and the mean
local gain at decisions that less than 0.1 % of the hands get to (`tests/reference/local_gains.py`).
"""

import argparse
import time

from bench_spots import load_spot
from reference.local_gains import local_gains

from allstreets.solvers import SpotSolver


def main() -> None:
    """Print a row for each spot and tremble."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spots", default="river_wide,turn_rainbow")
    parser.add_argument("--trembles", default="0,0.0001,0.0003,0.001")
    parser.add_argument("--target", type=float, default=0.3, help="in % of pot")
    parser.add_argument("--most", type=int, default=600, help="iterations")
    arguments = parser.parse_args()
    SpotSolver(load_spot("river_wide"), threads=1).train_batch(1)  # compiles
    for name in arguments.spots.split(","):
        for tremble in map(float, arguments.trembles.split(",")):
            solver = SpotSolver(load_spot(name), threads=1, tremble=tremble)
            seconds, reached = 0.0, 100.0
            solver.train_batch(1)
            while reached > arguments.target and solver.iterations < arguments.most:
                start = time.perf_counter()
                solver.train_batch(5 if solver.iterations > 1 else 4)
                seconds += time.perf_counter() - start
                reached = 100 * solver.exploitability() / solver.spot.pot
            off_path, on_path, count = local_gains(solver)
            each = 1000 * seconds / (solver.iterations - 1)
            print(
                f"{name} tremble {tremble:g}: {reached:.3f} % after {solver.iterations} iterations"
                f", {seconds:.2f} s ({each:.2f} ms each);\n    local gain {off_path:.3f} % of pot"
                f" at {count:,} off-path decisions, {on_path:.3f} at the others",
                flush=True,
            )


if __name__ == "__main__":
    main()
