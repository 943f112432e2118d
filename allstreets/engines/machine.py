"""Memory and threads of this machine.

Large arrays have their own pages, in memory, or on disk for games larger than the machine: their
room returns to the system or the disk as soon as it is unused.

On disk (`memory: memmap`) the room is taken when an array is made, so that a disk that is too small
is noticed immediately and not when a page is written. The files lose their names once they are
mapped: however the process ends, no file stays.

Kernels release the GIL, so threads suffice for pieces of work. Every piece writes numbers of its
own: the result does not depend on which thread took which piece, or when.
"""

import mmap
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from math import prod
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile

import numpy as np

from allstreets.base import InputError, Singles, thread_count
from allstreets.engines.simd.vectors import aligned

LEAST_PAGES = 1 << 20  # bytes: smaller arrays come from the heap
HUGE_PAGES = 1 << 22  # bytes from which on large pages pay, as NumPy has it
Work = Callable[[int], None]


def own_pages(shape: tuple[int, ...]) -> Singles:
    """A float32 array of zeros; the heap might not give its memory back."""
    size = 4 * prod(shape)
    if size < LEAST_PAGES or not hasattr(mmap, "MAP_ANONYMOUS"):
        zeros: Singles = aligned(shape)
        return zeros
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    advice: int | None = getattr(mmap, "MADV_HUGEPAGE", None)  # Linux has it
    if size >= HUGE_PAGES and advice is not None:
        memory.madvise(advice)
    return np.frombuffer(memory, np.float32).reshape(shape)


class PagesAgain:
    """Makes zeroed float32 arrays as `own_pages` does, in memory that earlier ones have left.

    For successive games of equal size: the system takes longer to hand out new pages than to clear
    old ones, and its threads wait for each other.
    """

    def __init__(self) -> None:
        self._pages: list[Singles] = []
        self._taken = 0

    def take_back(self) -> None:
        """Reclaim all arrays that were made so far: no caller uses them any more."""
        self._taken = 0

    def __call__(self, shape: tuple[int, ...]) -> Singles:
        """The next array."""
        size, place = prod(shape), self._taken
        self._taken += 1
        if place < len(self._pages) and self._pages[place].size >= size:
            array = self._pages[place][:size]
            array.fill(0.0)
        else:
            array = own_pages((size,))
            self._pages[place : place + 1] = [array]
        return array.reshape(shape)


class MappedMemory:
    """Makes zeroed float32 arrays in nameless files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.used = 0

    def __call__(self, shape: tuple[int, ...]) -> Singles:
        """An array of zeros."""
        size = 4 * prod(shape)
        if size == 0:
            return np.zeros(shape, np.float32)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder) as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    file.truncate(size)
                memory = mmap.mmap(file.fileno(), size)
        except OSError as error:
            raise InputError(
                f"memory memmap: {self.folder} has no room for {size / 1e6:,.0f} MB more "
                f"({error.strerror}); {self.used / 1e6:,.0f} MB are in use. Use another disk, "
                "fewer flops or fewer sizes"
            ) from None
        self.used += size
        weakref.finalize(memory, self._give_back, size).atexit = False
        return np.frombuffer(memory, np.float32).reshape(shape)

    def _give_back(self, size: int) -> None:
        self.used -= size


class _Round:
    """One call of `together`: what is done, and how many of the other threads have done it."""

    def __init__(self, work: Work, others: int) -> None:
        self.work, self._others = work, others
        self._finished = count(1)
        self._all = threading.Lock()
        self._all.acquire()
        self._errors: list[BaseException] = []

    def take_part(self, thread: int) -> None:
        """Run the part of one of the other threads."""
        try:
            self.work(thread)
        except BaseException as error:
            self._errors.append(error)
        if next(self._finished) == self._others:  # no two threads get the same number
            self._all.release()

    def wait(self) -> None:
        """Wait until all other threads are done; raise their first error."""
        self._all.acquire()
        if self._errors:
            raise self._errors[0]


Inbox = SimpleQueue[_Round | None]


def _serve(inbox: Inbox, thread: int) -> None:
    """The life of a thread of a pool; None ends it."""
    while (found := inbox.get()) is not None:
        found.take_part(thread)
        del found  # while it waits it keeps no reference


def _end(inboxes: Sequence[Inbox]) -> None:
    for inbox in inboxes:
        inbox.put(None)


class Pool:
    """`threads` threads, of which the calling one is the first.

    The others wait for work, each at its own inbox: executors of the standard library take
    tens of microseconds for each thread of each call, all of them with the GIL.
    """

    def __init__(self, threads: int) -> None:
        self.threads = thread_count(threads)
        self._free = threading.Lock()
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
        round_ = _Round(work, len(self._inboxes))
        for inbox in self._inboxes:
            inbox.put(round_)
        try:
            work(0)  # this thread works too: handing over takes time
        finally:
            round_.wait()

    def run(self, pieces: int, work: Callable[[int, int], None]) -> None:
        """Call work(thread, piece) for every piece; the first error is raised when all are done.

        A single piece may `share` its work among all threads.
        """
        if pieces == 1:
            work(0, 0)
            return
        numbers = count()

        def take(thread: int) -> None:
            while (piece := next(numbers)) < pieces:
                work(thread, piece)

        self._if_free(take)

    def share(self, work: Callable[[], None]) -> None:
        """Call work() on every thread, or only on this one while the others are busy.

        For kernels that fetch their own pieces until none is left.
        """
        self._if_free(lambda _: work())

    def _if_free(self, work: Work) -> None:
        """Call work(thread) on every thread or, within a piece of such work, only on this one."""
        if not self._free.acquire(blocking=False):
            work(0)
            return
        try:
            self.together(work)
        finally:
            self._free.release()
