"""Run the benchmarks, compare them with the figures that are stored, and say what got slower.

    python benchmarks/run.py                      those of `make bench`: ten minutes on two cores
    python benchmarks/run.py --only spots,cards   some of them
    python benchmarks/run.py --all                all that this machine can run: an hour and more
    python benchmarks/run.py --into FOLDER        leave the stored figures as they are

Each benchmark is a process that writes its figures to a spare folder; what was measured to its end
takes the place of the stored file, and one that fails leaves it alone. A figure has a cost where
its unit says so (seconds, megabytes, or the inverse of a rate); accuracies and counts are not
compared. Times are divided by the calibration of either file (`report.calibrate`), so that a
slow moment or another machine does not read as a change. A benchmark with figures that got slower
runs once more while there is time, and the better of both counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import STORED

HERE = Path(__file__).parent
TIMES = ("s", "ms", "ns", "s/iteration", "ms/iteration", "s/GB")
SIZES = ("GB", "MB", "MiB", "kB")
RATES = ("M/s", "iterations/s")
TOLERANCE = 0.15  # a virtual machine's figures differ by a tenth from run to run
BUDGET = 600.0  # seconds in which benchmarks are run once more
BUSY = 0.5  # processes that run on a machine which is not quiet

Figures = Mapping[str, Any]
"""A file of figures: "machine" and "rows"."""


@dataclass(frozen=True)
class Benchmark:
    """A script with its arguments for ten minutes, and for all studies."""

    name: str
    arguments: Sequence[str] = ()
    whole: Sequence[str] = ()
    usual: bool = True  # whether `make bench` runs it
    processors: int = 1  # that it needs to say something
    device: bool = False  # whether it needs a GPU

    def command(self, whole: bool) -> list[str]:
        """The process that writes NAME.json."""
        script = str(HERE / f"bench_{self.name}.py")
        return [sys.executable, script, *(self.whole if whole else self.arguments)]


BENCHMARKS = (
    Benchmark("waiting", ("--quick",)),
    Benchmark("cards"),
    Benchmark("tables"),
    Benchmark("leduc", ("--quick",)),
    Benchmark("flops"),
    Benchmark("boards"),
    Benchmark("explorer"),
    Benchmark("spots", ("--quick",)),
    Benchmark("unified", whole=("--exact",)),
    # Studies: what a choice brings, not how fast something is.
    Benchmark("checks", usual=False),
    Benchmark("sparse", usual=False),
    Benchmark("pruning", usual=False),
    Benchmark("buckets", usual=False),
    Benchmark("unifying", usual=False),
    Benchmark("cluster", usual=False),
    Benchmark("threads", usual=False, processors=8),
    Benchmark("gpu", usual=False, device=True),
)


@dataclass(frozen=True)
class Change:
    """A figure, before and now."""

    benchmark: str
    name: str
    unit: str
    before: float
    now: float
    cost: float  # now / before, of what is to be small: 1.2 is a fifth slower or larger

    def text(self) -> str:
        """A line of the table."""
        figures = f"{self.before:,.4g} → {self.now:,.4g} {self.unit}"
        return f"{self.cost:5.2f} ×  {self.benchmark}: {self.name}: {figures}"


def slowness(before: Figures, now: Figures) -> float:
    """The slowness of the machine relative to that time; 1 if it was not measured."""
    then = before["machine"].get("calibration_seconds")
    today = now["machine"].get("calibration_seconds")
    return today / then if then and today else 1.0


def changes(name: str, before: Figures, now: Figures) -> list[Change]:
    """All figures with a cost that stand in both files."""
    scale = slowness(before, now)
    known = {(row["name"], row["unit"]): row["value"] for row in before["rows"]}
    compared = []
    for row in now["rows"]:
        unit, new = row["unit"], row["value"]
        old = known.get((row["name"], unit), 0.0)
        if old <= 0 or new <= 0:
            continue
        if unit in TIMES:
            cost = new / old / scale
        elif unit in RATES:
            cost = old / new / scale
        elif unit in SIZES:
            cost = new / old
        else:
            continue
        compared.append(Change(name, row["name"], unit, old, new, cost))
    return compared


def better(first: Figures, second: Figures) -> Figures:
    """The rows of the second run, each as in the first where that was better."""
    costs = {change.name: change.cost for change in changes("", first, second)}
    rows = {row["name"]: row for row in first["rows"]}
    chosen = [
        rows[row["name"]] if costs.get(row["name"], 1.0) > 1 else row for row in second["rows"]
    ]
    return {**second, "rows": chosen}


def measure(benchmark: Benchmark, whole: bool) -> Figures | None:
    """The figures of a benchmark, None where it failed. What it prints is printed."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(HERE), str(HERE.parent / "tests"), *filter(None, [os.getenv("PYTHONPATH")])]
        environment = {
            **os.environ,
            "ALLSTREETS_FIGURES": folder,
            "PYTHONPATH": os.pathsep.join(paths),
        }
        done = subprocess.run(benchmark.command(whole), env=environment, check=False)
        file = Path(folder) / f"{benchmark.name}.json"
        if done.returncode or not file.exists():
            return None
        figures: Figures = json.loads(file.read_text(encoding="utf-8"))
        return figures


def read(file: Path) -> Figures | None:
    """Stored figures, None where there are none."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def differences(before: Figures, now: Figures) -> str:
    """The differences between the machines, as words: "processors 16, now 2"."""
    return ", ".join(
        f"{key} {before['machine'].get(key)}, now {value}"
        for key, value in now["machine"].items()
        if key != "calibration_seconds" and before["machine"].get(key) != value
    )


def run(
    benchmark: Benchmark, whole: bool, into: Path, tolerance: float, end: float
) -> list[Change]:
    """Measure a benchmark, write its figures, compare them with the stored ones."""
    before = read(STORED / f"{benchmark.name}.json")
    begun = time.perf_counter()
    now = measure(benchmark, whole)
    seconds = time.perf_counter() - begun
    if now is None:
        raise subprocess.SubprocessError(f"bench_{benchmark.name}.py failed; see above")
    compared = changes(benchmark.name, before, now) if before else []
    slower = [change for change in compared if change.cost > 1 + tolerance]
    if before and slower and time.perf_counter() + seconds < end:
        print(f"{len(slower)} figures got slower; once more …", flush=True)
        again = measure(benchmark, whole)
        now = better(now, again) if again else now
        compared = changes(benchmark.name, before, now)
    if before and (other := differences(before, now)):
        print(f"the stored figures were measured elsewhere: {other}")
    into.mkdir(parents=True, exist_ok=True)
    text = json.dumps(now, indent=1, ensure_ascii=False) + "\n"
    (into / f"{benchmark.name}.json").write_text(text, encoding="utf-8")
    print(f"({time.perf_counter() - begun:.0f} s for {benchmark.name})", flush=True)
    return compared


def summary(compared: Iterable[Change], tolerance: float) -> list[str]:
    """The figures that got worse, those that got better, and the number of unchanged ones."""
    ordered = sorted(compared, key=lambda change: -change.cost)
    worse = [change for change in ordered if change.cost > 1 + tolerance]
    gained = [change for change in ordered if change.cost < 1 / (1 + tolerance)]
    lines = [f"{len(worse)} of {len(ordered)} figures got slower or larger by over {tolerance:.0%}"]
    lines += [change.text() for change in worse]
    lines += [f"{len(gained)} got faster or smaller by as much"]
    lines += [change.text() for change in reversed(gained)]
    return lines


def chosen(only: str, whole: bool) -> list[Benchmark]:
    """The benchmarks that are asked for by name, else all that say something on this machine."""
    if only:
        by_name = {benchmark.name: benchmark for benchmark in BENCHMARKS}
        if unknown := set(only.split(",")) - by_name.keys():
            raise SystemExit(
                f"no benchmark is named {', '.join(sorted(unknown))}; there are "
                f"{', '.join(by_name)}"
            )
        return [by_name[name] for name in only.split(",")]
    cores = os.cpu_count() or 1
    return [
        benchmark
        for benchmark in BENCHMARKS
        if benchmark.usual or (whole and cores >= benchmark.processors and not benchmark.device)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where a benchmark failed; what got slower is said, and is no failure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="names by comma: spots,cards")
    parser.add_argument("--all", action="store_true", help="studies too, and longer versions")
    parser.add_argument("--into", type=Path, default=STORED, help="folder of the new figures")
    parser.add_argument("--tolerance", type=float, default=100 * TOLERANCE, help="in %%")
    options = parser.parse_args(arguments)
    tolerance, begun = options.tolerance / 100, time.perf_counter()
    end = begun + (float("inf") if options.all else BUDGET)
    if (load := os.getloadavg()[0]) > BUSY:
        print(f"other programs are running (load {load:.1f}): figures will be too large")
    compared: list[Change] = []
    faults = []
    for benchmark in chosen(options.only, options.all):
        print(f"\n== {benchmark.name}", flush=True)
        try:
            compared += run(benchmark, options.all, options.into, tolerance, end)
        except subprocess.SubprocessError as fault:
            faults.append(str(fault))
    print(f"\n{time.perf_counter() - begun:.0f} s in all; figures are in {options.into}")
    print("\n".join([*summary(compared, tolerance), *faults]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
