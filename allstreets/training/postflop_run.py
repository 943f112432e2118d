"""Solving a model of flops as a job: flops side by side, each kept as soon as it is done.

1. Refuse what cannot work, and take over what a folder to be resumed holds.
2. Every thread solves one flop at a time; the main thread keeps results and tells how far it is.
3. A flop that fails is noted and the others go on; `--resume` tries it again.
4. Ctrl-C stops within a moment: flops in work are dropped, finished ones are kept.

A flop's solution depends on its settings alone, so that threads, order and interruptions change
nothing.
"""

import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allstreets.base import InputError, thread_count
from allstreets.base.interrupt import interrupt_request
from allstreets.cards import Flop
from allstreets.solvers.flops.estimate import FlopEstimate, estimate_flops
from allstreets.solvers.flops.game import FlopGame
from allstreets.solvers.flops.model import Desk, FlopProgress, FlopResult, FlopSolver
from allstreets.solvers.flops.result import summary_of
from allstreets.storage.checkpoints import CheckpointWarning
from allstreets.storage.claim import claim
from allstreets.storage.flop_bundle import FlopBundle, Key, Row
from allstreets.training.estimate import process_bytes
from allstreets.training.postflop_config import PostflopModelConfig

TICK_SECONDS = 0.1  # between two records of progress
PACE_FLOPS = 100  # that the estimate of the time to go looks back


@dataclass(frozen=True)
class FlopFault:
    """A flop that could not be solved, and why."""

    flop: str
    spr: float
    message: str


@dataclass(frozen=True)
class FlopsProgress:
    """Where a job stands."""

    total: int  # flops times stack-to-pot ratios
    before: int  # that were there when this run began
    rows: tuple[Row, ...]  # solved in this run, in the order in which they were done
    faults: tuple[FlopFault, ...]
    running: tuple[FlopProgress, ...]  # the most advanced first
    several_sprs: bool
    seconds: float  # of this run
    eta_seconds: float | None
    process_bytes: int | None

    @property
    def done(self) -> int:
        """How many are solved."""
        return self.before + len(self.rows)


FlopsObserver = Callable[[FlopsProgress], None]


@dataclass(frozen=True)
class FlopsOutcome:
    """What a job came to."""

    rows: tuple[Row, ...]  # everything that the folder holds and was asked for
    missing: tuple[Key, ...]
    faults: tuple[FlopFault, ...]
    interrupted: bool
    solved: int  # in this run
    seconds: float  # of the whole job, that before a resume included

    def figures(self) -> dict[str, Any]:
        """The job in figures, as JSON data."""
        summary = summary_of(self.rows)
        return {
            **summary,
            "missing": len(self.missing),
            "faults": [fault.__dict__ for fault in self.faults],
            "interrupted": self.interrupted,
            "solved_now": self.solved,
            "seconds": self.seconds,
        }


class PostflopJob:
    """A job that has been checked and can be run."""

    def __init__(
        self,
        config: PostflopModelConfig,
        output: Path,
        *,
        resume: bool = False,
        threads: int | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        self.config, self._resume = config, resume
        self.threads = thread_count(config.threads if threads is None else threads)
        self.flops, self.games = config.flops(), config.games()
        self.model, self.ends = config.model(), config.ends()
        self._places: dict[Key, tuple[Flop, FlopGame]] = {
            (flop.text, game.spr): (flop, game) for flop in self.flops for game in self.games
        }
        self._desks = threading.local()
        self.bundle = FlopBundle(output, config.identity(), [*self._places], name, description)
        if resume:
            self.bundle.resume()
        else:
            self.bundle.require_free()

    def estimate(self) -> FlopEstimate:
        """What it takes to solve what is missing."""
        missing = len(self.bundle.missing)
        flops = -(-missing // len(self.games))
        return estimate_flops(max(flops, 1), self.games, self.model, self.ends, self.threads)

    def run(self, observers: Sequence[FlopsObserver] = ()) -> FlopsOutcome:
        """Solve what is missing."""
        bundle = self.bundle
        doing = f"stopping, finished flops are kept in {bundle.folder}"
        with (
            claim(bundle.folder),
            interrupt_request(doing, "no flop that is finished") as request,
        ):
            bundle.clear_unfinished()
            _writing(bundle)
            request.hold()
            run = _Run(self, observers, lambda: request.made)
            run.to_the_end()
            try:
                _writing(bundle)
            except InputError as error:  # the files tell what the manifest does not
                warnings.warn(
                    f"{error}; every solved flop is kept", CheckpointWarning, stacklevel=2
                )
        order = {key: place for place, key in enumerate(bundle.wanted)}
        there = tuple(bundle.rows[key] for key in bundle.wanted if key in bundle.rows)
        return FlopsOutcome(
            rows=there,
            missing=tuple(bundle.missing),
            faults=tuple(sorted(run.faults, key=lambda one: order[one.flop, one.spr])),
            interrupted=request.made and bool(bundle.missing),
            solved=len(run.rows),
            seconds=bundle.seconds,
        )

    def solve(self, key: Key, stopped: Callable[[FlopProgress], bool]) -> FlopResult | None:
        """One flop, in any thread; `None` if it was asked to stop."""
        flop, game = self._places[key]
        solver = FlopSolver(flop, game, self.model, self._desk())
        for progress in solver.run(self.ends):
            if stopped(progress):
                return None
        return solver.result()

    def _desk(self) -> Desk:
        """That of this thread."""
        if not hasattr(self._desks, "own"):
            self._desks.own = Desk()
        own: Desk = self._desks.own
        return own


class _Run:
    """The moving parts of one run."""

    def __init__(
        self,
        job: PostflopJob,
        observers: Sequence[FlopsObserver],
        interrupted: Callable[[], bool],
    ) -> None:
        self._job, self._observers, self._interrupted = job, observers, interrupted
        self.rows: list[Row] = []
        self.faults: list[FlopFault] = []
        self._todo = job.bundle.missing
        self._before = len(job.bundle.wanted) - len(self._todo)
        self._running: dict[Key, FlopProgress] = {}
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._finished = deque([self._began], maxlen=PACE_FLOPS + 1)

    def to_the_end(self) -> None:
        self._tell()
        with self._pool() as pool:
            futures = {pool.submit(self._work, key): key for key in self._todo}
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, TICK_SECONDS, FIRST_COMPLETED)
                for future in [one for one in futures if one in done]:  # as they were begun
                    self._take(futures[future], future)
                if self._interrupted() and not self._stop.is_set():
                    self._stop.set()
                    waiting = {future for future in waiting if not future.cancel()}
                self._tell()

    @contextmanager
    def _pool(self) -> Iterator[ThreadPoolExecutor]:
        """Threads that are told to stop whatever ends the work."""
        pool = ThreadPoolExecutor(self._job.threads)
        try:
            yield pool
        finally:
            self._stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, key: Key) -> FlopResult | None:
        """One flop, in a thread of the pool."""
        try:
            return self._job.solve(key, lambda progress: self._note(key, progress))
        finally:
            self._running.pop(key, None)

    def _note(self, key: Key, progress: FlopProgress) -> bool:
        self._running[key] = progress
        return self._stop.is_set()

    def _take(self, key: Key, future: "Future[FlopResult | None]") -> None:
        self._finished.append(time.monotonic())
        error = future.exception()
        if isinstance(error, Exception):
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            self.faults.append(FlopFault(*key, " ".join(f"{kind}{error}".split())))
            return
        result = future.result()
        if result is not None:
            self.rows.append(self._job.bundle.save(result))

    def _tell(self) -> None:
        running = list(self._running.values())  # at once: the threads go on
        running.sort(key=lambda one: -one.iteration / max(one.total, 1))
        now = time.monotonic()
        left = len(self._todo) - len(self.rows) - len(self.faults)
        recent = len(self._finished) - 1
        pace = (now - self._finished[0]) / recent if recent else None
        progress = FlopsProgress(
            total=self._before + len(self._todo),
            before=self._before,
            rows=tuple(self.rows),
            faults=tuple(self.faults),
            running=tuple(running),
            several_sprs=len(self._job.games) > 1,
            seconds=now - self._began,
            eta_seconds=pace * left if pace is not None else None,
            process_bytes=process_bytes(),
        )
        for observer in self._observers:
            observer(progress)


def _writing(bundle: FlopBundle) -> None:
    try:
        bundle.write_manifest()
    except OSError as error:
        raise InputError(
            f"cannot write to {bundle.folder}: {error.strerror or error}; make room or name "
            "another folder"
        ) from error
