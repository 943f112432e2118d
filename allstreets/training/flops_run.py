"""Flops one by one as a job: what is missing is solved and stored flop by flop.

1. Refuse what cannot work, and take over what a folder to be resumed holds.
2. Hand what is missing to a crew: threads of this machine (`flops_here`), or the machines of a
   cluster (`flops_cluster`). Flops are stored as soon as they are solved.
3. A flop that fails is noted and the others go on; `--resume` tries it again.

A flop's solution depends on its settings alone, so that threads, machines, order and interruptions
change nothing.
"""

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from allstreets.base import (
    Arrays,
    InputError,
    InterruptRequest,
    Place,
    Remote,
    available_bytes,
    interrupt_request,
    thread_count,
)
from allstreets.cards import Flop, FlopSet
from allstreets.cfr import Pruning, Schedule
from allstreets.engines import CPU, CardModel, EngineSpec, PagesAgain
from allstreets.games import PotGame
from allstreets.solutions import WholeSolution, summary_of
from allstreets.solvers import FlopEstimate, FlopsSolver, FlopTargets, estimate_flops, group_size
from allstreets.storage import (
    CheckpointWarning,
    FlopsBundle,
    Key,
    Row,
    claim,
    load_flops,
)
from allstreets.training.cluster_nodes import NodeWork
from allstreets.training.cluster_run import require_cluster
from allstreets.training.estimate import process_bytes
from allstreets.training.flops_cluster import FlopsOnCluster
from allstreets.training.flops_here import HERE
from allstreets.training.postflop_config import PostflopModelConfig
from allstreets.training.records import Progress, Reason
from allstreets.training.stopping import Iterations, StopRule
from allstreets.training.watch import NOBODY, Watch


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
    group: Progress | None  # how far it is; not known of flops on other machines
    seconds: float  # of this run
    eta_seconds: float | None
    process_bytes: int | None
    nodes: tuple[NodeWork, ...] = ()  # what the machines of a cluster do

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

    def result(self) -> WholeSolution:
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


class FlopsCrew(Protocol):
    """Who solves flops: `FlopsHere`, `FlopsOnCluster`."""

    def begin(
        self, job: "FlopsJob", watch: Watch
    ) -> "AbstractContextManager[Callable[[FlopsRun], None]]":
        """Get ready, before anything is written; what is called to solve what a run misses."""


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
    output: Place
    resume: bool = False
    name: str | None = None
    description: str | None = None
    device: str = CPU
    crew: "FlopsCrew" = HERE

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

    def groups(self, missing: Sequence[Key]) -> "Iterator[FlopsGroup]":
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

    def run(self, watch: Watch = NOBODY) -> FlopsOutcome:
        """Solve what is missing."""
        bundle = self.bundle
        if watch.ready:
            watch.ready()
        doing = f"saving to {self.output}"
        with (
            claim(self.output),
            self.crew.begin(self, watch) as solve,
            interrupt_request(doing, "no flop that is finished") as request,
        ):
            bundle.clear_unfinished()
            bundle.write_manifest()
            request.hold()
            run = FlopsRun(self, bundle, watch, request)
            solve(run)
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

    def rules(self, solver: FlopsSolver) -> list[StopRule]:
        """When flops are done."""
        return [EveryFlopSolved(solver), Iterations(self.iterations)]

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
    output: Place,
    *,
    resume: bool = False,
    threads: int | None = None,
    name: str | None = None,
    description: str | None = None,
) -> FlopsJob:
    """Read the job out of a config; on a cluster `threads` are those of a flop, by default one."""
    wanted = config.threads if threads is None else threads
    crew: FlopsCrew = HERE
    if config.cluster is not None:
        crew, wanted = FlopsOnCluster(config.cluster), wanted or 1
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
        crew,
    )


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

    def one_by_one(self) -> "Iterator[FlopsGroup]":
        """Its flops, each for itself."""
        return (FlopsGroup([flop], self.pots) for flop in self.flops)


class FlopsRun:
    """The books of one run: what is missing, in work, solved and failed. Any thread may write."""

    def __init__(
        self, job: FlopsJob, bundle: FlopsBundle, watch: Watch, request: InterruptRequest
    ) -> None:
        self.job, self.bundle, self.request = job, bundle, request
        self._watch = watch
        self.missing = bundle.missing
        self.rows: list[Row] = []
        self.faults: list[FlopFault] = []
        self._in_work: list[FlopsGroup] = []
        self._lock = threading.RLock()
        self._began = time.monotonic()

    def begin(self, group: FlopsGroup) -> None:
        """A group is in work."""
        with self._lock:
            self._in_work.append(group)

    def end(self, group: FlopsGroup) -> None:
        """It is no more."""
        with self._lock:
            self._in_work.remove(group)
            group.progress = None  # its rules know the solver

    def keep(self, solved: Sequence[tuple[Row, Arrays]]) -> None:
        """Store flops that are solved; an `InputError` if there is no room."""
        self.bundle.save(solved)
        with self._lock:
            self.rows += [row for row, _ in solved]

    def fail(self, group: FlopsGroup, error: BaseException | None) -> None:
        """Note that a group cannot be solved, and why."""
        kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
        message = " ".join(f"{kind}{error}".split())
        with self._lock:
            self.faults += [FlopFault(*key, message) for key in group.keys]

    def tell(
        self, in_work: Sequence[FlopsGroup] | None = None, nodes: tuple[NodeWork, ...] = ()
    ) -> None:
        """Let the observer see where the run stands.

        `in_work` is shown in the place of the group that began first, `nodes` on a cluster.
        """
        if not self._watch.flops:
            return
        with self._lock:
            seconds = time.monotonic() - self._began
            left = len(self.missing) - len(self.rows) - len(self.faults)
            shown = self._in_work[:1] if in_work is None else in_work
            progress = FlopsProgress(
                total=len(self.bundle.wanted),
                before=len(self.bundle.wanted) - len(self.missing),
                rows=tuple(self.rows),
                faults=tuple(self.faults),
                running=tuple(key for group in shown for key in group.keys),
                group=shown[0].progress if shown else None,
                seconds=seconds,
                eta_seconds=seconds / len(self.rows) * left if self.rows else None,
                process_bytes=process_bytes(),
                nodes=nodes,
            )
            self._watch.flops(progress)
