"""Flops one by one as a job: groups of flops, each trained by the loop and stored when it is done.

1. Refuse what cannot work, and take over what a folder to be resumed holds.
2. Build the engine of a group of flops, train it until all of them are solved or their iterations
   are over, store them, and go on with the next group: memory holds a few groups at a time. On one
   thread it is one. On more there are others in work: while a group is laid out in Python, stored,
   or down to its last flops, threads find work in them.
3. A group that fails is noted and the others go on; `--resume` tries it again.
4. Ctrl-C saves the groups in work as checkpoints; finished flops are stored already.

A flop's solution depends on its settings alone, so that threads, order and interruptions change
nothing.
"""

import shutil
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from allstreets.base import (
    Arrays,
    Control,
    InputError,
    InterruptRequest,
    interrupt_request,
    thread_count,
)
from allstreets.cards import Flop, FlopSet
from allstreets.cfr import Pruning, Schedule
from allstreets.kernels.cuda.device import CPU
from allstreets.solvers import (
    FlopEstimate,
    FlopsResult,
    FlopsSolver,
    FlopTargets,
    PotGame,
    available_bytes,
    estimate_flops,
    group_size,
    summary_of,
)
from allstreets.storage import (
    CheckpointWarning,
    FlopsBundle,
    Key,
    Row,
    claim,
    latest_checkpoint,
    load_flops,
)
from allstreets.subgames import CardModel, EngineSpec, PagesAgain
from allstreets.training.estimate import process_bytes
from allstreets.training.folder_run import CHECKPOINTS
from allstreets.training.loop import Intervals, RunFiles, train
from allstreets.training.postflop_config import PostflopModelConfig
from allstreets.training.records import Progress, Reason
from allstreets.training.stopping import Iterations, StopRule
from allstreets.training.watch import NOBODY, Watch

CHECKPOINT_SECONDS = 300


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
    before: int  # that were solved when this run began
    rows: tuple[Row, ...]  # solved in this run
    faults: tuple[FlopFault, ...]
    running: tuple[Key, ...]  # the group in work, of several the one that began first
    group: Progress | None  # how far it is
    seconds: float  # of this run
    eta_seconds: float | None
    process_bytes: int | None

    @property
    def done(self) -> int:
        """How many are solved."""
        return self.before + len(self.rows)


@dataclass(frozen=True)
class FlopsOutcome:
    """The outcome of a job."""

    job: "FlopsJob"
    rows: tuple[Row, ...]  # everything requested that the folder holds
    missing: tuple[Key, ...]
    faults: tuple[FlopFault, ...]
    interrupted: bool
    solved: int  # in this run
    seconds: float  # of the whole job, that before a resume included

    @property
    def problem(self) -> str | None:
        """Why no other job can build on it, for people."""
        if not self.missing:
            return None
        fault = f": {self.faults[0].message}" if self.faults else ""
        return f"{len(self.missing):,} flops could not be solved{fault}"

    def result(self) -> FlopsResult:
        """The solution, read from its folder when it is needed."""
        return load_flops(self.job.output)

    def to_json(self) -> dict[str, Any]:
        """The job in figures."""
        return {
            **summary_of(self.rows),
            "missing": len(self.missing),
            "faults": [fault.__dict__ for fault in self.faults],
            "interrupted": self.interrupted,
            "solved_now": self.solved,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class EveryFlopSolved:
    """All pots on all flops of a group have reached their target."""

    solver: FlopsSolver
    name: ClassVar[Reason] = "exploitability_threshold"

    def holds(self, progress: Progress) -> bool:
        """Whether nothing is left in work."""
        del progress
        return not self.solver.in_work.any()

    def describe(self, unit: str) -> str:
        """For people."""
        del unit
        return f"every flop at most {100 * self.solver.targets.exploitability:g} % of the pot"


@dataclass(frozen=True, eq=False)
class FlopsJob:
    """A config that has been read, and what it needs."""

    config: PostflopModelConfig
    flops: tuple[Flop, ...]
    pots: tuple[PotGame, ...]  # one for each stack-to-pot ratio
    model: CardModel
    targets: FlopTargets
    iterations: int
    schedule: Schedule
    pruning: Pruning | None
    threads: int
    output: Path
    resume: bool = False
    name: str | None = None
    description: str | None = None
    device: str = CPU

    @cached_property
    def places(self) -> dict[Key, tuple[Flop, PotGame]]:
        """Every flop at every stack-to-pot ratio."""
        return {(flop.text, pot.pot.spr): (flop, pot) for flop in self.flops for pot in self.pots}

    @cached_property
    def bundle(self) -> FlopsBundle:
        """The folder of the job, refused where it cannot be written to or resumed."""
        bundle = FlopsBundle(
            self.output,
            self.config.identity(),
            self.model,
            [*self.places],
            self.name,
            self.description,
            self.config.flop_weights(),
        )
        if self.resume:
            bundle.resume()
        else:
            bundle.require_free()
        return bundle

    def estimate(self, missing: int) -> FlopEstimate:
        """What it takes to solve so many pots on flops."""
        flops = max(1, -(-missing // len(self.pots)))
        return estimate_flops(
            flops,
            self.pots,
            self.model,
            self.iterations,
            self.targets,
            self.threads,
            available_bytes(),
        )

    def groups(self, missing: Sequence[Key]) -> Iterator[tuple[list[Flop], list[PotGame]]]:
        """(flops, pots) that are trained side by side, until nothing is missing.

        They do not depend on the threads, so that a resumed run makes the same ones.
        """
        by_flop: dict[str, list[Key]] = {}
        for key in missing:
            by_flop.setdefault(key[0], []).append(key)
        by_sprs: dict[tuple[float, ...], list[Flop]] = {}
        for keys in by_flop.values():
            sprs = tuple(spr for _, spr in keys)
            by_sprs.setdefault(sprs, []).append(self.places[keys[0]][0])
        for sprs, flops in by_sprs.items():
            pots = [pot for pot in self.pots if pot.pot.spr in sprs]
            count = group_size(pots, self.model)
            for first in range(0, len(flops), count):
                yield flops[first : first + count], pots

    def run(self, watch: Watch = NOBODY) -> FlopsOutcome:
        """Solve what is missing."""
        bundle = self.bundle
        if watch.ready:
            watch.ready()
        doing = f"saving to {self.output}"
        with (
            claim(self.output),
            interrupt_request(doing, "no flop that is finished") as request,
        ):
            bundle.clear_unfinished()
            bundle.write_manifest()
            request.hold()
            run = _Run(self, bundle, watch, request)
            run.to_the_end()
            try:
                bundle.write_manifest()
            except InputError as error:
                message = f"{error}; every solved flop is kept"
                warnings.warn(message, CheckpointWarning, stacklevel=2)
        order = {key: place for place, key in enumerate(bundle.wanted)}
        rows = bundle.rows
        return FlopsOutcome(
            job=self,
            rows=tuple(rows[key] for key in bundle.wanted if key in rows),
            missing=tuple(bundle.missing),
            faults=tuple(sorted(run.faults, key=lambda one: order[one.flop, one.spr])),
            interrupted=request.made and bool(bundle.missing),
            solved=len(run.rows),
            seconds=bundle.seconds,
        )

    def solver(
        self, flops: Sequence[Flop], pots: Sequence[PotGame], pages: PagesAgain | None = None
    ) -> FlopsSolver:
        """The solver of a group, untrained, in the memory of the last one that had the `pages`."""
        pages = pages or PagesAgain()
        pages.take_back()
        spec = EngineSpec(
            tuple(pot.rules for pot in pots),
            tuple(flops),
            self.model,
            threads=min(self.threads, len(flops) * len(pots)),
            device=self.device,
        )
        weights = np.array([flop.multiplicity for flop in flops], np.float64)
        return FlopsSolver(
            pots,
            FlopSet("group", tuple(flops), weights),
            spec.build([(pot.tree, pot.payoffs) for pot in pots], pages),
            self.schedule,
            self.targets,
            self.pruning,
        )


def plan_flops(
    config: PostflopModelConfig,
    output: Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    name: str | None = None,
    description: str | None = None,
) -> FlopsJob:
    """Read the job out of a config."""
    return FlopsJob(
        config,
        config.chosen_flops(),
        config.pots(),
        config.card_model(),
        config.targets(),
        config.iterations,
        config.schedule(),
        config.pruning(),
        thread_count(config.threads if threads is None else threads),
        output,
        resume,
        name,
        description,
        config.device,
    )


class _GroupError(Exception):
    """A group could not be solved; its cause says why."""


@dataclass(eq=False)
class _Group:
    """Flops that are trained side by side, and how far they are."""

    flops: Sequence[Flop]
    pots: Sequence[PotGame]
    progress: Progress | None = None

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple((flop.text, pot.pot.spr) for flop in self.flops for pot in self.pots)

    @property
    def name(self) -> str:
        """Of the folder of its checkpoints; no two groups of a run share a flop."""
        return f"{self.flops[0].text}-{len(self.flops)}"


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


class _Run:
    """The moving parts of one run."""

    def __init__(
        self,
        job: FlopsJob,
        bundle: FlopsBundle,
        watch: Watch,
        request: InterruptRequest,
    ) -> None:
        self._job, self._bundle, self._watch = job, bundle, watch
        self._stop = _Stop(request)
        self.rows: list[Row] = []
        self.faults: list[FlopFault] = []
        self._missing = bundle.missing
        self._at_once = job.estimate(len(self._missing)).at_once
        self._in_work: list[_Group] = []
        self._lock = threading.RLock()  # around everything that groups share
        self._began = time.monotonic()

    def to_the_end(self) -> None:
        groups = [_Group(*group) for group in self._job.groups(self._missing)]
        self._drop_checkpoints({group.name for group in groups})
        self._tell()
        waiting = iter(groups)
        if self._at_once == 1:
            self._take(waiting)
        else:
            self._take_several(waiting)
        with suppress(OSError):  # there is none, or not all are solved
            self._folder.rmdir()

    def _take_several(self, waiting: Iterator[_Group]) -> None:
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

    def _take(self, waiting: Iterator[_Group]) -> None:
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

    def _attempt(self, group: _Group, pages: PagesAgain) -> bool:
        """Solve a group, or what can be solved of it; False: the user has ended the run."""
        with self._lock:
            self._in_work.append(group)
        try:
            if not self._solve(group, pages):
                return False
        except _GroupError as failed:
            if len(group.flops) > 1:  # which of them it is comes out one by one
                self._end(group)
                alone = (_Group([flop], group.pots) for flop in group.flops)
                return all(self._attempt(one, pages) for one in alone)
            error = failed.__cause__
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            message = " ".join(f"{kind}{error}".split())
            with self._lock:
                self.faults += [FlopFault(*key, message) for key in group.keys]
        self._end(group)
        self._tell()
        return True

    def _end(self, group: _Group) -> None:
        with self._lock:
            self._in_work.remove(group)
            group.progress = None  # its rules know the solver

    def _solve(self, group: _Group, pages: PagesAgain) -> bool:
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
        self._bundle.save(solved)
        with self._lock:
            self.rows += [row for row, _ in solved]
        shutil.rmtree(self._folder / group.name, ignore_errors=True)
        return True

    @property
    def _folder(self) -> Path:
        return self._bundle.folder / CHECKPOINTS

    def _drop_checkpoints(self, names: set[str]) -> None:
        """Remove the checkpoints of groups that are not in this run."""
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path.is_dir() and path.name not in names:
                shutil.rmtree(path, ignore_errors=True)
            elif not path.is_dir():
                path.unlink(missing_ok=True)

    def _train(self, group: _Group, pages: PagesAgain) -> list[tuple[Row, Arrays]] | None:
        """What came out of a group; None: it was interrupted, and saved."""
        solver = self._job.solver(group.flops, group.pots, pages)
        folder = self._folder / group.name
        if self._stop.wants_to_stop():
            return None

        def tell(progress: Progress) -> None:
            group.progress = progress
            self._tell()

        outcome = train(
            solver,
            self._rules(solver),
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

    def _rules(self, solver: FlopsSolver) -> list[StopRule]:
        return [EveryFlopSolved(solver), Iterations(self._job.iterations)]

    def _intervals(self, keys: int) -> Intervals:
        seconds = self._at_once * self._job.estimate(keys).seconds / self._job.iterations
        save = max(1, round(CHECKPOINT_SECONDS / max(seconds, 1e-6)))
        return Intervals(self._job.targets.check_interval, min(save, self._job.iterations))

    def _tell(self) -> None:
        if not self._watch.flops:
            return
        with self._lock:
            seconds = time.monotonic() - self._began
            left = len(self._missing) - len(self.rows) - len(self.faults)
            first = self._in_work[0] if self._in_work else None
            progress = FlopsProgress(
                total=len(self._bundle.wanted),
                before=len(self._bundle.wanted) - len(self._missing),
                rows=tuple(self.rows),
                faults=tuple(self.faults),
                running=first.keys if first else (),
                group=first.progress if first else None,
                seconds=seconds,
                eta_seconds=seconds / len(self.rows) * left if self.rows else None,
                process_bytes=process_bytes(),
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
