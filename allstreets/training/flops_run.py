"""Flops one by one as a job: what is missing is solved and stored flop by flop.

1. Refuse what cannot work, and take over what a folder to be resumed holds.
2. Solve what is missing (`flops_groups`), with the threads of this machine or on a cluster. Flops
   are stored as soon as they are solved.
3. A flop that fails is noted and the others go on; `--resume` tries it again.

A flop's solution depends on its settings alone, so that threads, machines, order and interruptions
change nothing.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from allstreets.base import (
    InputError,
    Place,
    Remote,
    available_bytes,
    interrupt_request,
    thread_count,
)
from allstreets.cards import Flop, FlopSet
from allstreets.cfr import Pruning, Schedule
from allstreets.cluster import Need
from allstreets.engines import CPU, CardModel, EngineSpec, PagesAgain
from allstreets.games import PotGame
from allstreets.jobs import Executor, Here, on_cluster
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
from allstreets.training.cluster_run import require_cluster
from allstreets.training.flops_groups import FlopFault, FlopsGroup, FlopsRun
from allstreets.training.postflop_config import PostflopModelConfig
from allstreets.training.records import Progress, Reason
from allstreets.training.stopping import Iterations, StopRule
from allstreets.training.watch import NOBODY, Watch


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

    def run(self, watch: Watch = NOBODY) -> FlopsOutcome:
        """Solve what is missing."""
        bundle = self.bundle
        if watch.ready:
            watch.ready()
        doing = f"saving to {self.output}"
        with (
            claim(self.output),
            self._executor(watch) as executor,
            interrupt_request(doing, "no flop that is finished") as request,
        ):
            bundle.clear_unfinished()
            bundle.write_manifest()
            request.hold()
            run = FlopsRun(self, bundle, executor, watch, request)
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
            faults=tuple(sorted(run.faults, key=lambda one: order[one.flop, one.spr])),
            interrupted=request.made and bool(bundle.missing),
            solved=len(run.rows),
            seconds=bundle.seconds,
        )

    def _executor(self, watch: Watch) -> AbstractContextManager[Executor]:
        """Gets ready, before anything is written."""
        if self.config.cluster is None:
            return nullcontext(Here(self.estimate(len(self.bundle.missing)).at_once))
        memory_bytes = replace(self, threads=1).estimate(len(self.pots)).memory_bytes
        need = Need(self.threads, int(self.device != CPU), memory_bytes)
        return on_cluster(self.config.cluster, need, "a flop", tell=watch.told)

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
