"""Flops one by one as a job: missing flops are solved and stored one at a time.

On this machine:

1. Build the engine of a group of flops, train it until all of them are solved or their iterations
   are over, store them, and start the next group: memory holds a few groups at a time. On one
   thread it is one group. On several there are more: while a group is laid out in Python, stored,
   or down to its last flops, threads find work in another.
2. A group that fails is solved flop by flop. Flops that fail then are noted; `--resume` tries them
again.
3. Ctrl-C saves the groups in progress as checkpoints; finished flops are stored already.

On a cluster every flop is a piece for any machine. The loop trains it there as it would here, and
each solution is stored here when it arrives. Ctrl-C ends the flops in progress, and `--resume`
begins them again.

A flop's solution depends only on its settings, so threads, machines, order and interruptions change
nothing.
"""

from __future__ import annotations

import shutil
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from allstreets.base import (
    Arrays,
    InputError,
    InterruptRequest,
    Place,
    Remote,
    available_bytes,
    data_size,
    duration,
    interrupt_request,
    thread_count,
)
from allstreets.cards import Flop, FlopSet
from allstreets.cfr import Pruning, Schedule
from allstreets.cluster import Need
from allstreets.engines import CPU, CardModel, EngineSpec, PagesAgain
from allstreets.games import PotGame
from allstreets.jobs.cluster_training import require_cluster
from allstreets.jobs.config.flops import PostflopModelConfig
from allstreets.jobs.executors import Executor, Here, StoppedError, on_cluster, piece_control
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Plan, Progress, Reason, StopRule, Tally
from allstreets.jobs.loop import CHECKPOINTS, RunFiles, train
from allstreets.jobs.stopping import Intervals, Iterations
from allstreets.solutions import WholeSolution, row_weight, summary_of
from allstreets.solvers import (
    FlopEstimate,
    FlopsSolver,
    FlopTargets,
    estimate_flops,
    group_size,
    require_flop_room,
)
from allstreets.storage import (
    CheckpointWarning,
    FlopsBundle,
    Key,
    Row,
    claim,
    drop,
    latest_checkpoint,
    load_flops,
)

CHECKPOINT_SECONDS = 300
FAULTS_SHOWN = 5

Solved = list[tuple[Row, Arrays]]  # the figures of flops, and what is stored of them


@dataclass(frozen=True)
class FlopFault:
    """A flop that could not be solved, and why."""

    flop: str
    spr: float
    message: str


def flop_figures(progress: Progress, rows: Sequence[Row]) -> list[str]:
    """The figures beside the count: exploitability of the `rows` solved so far, time, memory."""
    parts = []
    if rows:
        weights = [row_weight(row) for row in rows]
        reached = [row["exploitability"] for row in rows]
        mean = sum(w * e for w, e in zip(weights, reached, strict=True)) / sum(weights)
        parts.append(f"expl mean {mean:.4f} max {max(reached):.4f} of pot")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    return [*parts, f"ETA {duration(progress.eta_seconds)}", data_size(progress.process_bytes)]


@dataclass(eq=False)
class FlopsGroup:
    """Flops that are solved side by side, and their progress."""

    flops: Sequence[Flop]
    pots: Sequence[PotGame]
    progress: Progress | None = None

    @property
    def keys(self) -> tuple[Key, ...]:
        """Flops and stack-to-pot ratios."""
        return tuple((flop.text, pot.pot.spr) for flop in self.flops for pot in self.pots)

    @property
    def name(self) -> str:
        """The name of the folder of its checkpoints; no two groups of a run share a flop."""
        return f"{self.flops[0].text}-{len(self.flops)}"

    def one_by_one(self) -> Iterator[FlopsGroup]:
        """The flops as groups of one."""
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
    """One run: solves the missing flops, stores them and reports progress."""

    def __init__(
        self,
        job: FlopsJob,
        bundle: FlopsBundle,
        executor: Executor,
        callbacks: Callbacks,
        request: InterruptRequest,
    ) -> None:
        self._job, self._bundle, self._executor = job, bundle, executor
        self._request = request
        self._missing = bundle.missing
        self.rows: list[Row] = []
        self.faults: list[FlopFault] = []
        self._in_work: list[FlopsGroup] = []
        self._lock = threading.RLock()  # any thread may write
        self._own = threading.local()  # pages of memory, by thread
        self._tally = Tally(
            "flops",
            len(bundle.wanted),
            len(bundle.wanted) - len(self._missing),
            callbacks.progress,
            executor.nodes,
            lambda progress: flop_figures(progress, self.rows),
        )

    def solve(self) -> None:
        """Solve the missing flops; those of a group that fails one by one."""
        groups = list(self._job.groups(self._missing))
        function: Callable[[FlopsGroup], Solved] = self._train
        if self._executor.remote:
            groups = [flop for group in groups for flop in group.one_by_one()]
            job = replace(self._job, flops=(), resume=False)  # the part of it that a flop needs
            function = partial(solve_there, job)
            drop(self._bundle.folder / CHECKPOINTS)  # of a run on one machine: flops begin again
        else:
            self._drop_checkpoints({group.name for group in groups})
        while groups:
            groups = self._attempt(function, groups)
        if not self._executor.remote:
            with suppress(OSError):  # there is none, or not all are solved
                self._folder.rmdir()

    def _attempt(
        self, function: Callable[[FlopsGroup], Solved], groups: list[FlopsGroup]
    ) -> list[FlopsGroup]:
        """Solve groups and store them as they come; return the flops to try once more."""
        again: list[FlopsGroup] = []
        left, solved = dict(enumerate(groups)), dict[int, Solved]()

        def take(index: int, results: Solved) -> None:
            del left[index]
            solved[index] = results

        def keep() -> None:
            if solved:
                self._bundle.save([flop for results in solved.values() for flop in results])
                with self._lock:
                    self.rows += [row for results in solved.values() for row, _ in results]
            if self._executor.remote:
                # Which of them are in progress is a guess: they are begun in order.
                self._in_work = list(left.values())[: self._executor.at_once]
            else:
                for index in solved:
                    shutil.rmtree(self._folder / groups[index].name, ignore_errors=True)
            solved.clear()
            self._tell()

        def fail(index: int, error: Exception) -> None:
            group = left.pop(index)
            if len(group.flops) > 1:  # solved one by one, the failing flop shows
                again.extend(group.one_by_one())
                return
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            message = " ".join(f"{kind}{error}".split())
            with self._lock:
                self.faults += [FlopFault(*key, message) for key in group.keys]

        keep()
        self._executor.map(
            function, groups, take, control=self._request, on_error=fail, on_tick=keep
        )
        return again

    @property
    def _folder(self) -> Path:
        """The folder of the checkpoints."""
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
                    save_finished=False,  # its flops are stored in a moment
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

    def _tell(self) -> None:
        """Report the progress of the run; flops that fail are not done."""
        with self._lock:
            total = len(self._bundle.wanted)
            shown = self._in_work if self._executor.remote else self._in_work[:1]
            done, failed = total - len(self._missing) + len(self.rows), len(self.faults)
            self._tally.tell(
                done,
                failed=failed,
                left=total - done - failed,
                faults=tuple(f"flop {fault.flop} failed: {fault.message}" for fault in self.faults),
                running=tuple(key for group in shown for key in group.keys),
                part=shown[0].progress if shown else None,
            )


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


@dataclass(frozen=True)
class FlopsOutcome:
    """The outcome of a job."""

    job: FlopsJob
    rows: tuple[Row, ...]  # everything requested that the folder holds
    missing: tuple[Key, ...]
    faults: tuple[FlopFault, ...]
    interrupted: bool
    solved: int  # in this run
    seconds: float  # of the whole job, that before a resume included

    unsaved: ClassVar[str | None] = None
    warning: ClassVar[str | None] = None
    opening: ClassVar[WholeSolution | None] = None  # flops one by one have none

    @property
    def problem(self) -> str | None:
        """The reason why no other job can build on it, in words."""
        if not self.missing:
            return None
        fault = f": {self.faults[0].message}" if self.faults else ""
        return f"{len(self.missing):,} flops could not be solved{fault}"

    def result(self) -> WholeSolution:
        """The solution, read from its folder when it is needed."""
        return load_flops(self.job.output)

    def lines(self) -> list[str]:
        """The number of solved flops, their accuracy, and those that failed."""
        job, figures, goal, lines = self.job, self.to_json(), self.job.targets.exploitability, []
        if self.rows:
            mean, most = figures["exploitability_mean"], figures["exploitability_max"]
            lines.append(
                f"Solved {figures['solved']:,} of {len(job.places):,} flops in "
                f"{duration(self.seconds)}: exploitability {100 * mean:.2f} % of the pot on "
                f"average, {100 * most:.2f} % at most; {figures['iterations_mean']:.0f} iterations"
            )
            above = figures["solved"] - figures["converged"]
            if above and goal:
                lines.append(
                    f"{above:,} of them ended after {job.iterations:,} iterations above the "
                    f"threshold of {100 * goal:g} %."
                )
        for fault in self.faults[:FAULTS_SHOWN]:
            lines.append(f"Flop {fault.flop} at SPR {fault.spr:g} failed: {fault.message}")
        if len(self.faults) > FAULTS_SHOWN:
            lines.append(f"… and {len(self.faults) - FAULTS_SHOWN:,} more failed.")
        return lines

    def way_on(self, kept: Place, again: str) -> list[str]:
        """The advice on solving the missing flops: by the command `again`."""
        del kept
        count = len(self.missing)
        word = "Interrupted" if self.interrupted else "Not everything is solved"
        left = "1 flop is" if count == 1 else f"{count:,} flops are"
        return [f"{word}, {left} missing. Continue with: {again}"] if count else []

    def save(self, output: Path) -> None:
        """Do nothing: every flop is saved when it is solved."""

    def look(self) -> list[str]:
        """A flop for a report."""
        if not self.rows:
            return []
        spr = ["--spr", f"{self.rows[0]['spr']:g}"] if len(self.job.pots) > 1 else []
        return ["--flop", self.rows[0]["flop"], *spr]

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
        """Whether nothing is left in progress."""
        del progress
        return not self.solver.in_work.any()

    def describe(self, unit: str) -> str:
        """The plan in words."""
        del unit
        return f"every flop at most {100 * self.solver.targets.exploitability:g} % of the pot"


@dataclass(frozen=True, eq=False)
class FlopsJob:
    """A config that has been read, and its needs."""

    config: PostflopModelConfig
    flops: tuple[Flop, ...]
    pots: tuple[PotGame, ...]  # one for each stack-to-pot ratio
    model: CardModel
    targets: FlopTargets
    iterations: int
    schedule: Schedule
    pruning: Pruning | None
    threads: int
    output: Place
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
        if isinstance(self.output, Remote):
            require_cluster(self.output, self.config.cluster)
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
        """Estimate the memory and time of `missing` pots on flops."""
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

    def groups(self, missing: Sequence[Key]) -> Iterator[FlopsGroup]:
        """Flops that are trained side by side, until nothing is missing.

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
                yield FlopsGroup(flops[first : first + count], pots)

    def plan(self) -> Plan:
        """Plan the missing flops; an `InputError` if they do not fit into memory."""
        missing, wanted = len(self.bundle.missing), len(self.bundle.wanted)
        need, on_cluster = self.estimate(missing), self.config.cluster is not None
        if not on_cluster:  # where the machines report what they have
            require_flop_room(need, available_bytes())
        sprs = ", ".join(f"{pot.pot.spr:g}" for pot in self.pots)
        done = f" ({wanted - missing:,} of {wanted:,} are solved)" if missing < wanted else ""
        name = f"{self.name}: " if self.name else ""
        line = (
            f"{name}{len(self.flops):,} flops at SPR {sprs}{done}, "
            f"{self.config.cards}, {need.nodes:,} tree nodes, "
            f"about {data_size(need.memory_bytes)}, at most about "
            f"{duration(max(need.seconds, 1)) if missing else '0:00'} on {self.threads} "
            f"thread{'s' if self.threads > 1 else ''}{' of a cluster' if on_cluster else ''}"
        )
        return Plan((line,), need.memory_bytes, need.seconds, f"flops-{self.model.kind}")

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> FlopsOutcome:
        """Solve what is missing."""
        bundle = self.bundle
        callbacks.begin()
        doing = f"saving to {self.output}"
        with (
            claim(self.output),
            self._executor(callbacks) as executor,
            interrupt_request(doing, "no flop that is finished") as request,
        ):
            bundle.clear_unfinished()
            bundle.write_manifest()
            request.hold()
            run = FlopsRun(self, bundle, executor, callbacks, request)
            run.solve()
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
            faults=tuple(sorted(run.faults, key=lambda fault: order[fault.flop, fault.spr])),
            interrupted=request.made and bool(bundle.missing),
            solved=len(run.rows),
            seconds=bundle.seconds,
        )

    def _executor(self, callbacks: Callbacks) -> AbstractContextManager[Executor]:
        """The executor, ready before anything is written."""
        if self.config.cluster is None:
            return nullcontext(Here(self.estimate(len(self.bundle.missing)).at_once))
        memory_bytes = replace(self, threads=1).estimate(len(self.pots)).memory_bytes
        need = Need(self.threads, int(self.device != CPU), memory_bytes)
        return on_cluster(self.config.cluster, need, "a flop", tell=callbacks.message)

    def rules(self, solver: FlopsSolver) -> list[StopRule]:
        """The rules by which flops are done."""
        return [EveryFlopSolved(solver), Iterations(self.iterations)]

    def solver(
        self, flops: Sequence[Flop], pots: Sequence[PotGame], pages: PagesAgain | None = None
    ) -> FlopsSolver:
        """The solver of a group, untrained, in the memory of the last user of the `pages`."""
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
    output: Place,
    *,
    resume: bool = False,
    threads: int | None = None,
    name: str | None = None,
    description: str | None = None,
) -> FlopsJob:
    """Read the job out of a config; on a cluster `threads` are those of a flop, by default one."""
    wanted = config.threads if threads is None else threads
    if config.cluster is not None:
        wanted = wanted or 1
    return FlopsJob(
        config,
        config.chosen_flops(),
        config.pots(),
        config.card_model(),
        config.targets(),
        config.iterations,
        config.schedule(),
        config.pruning(),
        thread_count(wanted),
        output,
        resume,
        name,
        description,
        config.device,
    )
