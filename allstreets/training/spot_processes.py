"""Spot jobs in processes of this machine, several at a time.

The processes are fresh ones, in a session of their own: a terminal's Ctrl-C is for the run, which
tells them to stop. They end with it, however it ends. One that is killed, for its memory most
likely, takes the others along; its spot is found by giving each that was at work a process alone.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import wait as wait_for
from multiprocessing.synchronize import Event

from allstreets.base import Control, thread_count
from allstreets.training.spot_jobs import RunJobs, SpotJob, SpotRow, solve_spot_job

KILLED = "its process was killed; is there enough memory?"
PATIENCE = 0.2  # seconds between two looks at whether the run is to stop

Solve = Callable[[SpotJob, Control], SpotRow | None]

_stop: Event | None = None  # of a process that does jobs


class _ByRun(Control):
    """Stops a job when its run does."""

    def wants_to_stop(self) -> bool:
        return _stop is not None and _stop.is_set()


def _begin(stop: Event) -> None:
    """What a process does first."""
    global _stop
    _stop = stop
    with suppress(OSError, AttributeError):  # Windows has no sessions
        os.setsid()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _work(solve: Solve, job: SpotJob) -> SpotRow | None:
    return solve(job, _ByRun())


def in_processes(processes: int, solve: Solve = solve_spot_job) -> RunJobs:
    """Who runs jobs: so many processes of this machine at a time."""
    count = thread_count(processes, "processes")

    def run(jobs: Sequence[SpotJob], stop: Callable[[], bool]) -> Iterator[tuple[int, SpotRow]]:
        waiting, at_once = list(range(len(jobs))), min(count, max(len(jobs), 1))
        while waiting and not stop():
            broken: list[int] = []
            yield from _pooled(jobs, waiting, broken, at_once, solve, stop)
            if at_once == 1:
                for place in broken:
                    yield place, SpotRow.failed(jobs[place], KILLED)
            elif broken:
                waiting[:0] = broken
                at_once = 1

    return run


def _pooled(
    jobs: Sequence[SpotJob],
    waiting: list[int],
    broken: list[int],
    at_once: int,
    solve: Solve,
    stop: Callable[[], bool],
) -> Iterator[tuple[int, SpotRow]]:
    """Take jobs off `waiting` until none is left, the run stops, or a process was killed.

    Those that were at work then stand in `broken`.
    """
    # Fresh processes everywhere: a copy of one that runs threads may hang.
    context = multiprocessing.get_context("spawn")
    ended = context.Event()
    running: dict[Future[SpotRow | None], int] = {}
    with ProcessPoolExecutor(at_once, context, _begin, (ended,)) as pool:
        try:
            while running or (waiting and not broken and not ended.is_set()):
                while waiting and not broken and not ended.is_set() and len(running) < at_once:
                    place = waiting.pop(0)
                    try:
                        running[pool.submit(_work, solve, jobs[place])] = place
                    except BrokenProcessPool:
                        broken.append(place)
                for future in wait(running, PATIENCE, FIRST_COMPLETED).done:
                    place = running.pop(future)
                    try:
                        row = future.result()
                    except BrokenProcessPool:
                        broken.append(place)
                        continue
                    if row is not None:
                        yield place, row
                if stop():
                    ended.set()
        finally:
            ended.set()  # where the reader of the rows has enough
