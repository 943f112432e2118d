"""Long runs of a kernel in short pieces.

A kernel cannot be interrupted, so it is called for as many iterations as take about a twentieth
of a second; between the calls Python answers Ctrl-C and the caller may stop the run. How a
run is cut never shows in its result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from allstreets.base import InputError

SECONDS = 0.05
LARGEST = 1 << 14


@dataclass
class Chunks:
    """How many iterations a kernel runs per call; learned from the clock."""

    size: int = 1

    def run(
        self,
        iterations: int,
        step: Callable[[int], object],
        done: Callable[[], int],
        callback: Callable[[int], bool] | None,
    ) -> None:
        """Call `step` with numbers that add up to `iterations`, or until `callback` says stop.

        `callback` is given `done()`, the iterations done so far.
        """
        if iterations < 0:
            raise InputError(f"cannot run {iterations} iterations: give 0 or more")
        left = iterations
        while left > 0:
            size = min(self.size, left)
            start = perf_counter()
            step(size)
            elapsed = perf_counter() - start
            left -= size
            if elapsed < SECONDS / 2 and size == self.size:
                self.size = min(2 * self.size, LARGEST)
            elif elapsed > 2 * SECONDS:
                self.size = max(self.size // 2, 1)
            if callback is not None and callback(done()):
                return
