"""What benchmarks of GPU engines share: rows of a table, parts that may fail, times by events."""

import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

START = time.perf_counter()
ROWS: list[tuple[str, str]] = []


def say(name: str, text: str) -> None:
    """A row of the table, printed at once as well."""
    ROWS.append((name, text))
    print(f"{time.perf_counter() - START:5.1f} s  {name:44} {text}", flush=True)


def part(name: str, work: Callable[[], None]) -> None:
    """Run a part; if it fails, say so."""
    try:
        work()
    except Exception as error:
        traceback.print_exc()
        say(name, f"FAILED: {type(error).__name__}: {str(error)[:160]}")


def timed(stream: Any, cupy: Any, work: Callable[[], None], rounds: int = 5) -> float:
    """Milliseconds by events, the median."""
    work()
    found = []
    for _ in range(rounds):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record(stream)
        work()
        end.record(stream)
        end.synchronize()
        found.append(cupy.cuda.get_elapsed_time(start, end))
    return float(np.median(found))


def random_reach(pots: int, seed: int = 1) -> Any:
    """[2, P, 169]: some hands never get there."""
    drawn = np.random.default_rng(seed).random((2, pots, 169))
    return np.where(drawn > 0.2, drawn, 0.0)
