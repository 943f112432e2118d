"""Common parts of benchmarks: timing, a table on the terminal, and a file of figures.

`make bench` (run.py) chooses the folder that figures go to, by ALLSTREETS_FIGURES.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numba
import numpy as np

STORED = Path(__file__).parent / "results"
RESULTS = Path(os.environ.get("ALLSTREETS_FIGURES", STORED))


@dataclass(frozen=True)
class Row:
    """One figure."""

    name: str
    value: float
    unit: str
    remark: str = ""


def best_seconds(job: Callable[[], object], repeats: int = 5) -> float:
    """The shortest of several runs: the speed of the machine when nothing else disturbs it."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def calibrate() -> float:
    """Seconds of two fixed jobs on one thread, geometric mean: a stable sort and a stream.

    How fast this machine is at this moment: figures of another machine or moment are scaled by it.
    """
    rng = np.random.default_rng(1)
    keys = rng.random(2_000_000, dtype=np.float32)
    source = rng.random(32_000_000, dtype=np.float32)
    target = np.empty_like(source)
    sort = best_seconds(lambda: np.sort(keys, kind="stable"), 7)
    stream = best_seconds(lambda: np.multiply(source, 1.0001, out=target), 7)
    return float(np.sqrt(sort * stream))


def machine() -> dict[str, str | int | float | None]:
    """The machine of the measurements."""
    return {
        "machine": platform.machine(),
        "cpu": _cpu_name(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "calibration_seconds": calibrate(),
    }


def _cpu_name() -> str:
    import llvmlite.binding

    return str(llvmlite.binding.get_host_cpu_name())


def write_report(name: str, rows: Sequence[Row]) -> None:
    """Print the rows and write them to benchmarks/results/NAME.json."""
    width = max(len(row.name) for row in rows)
    for row in rows:
        print(f"{row.name:<{width}}  {row.value:>10,.4g} {row.unit:<12} {row.remark}".rstrip())
    path = RESULTS / f"{name}.json"
    write_rows(path, rows)
    print(f"written to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows and the machine to a file."""
    path.parent.mkdir(exist_ok=True)
    figures = {"machine": machine(), "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
