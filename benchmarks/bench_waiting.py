"""Waiting times around a solve: whole commands, from process start to their end.

    python benchmarks/bench_waiting.py [--quick]

Prints a table and writes benchmarks/results/waiting.json. Processor seconds of a process with one
thread, its kernels compiled before: the median of several runs, taken in turns.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from report import Row, write_report

SPOTS = Path(__file__).parents[1] / "sample_spots"
RUN = "from allstreets.cli.main import run; run()"
IMPORTS = "import numba, numpy, pydantic, rich.console, ruamel.yaml, typer"


def command(*words: str) -> list[str]:
    """A command of allstreets, as the installed one starts it."""
    return [sys.executable, "-c", RUN, *words]


def processor_seconds(arguments: list[str]) -> float:
    """User and system time of a process, which must succeed."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    runs = 3 if parser.parse_args().quick else 15
    with TemporaryDirectory() as folder:
        flop, one = str(Path(folder) / "flop"), ("--threads", "1")
        processor_seconds(
            command("solve", str(SPOTS / "flop.yaml"), "--max-iterations", "1", *one, "-o", flop)
        )
        jobs = {
            "the libraries alone": [sys.executable, "-c", IMPORTS],
            "--help": command("--help"),
            "report, a stored street": command("report", flop),
            "report, a turn": command("report", flop, "--line", "x x | 2c | x"),
            "solve sample_spots/river.yaml": command("solve", str(SPOTS / "river.yaml"), *one),
        }
        for job in jobs.values():
            processor_seconds(job)  # compiles
        times = [{name: processor_seconds(job) for name, job in jobs.items()} for _ in range(runs)]
    write_report("waiting", [Row(name, median(one[name] for one in times), "s") for name in jobs])


if __name__ == "__main__":
    main()
