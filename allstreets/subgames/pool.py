"""Spreading pieces of work over a fixed number of threads.

Kernels release the GIL, so threads suffice. Every piece writes numbers of its own: the result does
not depend on which thread took which piece, or when.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from allstreets.base import thread_count


class Pool:
    """`threads` threads, of which the calling one is the first."""

    def __init__(self, threads: int) -> None:
        self.threads = thread_count(threads)
        self._others = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def together(self, work: Callable[[int], None]) -> None:
        """Call work(thread) once on every thread; the first error is raised when all are done.

        For kernels that fetch their own pieces (`kernels.counter`).
        """
        if self._others is None:
            work(0)
            return
        others = [self._others.submit(work, thread) for thread in range(1, self.threads)]
        try:
            work(0)  # this thread works too: handing over takes time
        finally:
            for other in others:
                other.result()

    def run(self, pieces: int, work: Callable[[int, int], None]) -> None:
        """Call work(thread, piece) for every piece; the first error is raised when all are done."""
        numbers = count()

        def take(thread: int) -> None:
            while (piece := next(numbers)) < pieces:
                work(thread, piece)

        self.together(take)
