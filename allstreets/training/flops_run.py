"""Flops one by one as a job: groups of flops, each trained by the loop and stored when it is done.

1. Refuse what cannot work, and take over what a folder to be resumed holds.
2. Build the engine of a group of flops, train it until all of them are solved or their iterations
   are over, store them, and go on with the next group: memory holds one group at a time.
3. A group that fails is noted and the others go on; `--resume` tries it again.
4. Ctrl-C saves the group in work as a checkpoint; finished flops are stored already.

A flop's solution depends on its settings alone, so that threads, order and interruptions change
nothing.
"""

import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from allstreets.base import Arrays, InputError, InterruptRequest, interrupt_request, thread_count
from allstreets.cards import Flop, FlopSet
from allstreets.cfr import Pruning, Schedule
from allstreets.solvers import (
    FlopEstimate,
    FlopsResult,
    FlopsSolver,
    FlopTargets,
    PotGame,
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
from allstreets.subgames import CardModel, EngineSpec
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
    running: tuple[Key, ...]  # the group in work
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
            flops, self.pots, self.model, self.iterations, self.targets, self.threads
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

    def solver(self, flops: Sequence[Flop], pots: Sequence[PotGame]) -> FlopsSolver:
        """The solver of a group, untrained."""
        spec = EngineSpec(
            tuple(pot.rules for pot in pots), tuple(flops), self.model, threads=self.threads
        )
        weights = np.array([flop.multiplicity for flop in flops], np.float64)
        return FlopsSolver(
            pots,
            FlopSet("group", tuple(flops), weights),
            spec.build([(pot.tree, pot.payoffs) for pot in pots]),
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
    )


class _GroupError(Exception):
    """A group could not be solved; its cause says why."""


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
        self._request = request
        self.rows: list[Row] = []
        self.faults: list[FlopFault] = []
        self._missing = bundle.missing
        self._running: tuple[Key, ...] = ()
        self._began = time.monotonic()

    def to_the_end(self) -> None:
        self._tell(None)
        for flops, pots in self._job.groups(self._missing):
            if not self._attempt(flops, pots):
                return

    def _attempt(self, flops: Sequence[Flop], pots: Sequence[PotGame]) -> bool:
        """Solve a group, or what can be solved of it; False: the user has ended the run."""
        self._running = tuple((flop.text, pot.pot.spr) for flop in flops for pot in pots)
        try:
            if not self._solve(flops, pots):
                return False
        except _GroupError as failed:
            if len(flops) > 1:  # which of them it is comes out one by one
                return all(self._attempt([flop], pots) for flop in flops)
            error = failed.__cause__
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            message = " ".join(f"{kind}{error}".split())
            self.faults += [FlopFault(*key, message) for key in self._running]
        self._running = ()
        self._tell(None)
        return True

    def _solve(self, flops: Sequence[Flop], pots: Sequence[PotGame]) -> bool:
        """Solve and store a group; False: the user has ended the run."""
        begun = time.monotonic()
        try:
            solved = self._train(flops, pots)
        except Exception as error:
            raise _GroupError from error
        if solved is None:
            return False
        seconds = (time.monotonic() - begun) / len(solved)
        for row, _ in solved:
            row["seconds"] = seconds
        self._bundle.save(solved)
        self.rows += [row for row, _ in solved]
        shutil.rmtree(self._bundle.folder / CHECKPOINTS, ignore_errors=True)
        return True

    def _train(
        self, flops: Sequence[Flop], pots: Sequence[PotGame]
    ) -> list[tuple[Row, Arrays]] | None:
        """What came out of a group; None: it was interrupted, and saved."""
        solver = self._job.solver(flops, pots)
        folder = self._bundle.folder / CHECKPOINTS
        if self._request.wants_to_stop():
            return None
        outcome = train(
            solver,
            self._rules(solver),
            intervals=self._intervals(len(self._running)),
            files=RunFiles(
                folder,
                resume=_fits(folder, solver),
                own_folder=True,
                save_finished=False,  # its flops are kept in a moment
            ),
            observers=[self._tell],
            control=self._request,
        )
        return None if outcome.reason == "interrupted" else solver.results(self._job.threads)

    def _rules(self, solver: FlopsSolver) -> list[StopRule]:
        return [EveryFlopSolved(solver), Iterations(self._job.iterations)]

    def _intervals(self, keys: int) -> Intervals:
        seconds = self._job.estimate(keys).seconds / self._job.iterations
        save = max(1, round(CHECKPOINT_SECONDS / max(seconds, 1e-6)))
        return Intervals(self._job.targets.check_interval, min(save, self._job.iterations))

    def _tell(self, group: Progress | None) -> None:
        seconds = time.monotonic() - self._began
        left = len(self._missing) - len(self.rows) - len(self.faults)
        progress = FlopsProgress(
            total=len(self._bundle.wanted),
            before=len(self._bundle.wanted) - len(self._missing),
            rows=tuple(self.rows),
            faults=tuple(self.faults),
            running=self._running,
            group=group,
            seconds=seconds,
            eta_seconds=seconds / len(self.rows) * left if self.rows else None,
            process_bytes=process_bytes(),
        )
        if self._watch.flops:
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
