"""Flops one by one on this machine: groups of flops, each trained by the loop.

1. Build the engine of a group of flops, train it until all of them are solved or their iterations
   are over, store them, and go on with the next group: memory holds a few groups at a time. On one
   thread it is one. On more there are others in work: while a group is laid out in Python, stored,
   or down to its last flops, threads find work in them.
2. A group that fails is solved flop by flop, and what fails then is noted.
3. Ctrl-C saves the groups in work as checkpoints; finished flops are stored already.
"""

from __future__ import annotations  # some types are of files that import this one

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from allstreets.base import Arrays, Control, InputError, InterruptRequest
from allstreets.engines import PagesAgain
from allstreets.storage import Row, drop, latest_checkpoint
from allstreets.training.folder_run import CHECKPOINTS
from allstreets.training.loop import Intervals, RunFiles, train
from allstreets.training.records import Progress

if TYPE_CHECKING:
    from allstreets.solvers import FlopsSolver
    from allstreets.training.flops_run import FlopsGroup, FlopsJob, FlopsRun
    from allstreets.training.watch import Watch

CHECKPOINT_SECONDS = 300


@dataclass(frozen=True)
class FlopsHere:
    """The threads of this machine."""

    def begin(
        self, job: FlopsJob, watch: Watch
    ) -> AbstractContextManager[Callable[[FlopsRun], None]]:
        """They are ready at once."""
        del job, watch
        return nullcontext(lambda run: _Groups(run).to_the_end())


HERE = FlopsHere()


class _GroupError(Exception):
    """A group could not be solved; its cause says why."""


class _Stop(Control):
    """Ends the groups in work where the user wants it, or where one of them cannot be stored."""

    def __init__(self, request: InterruptRequest) -> None:
        self._request = request
        self.needed = False

    def wants_to_stop(self) -> bool:
        return self.needed or self._request.wants_to_stop()

    def hold(self) -> None:
        self._request.hold()

    def saved(self, iteration: int) -> None:
        self._request.saved(iteration)


class _Groups:
    """The moving parts of one run."""

    def __init__(self, run: FlopsRun) -> None:
        self._run, self._job = run, run.job
        self._stop = _Stop(run.request)
        self._at_once = self._job.estimate(len(run.missing)).at_once
        self._lock = threading.Lock()  # around the groups that wait

    def to_the_end(self) -> None:
        groups = list(self._job.groups(self._run.missing))
        self._drop_checkpoints({group.name for group in groups})
        self._run.tell()
        waiting = iter(groups)
        if self._at_once == 1:
            self._take(waiting)
        else:
            self._take_several(waiting)
        with suppress(OSError):  # there is none, or not all are solved
            self._folder.rmdir()

    def _take_several(self, waiting: Iterator[FlopsGroup]) -> None:
        """Several groups at once. Signals are for this thread, which waits for them."""
        with ThreadPoolExecutor(self._at_once) as pool:
            takers = [pool.submit(self._take, waiting) for _ in range(self._at_once)]
            try:
                for taker in takers:
                    error = taker.exception()
                    # A group that is to stop before its first iteration has nothing to save.
                    if error is not None and not isinstance(error, KeyboardInterrupt):
                        raise error
            finally:
                self._stop.needed = True

    def _take(self, waiting: Iterator[FlopsGroup]) -> None:
        """Solve one group after the other, until none is left or the run is to end."""
        pages = PagesAgain()
        try:
            while not self._stop.wants_to_stop():
                with self._lock:
                    group = next(waiting, None)
                if group is None or not self._attempt(group, pages):
                    return
        except BaseException:
            self._stop.needed = True
            raise

    def _attempt(self, group: FlopsGroup, pages: PagesAgain) -> bool:
        """Solve a group, or what can be solved of it; False: the user has ended the run."""
        self._run.begin(group)
        try:
            if not self._solve(group, pages):
                return False
        except _GroupError as failed:
            if len(group.flops) > 1:  # which of them it is comes out one by one
                self._run.end(group)
                return all(self._attempt(one, pages) for one in group.one_by_one())
            self._run.fail(group, failed.__cause__)
        self._run.end(group)
        self._run.tell()
        return True

    def _solve(self, group: FlopsGroup, pages: PagesAgain) -> bool:
        """Solve and store a group; False: the user has ended the run."""
        begun = time.monotonic()
        try:
            solved = self._train(group, pages)
        except Exception as error:
            raise _GroupError from error
        if solved is None:
            return False
        seconds = (time.monotonic() - begun) / len(solved) / self._at_once
        for row, _ in solved:
            row["seconds"] = seconds
        self._run.keep(solved)
        shutil.rmtree(self._folder / group.name, ignore_errors=True)
        return True

    @property
    def _folder(self) -> Path:
        folder = self._run.bundle.folder
        assert isinstance(folder, Path)  # elsewhere is for clusters
        return folder / CHECKPOINTS

    def _drop_checkpoints(self, names: set[str]) -> None:
        """Remove the checkpoints of groups that are not in this run."""
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if not (path.is_dir() and path.name in names):
                drop(path)

    def _train(self, group: FlopsGroup, pages: PagesAgain) -> list[tuple[Row, Arrays]] | None:
        """What came out of a group; None: it was interrupted, and saved."""
        solver = self._job.solver(group.flops, group.pots, pages)
        folder = self._folder / group.name
        if self._stop.wants_to_stop():
            return None

        def tell(progress: Progress) -> None:
            group.progress = progress
            self._run.tell()

        outcome = train(
            solver,
            self._job.rules(solver),
            intervals=self._intervals(len(group.keys)),
            files=RunFiles(
                folder,
                resume=_fits(folder, solver),
                own_folder=True,
                save_finished=False,  # its flops are kept in a moment
            ),
            observers=[tell],
            control=self._stop,
        )
        return None if outcome.reason == "interrupted" else solver.results(self._job.threads)

    def _intervals(self, keys: int) -> Intervals:
        seconds = self._at_once * self._job.estimate(keys).seconds / self._job.iterations
        save = max(1, round(CHECKPOINT_SECONDS / max(seconds, 1e-6)))
        return Intervals(self._job.targets.check_interval, min(save, self._job.iterations))


def _fits(folder: Path, solver: FlopsSolver) -> bool:
    """Whether a checkpoint of these flops can be resumed; one of others is dropped."""
    if not any(folder.glob("checkpoint-*")):
        return False
    try:
        latest_checkpoint(folder, solver.identity)
    except InputError:
        shutil.rmtree(folder, ignore_errors=True)
        return False
    return True
