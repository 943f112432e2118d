"""Common parts of GPU benchmarks: rows of a table, parts that may fail, split times."""

import time
import traceback
from collections.abc import Callable
from functools import partial
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


class TimedDevice:
    """A device whose calls wait for each other: what kernels, copies and the rest take, apart.

    Seconds since `start`; waiting adds some microseconds to each call.
    """

    COPIES = ("put", "write", "read", "copied", "copy_in", "copy_out", "landing")

    def __init__(self, device: Any) -> None:
        self._device = device
        self.start()

    def start(self) -> None:
        """From now on."""
        self.spent = {"kernels": 0.0, "copies": 0.0}
        self.calls = {"kernels": 0, "copies": 0}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._device, name)
        if name == "compile":
            return lambda *given: _TimedKernels(self, found(*given))
        return partial(self.timed, "copies", found) if name in self.COPIES else found

    def timed(self, kind: str, work: Callable[..., Any], *given: Any) -> Any:
        """A call, from when everything is over until it is."""
        self._wait()
        start = time.perf_counter()
        found = work(*given)
        self._wait()
        self.spent[kind] += time.perf_counter() - start
        self.calls[kind] += 1
        return found

    def _wait(self) -> None:
        self._device.finish(self._device.mark())


class _TimedKernels:
    def __init__(self, device: TimedDevice, kernels: Any) -> None:
        self._device, self._kernels = device, kernels

    def launch(self, *given: Any) -> None:
        """Run a kernel to its end."""
        self._device.timed("kernels", self._kernels.launch, *given)


def random_reach(pots: int, seed: int = 1) -> Any:
    """[2, P, 169]: some hands never get there."""
    drawn = np.random.default_rng(seed).random((2, pots, 169))
    return np.where(drawn > 0.2, drawn, 0.0)
