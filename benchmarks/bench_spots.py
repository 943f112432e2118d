"""The exact spot solver beside postflop-solver (Rust) on the reference spots.

    python benchmarks/bench_spots.py [--spots river_wide,turn_rainbow] [--threads 1,2] [--quick]

For each spot and number of threads: seconds per iteration, seconds and iterations to 1, 0.5, 0.3
and 0.1 % of the pot, memory, and the peer's figures scaled to this machine and moment by two small
jobs that were timed beside both. Best-response checks are not counted, as in the peer's figures;
neither are compilation and the building of tables ("setup"). Writes benchmarks/results/spots.json.
"""

import argparse
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

from report import Row, calibrate, write_report

from allstreets.games import Spot
from allstreets.solvers import SpotSolver

HERE = Path(__file__).parent
SPOTS = HERE.parent / "tests" / "data" / "spots.json"
PEER = HERE / "postflop_solver.json"
TARGETS = (1.0, 0.5, 0.3, 0.1)
LONGEST = {"flop_medium": 400, "turn_deep": 700}  # iterations; the others end before 600


def load_spot(name: str) -> Spot:
    """A reference spot by its name."""
    known = set(Spot.__dataclass_fields__) | {"oop_range", "ip_range"}
    for keys in json.loads(SPOTS.read_text())["spots"]:
        if keys["name"] == name:
            return Spot.from_mapping({k: v for k, v in keys.items() if k in known})
    raise SystemExit(f"no spot named {name}")


def measure(spot: Spot, threads: int, precision: str, most: int, last: float) -> dict[str, Any]:
    """Solve a spot until `last` % of the pot; time the iterations alone."""
    start = time.perf_counter()
    solver = SpotSolver(spot, threads=threads, precision=precision)
    setup = time.perf_counter() - start
    solver.train_batch(1)  # touches all memory, and compiles where that was not done yet
    seconds, reached = 0.0, {}
    while solver.iterations < most:
        start = time.perf_counter()
        solver.train_batch(5 if solver.iterations > 1 else 4)
        seconds += time.perf_counter() - start
        exploitability = 100 * solver.exploitability() / spot.pot
        for target in TARGETS:
            if exploitability <= target and target not in reached:
                reached[target] = (seconds, solver.iterations)
        if exploitability <= last:
            break
    return {
        "setup": setup,
        "per_iteration": seconds / (solver.iterations - 1),
        "reached": reached,
        "arrays_mib": solver.memory_bytes / 2**20,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "evs": solver.expected_values(),
    }


def rows_of(name: str, threads: int, precision: str, scale: float, quick: bool) -> list[Row]:
    """The figures of one spot, each beside the peer's."""
    kind = "f32" if precision == "float32" else "i16"
    peer = json.loads(PEER.read_text())["spots"][name][kind]
    theirs = peer.get(f"threads_{threads}", {})
    last = 0.3 if quick else 0.1
    found = measure(load_spot(name), threads, precision, LONGEST.get(name, 600), last)
    title = f"{name}, {threads} thread{'s' * (threads > 1)}, {precision}"

    def beside(ours: float, seconds: float | None) -> str:
        if seconds is None:
            return ""
        return f"{ours / (seconds * scale):.3f} of the peer's {seconds * scale:.4g} s"

    per_iteration = found["per_iteration"]
    rows = [
        Row(f"{title}: an iteration", 1000 * per_iteration, "ms",
            beside(per_iteration, theirs.get("seconds_per_iteration")))
    ]  # fmt: skip
    slots = found["arrays_mib"] * 2**20 / (8 if precision == "float32" else 4)
    # Regrets read twice and written once, the average read and written every second time.
    traffic = (3 + 1) * (4 if precision == "float32" else 2) * slots / per_iteration / 1e9
    rows.append(
        Row(f"{title}: a slot", 1e9 * per_iteration / slots, "ns", f"{traffic:.1f} GB/s of storage")
    )
    for target, (seconds, iterations) in found["reached"].items():
        known = theirs.get("seconds_to", {}).get(f"{target:g}%")
        remark = f"{iterations} iterations"
        if known:
            remark += f" (peer {known[1]}); {beside(seconds, known[0])}"
        rows.append(Row(f"{title}: to {target:g} % of pot", seconds, "s", remark))
    storage, rss = peer.get("storage_mib"), peer.get("peak_rss_mib")
    rows += [
        Row(f"{title}: regrets and strategy", found["arrays_mib"], "MiB", f"peer {storage}"),
        Row(f"{title}: peak of the process", found["peak_mib"], "MiB", f"peer {rss}"),
        Row(f"{title}: setup", found["setup"], "s"),
    ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--spots", default="river_wide,turn_rainbow,flop_small,flop_medium,turn_deep"
    )
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--quick", action="store_true", help="stop at 0.3 %% of the pot")
    options = parser.parse_args()
    then = json.loads(PEER.read_text())["calibration_seconds"]
    now = calibrate()
    rows = [Row("calibration", now / then, "×", "how much slower this machine is than the peer's")]
    for name in options.spots.split(","):
        for threads in map(int, options.threads.split(",")):
            # Each in a process of its own, so that the peak of memory is its own too.
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                found = rows_of(name, threads, options.precision, now / then, options.quick)
                os.write(write, json.dumps([row.__dict__ for row in found]).encode())
                os._exit(0)
            os.close(write)
            with os.fdopen(read, "rb") as pipe:
                answer = pipe.read()
            os.waitpid(child, 0)
            part = [Row(**row) for row in json.loads(answer)]
            for row in part:
                print(f"{row.name:<60} {row.value:>10,.4g} {row.unit:<5} {row.remark}", flush=True)
            rows += part
    write_report("spots", rows)


if __name__ == "__main__":
    main()
