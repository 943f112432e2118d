"""Spreading pieces of work over a fixed number of threads.

Kernels release the GIL, so threads suffice. Every piece writes numbers of its own: the result does
not depend on which thread took which piece, or when.
"""

import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from queue import SimpleQueue

from allstreets.base import thread_count

Work = Callable[[int], None]


class _Round:
    """One call of `together`: what is done, and how many of the other threads have done it."""

    def __init__(self, work: Work, others: int) -> None:
        self.work, self._others = work, others
        self._finished = count(1)
        self._all = threading.Lock()
        self._all.acquire()
        self._errors: list[BaseException] = []

    def take_part(self, thread: int) -> None:
        """What one of the other threads does."""
        try:
            self.work(thread)
        except BaseException as error:
            self._errors.append(error)
        if next(self._finished) == self._others:  # no two threads get the same number
            self._all.release()

    def wait(self) -> None:
        """Until all other threads are done; raises their first error."""
        self._all.acquire()
        if self._errors:
            raise self._errors[0]


Inbox = SimpleQueue[_Round | None]


def _serve(inbox: Inbox, thread: int) -> None:
    """The life of a thread of a pool; None ends it."""
    while (found := inbox.get()) is not None:
        found.take_part(thread)
        del found  # while it waits it holds on to nothing


def _end(inboxes: Sequence[Inbox]) -> None:
    for inbox in inboxes:
        inbox.put(None)


class Pool:
    """`threads` threads, of which the calling one is the first.

    The others wait for work, each at an inbox of its own: executors of the standard library take
    tens of microseconds for each thread of each call, all of them with the GIL.
    """

    def __init__(self, threads: int) -> None:
        self.threads = thread_count(threads)
        self._inboxes: list[Inbox] = [SimpleQueue() for _ in range(threads - 1)]
        for place, inbox in enumerate(self._inboxes):
            threading.Thread(target=_serve, args=(inbox, place + 1), daemon=True).start()
        weakref.finalize(self, _end, self._inboxes)

    def together(self, work: Work) -> None:
        """Call work(thread) once on every thread; the first error is raised when all are done.

        For kernels that fetch their own pieces (`engines.simd.work_counter`).
        """
        if not self._inboxes:
            work(0)
            return
        found = _Round(work, len(self._inboxes))
        for inbox in self._inboxes:
            inbox.put(found)
        try:
            work(0)  # this thread works too: handing over takes time
        finally:
            found.wait()

    def run(self, pieces: int, work: Callable[[int, int], None]) -> None:
        """Call work(thread, piece) for every piece; the first error is raised when all are done."""
        numbers = count()

        def take(thread: int) -> None:
            while (piece := next(numbers)) < pieces:
                work(thread, piece)

        self.together(take)
