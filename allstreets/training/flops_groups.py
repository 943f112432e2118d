"""Flops one by one: groups of flops on this machine, single flops on a cluster.

On this machine:

1. Build the engine of a group of flops, train it until all of them are solved or their iterations
   are over, store them, and go on with the next group: memory holds a few groups at a time. On one
   thread it is one. On more there are others in work: while a group is laid out in Python, stored,
   or down to its last flops, threads find work in them.
2. A group that fails is solved flop by flop, and what fails then is noted.
3. Ctrl-C saves the groups in work as checkpoints; finished flops are stored already.

On a cluster every flop is a piece for any machine. The loop trains it there as it does here, and
the solution is stored here as it comes. Ctrl-C ends those in work, which `--resume` begins again.
"""

from __future__ import annotations  # some types are of files that import this one

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from allstreets.base import Arrays, InputError, InterruptRequest
from allstreets.engines import PagesAgain
from allstreets.jobs import Executor, PieceProgress, StoppedError, piece_control
from allstreets.storage import Key, Row, drop, latest_checkpoint
from allstreets.training.folder_run import CHECKPOINTS
from allstreets.training.loop import Intervals, RunFiles, train
from allstreets.training.records import Progress

if TYPE_CHECKING:
    from allstreets.cards import Flop
    from allstreets.games import PotGame
    from allstreets.solvers import FlopsSolver
    from allstreets.storage import FlopsBundle
    from allstreets.training.flops_run import FlopsJob
    from allstreets.training.watch import Watch

CHECKPOINT_SECONDS = 300

Solved = list[tuple[Row, Arrays]]  # the figures of flops, and what is stored of them


@dataclass(frozen=True)
class FlopFault:
    """A flop that could not be solved, and why."""

    flop: str
    spr: float
    message: str


@dataclass(frozen=True, kw_only=True)
class FlopsProgress(PieceProgress[None]):
    """How far a job is; pieces are flops times stack-to-pot ratios, those that fail not done."""

    rows: tuple[Row, ...]  # solved in this run
    faults: tuple[FlopFault, ...]
    running: tuple[Key, ...]  # the group in work, of several the one that began first
    group: Progress | None  # how far it is; not known of flops on other machines

    @property
    def left(self) -> int:
        """Those that are still to be solved."""
        return self.total - self.done - len(self.faults)


@dataclass(eq=False)
class FlopsGroup:
    """Flops that are solved side by side, and how far they are."""

    flops: Sequence[Flop]
    pots: Sequence[PotGame]
    progress: Progress | None = None

    @property
    def keys(self) -> tuple[Key, ...]:
        """Flops and stack-to-pot ratios."""
        return tuple((flop.text, pot.pot.spr) for flop in self.flops for pot in self.pots)

    @property
    def name(self) -> str:
        """Of the folder of its checkpoints; no two groups of a run share a flop."""
        return f"{self.flops[0].text}-{len(self.flops)}"

    def one_by_one(self) -> Iterator[FlopsGroup]:
        """Its flops, each for itself."""
        return (FlopsGroup([flop], self.pots) for flop in self.flops)


def solve_there(job: FlopsJob, group: FlopsGroup) -> Solved:
    """Solve a group on another machine."""
    begun = time.monotonic()
    solver = job.solver(group.flops, group.pots)
    intervals = Intervals(job.targets.check_interval, job.iterations)
    train(solver, job.rules(solver), intervals=intervals, control=piece_control())
    return _timed(solver.results(job.threads), time.monotonic() - begun)


def _timed(solved: Solved, seconds: float) -> Solved:
    for row, _ in solved:
        row["seconds"] = seconds / len(solved)
    return solved


class FlopsRun:
    """One run: solves the flops that are missing, stores them and tells how far it is."""

    def __init__(
        self,
        job: FlopsJob,
        bundle: FlopsBundle,
        executor: Executor,
        watch: Watch,
        request: InterruptRequest,
    ) -> None:
        self._job, self._bundle, self._executor = job, bundle, executor
        self._watch, self._request = watch, request
        self._missing = bundle.missing
        self.rows: list[Row] = []
        self.faults: list[FlopFault] = []
        self._in_work: list[FlopsGroup] = []
        self._lock = threading.RLock()  # any thread may write
        self._own = threading.local()  # pages of memory, by thread
        self._began = time.monotonic()

    def solve(self) -> None:
        """Solve what is missing."""
        groups = list(self._job.groups(self._missing))
        if self._executor.remote:
            self._solve_there([flop for group in groups for flop in group.one_by_one()])
        else:
            self._solve_here(groups)

    def _solve_there(self, flops: list[FlopsGroup]) -> None:
        drop(self._bundle.folder / CHECKPOINTS)  # of a run on one machine: here flops begin again
        job = replace(self._job, flops=(), resume=False)  # as much of it as a flop has to know
        left, solved = dict(enumerate(flops)), Solved()

        def take(index: int, results: Solved) -> None:
            del left[index]
            solved.extend(results)

        def keep() -> None:
            if solved:
                self._keep(solved)
                solved.clear()
            # Which of them are in work is a guess: they are begun in their order.
            self._in_work = list(left.values())[: self._executor.at_once]
            self._tell()

        keep()
        self._executor.map(
            partial(solve_there, job),
            flops,
            take,
            control=self._request,
            on_error=lambda index, error: self._fail(left.pop(index), error),
            on_tick=keep,
        )

    def _solve_here(self, groups: list[FlopsGroup]) -> None:
        self._drop_checkpoints({group.name for group in groups})
        self._tell()
        while groups:
            groups = self._attempt(groups)
        with suppress(OSError):  # there is none, or not all are solved
            self._folder.rmdir()

    def _attempt(self, groups: list[FlopsGroup]) -> list[FlopsGroup]:
        """Solve groups; the flops of those that fail, each for itself."""
        again: list[FlopsGroup] = []

        def keep(index: int, solved: Solved) -> None:
            self._keep(solved)
            shutil.rmtree(self._folder / groups[index].name, ignore_errors=True)
            self._tell()

        def fail(index: int, error: Exception) -> None:
            if len(groups[index].flops) > 1:  # which of them it is comes out one by one
                again.extend(groups[index].one_by_one())
            else:
                self._fail(groups[index], error)
                self._tell()

        self._executor.map(self._train, groups, keep, control=self._request, on_error=fail)
        return again

    @property
    def _folder(self) -> Path:
        """Of the checkpoints."""
        folder = self._bundle.folder
        assert isinstance(folder, Path)  # elsewhere is for clusters
        return folder / CHECKPOINTS

    def _drop_checkpoints(self, names: set[str]) -> None:
        """Remove the checkpoints of groups that are not in this run."""
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if not (path.is_dir() and path.name in names):
                drop(path)

    def _train(self, group: FlopsGroup) -> Solved:
        """Train a group in this process; a checkpoint is saved where the run is to stop."""
        begun, control = time.monotonic(), piece_control()
        with self._lock:
            self._in_work.append(group)

        def tell(progress: Progress) -> None:
            group.progress = progress
            self._tell()

        try:
            self._own.pages = getattr(self._own, "pages", None) or PagesAgain()
            solver = self._job.solver(group.flops, group.pots, self._own.pages)
            folder = self._folder / group.name
            if control.wants_to_stop():
                raise StoppedError
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
                control=control,
            )
            if outcome.reason == "interrupted":
                raise StoppedError
            solved = solver.results(self._job.threads)
        finally:
            with self._lock:
                self._in_work.remove(group)
                group.progress = None  # its rules know the solver
        return _timed(solved, (time.monotonic() - begun) / self._executor.at_once)

    def _intervals(self, keys: int) -> Intervals:
        job = self._job
        seconds = self._executor.at_once * job.estimate(keys).seconds / job.iterations
        save = max(1, round(CHECKPOINT_SECONDS / max(seconds, 1e-6)))
        return Intervals(job.targets.check_interval, min(save, job.iterations))

    def _keep(self, solved: Solved) -> None:
        """Store flops that are solved; an `InputError` if there is no room."""
        self._bundle.save(solved)
        with self._lock:
            self.rows += [row for row, _ in solved]

    def _fail(self, group: FlopsGroup, error: Exception) -> None:
        """Note that a group cannot be solved, and why."""
        kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
        message = " ".join(f"{kind}{error}".split())
        with self._lock:
            self.faults += [FlopFault(*key, message) for key in group.keys]

    def _tell(self) -> None:
        """Let the observer see where the run stands."""
        if not self._watch.flops:
            return
        with self._lock:
            before = len(self._bundle.wanted) - len(self._missing)
            shown = self._in_work if self._executor.remote else self._in_work[:1]
            progress = FlopsProgress(
                done=before + len(self.rows),
                total=len(self._bundle.wanted),
                before=before,
                failed=len(self.faults),
                seconds=time.monotonic() - self._began,
                nodes=self._executor.nodes(),
                rows=tuple(self.rows),
                faults=tuple(self.faults),
                running=tuple(key for group in shown for key in group.keys),
                group=shown[0].progress if shown else None,
            )
            self._watch.flops(progress)


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
