"""Solving a whole game as a job: estimate, train until a rule holds, save, report the outcome."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allstreets.base import InputError, thread_count
from allstreets.cards import flop_table
from allstreets.solvers import (
    Kept,
    UnifiedEstimate,
    UnifiedFigures,
    UnifiedGame,
    UnifiedResult,
    UnifiedSolver,
    estimate_unified,
    first_ranges,
    keep,
    require_room,
)
from allstreets.storage import (
    require_checkpoints,
    require_no_checkpoints,
    require_unified_folder,
    save_unified,
)
from allstreets.training.device_plan import DevicePlan, plan_device
from allstreets.training.folder_run import CHECKPOINTS, train_into
from allstreets.training.loop import Intervals
from allstreets.training.preflop_charts import charts_every
from allstreets.training.records import TrainingOutcome
from allstreets.training.solver_config import UnifiedConfig
from allstreets.training.watch import NOBODY, Watch

WORK = "work"  # nameless files of `memory: memmap`
CHECKPOINT_SECONDS = 300
CHECK_SHARE = 10  # a check costs at most one iteration in so many
TABLE_FLOPS = 400  # games of more flops than this store the table of all flops


@dataclass(frozen=True, eq=False)
class UnifiedJob:
    """A config that has been read, the game that it describes, and what solving it takes."""

    config: UnifiedConfig
    game: UnifiedGame
    need: UnifiedEstimate
    threads: int
    output: Path | None  # the folder of the solution; None: nothing is stored
    resume: bool = False
    name: str | None = None
    description: str | None = None

    @property
    def iterations(self) -> int:
        """Iterations of all epochs."""
        return self.config.epochs * self.config.batches().epoch_iterations(self.need.flops)

    def intervals(self) -> Intervals:
        """How often the run is evaluated, and how often it is saved."""
        batches, flops = self.config.batches(), self.need.flops
        check = self.config.check_interval
        if check is None:
            visited = flops if batches.visits_all(flops) else batches.size
            check = -(-CHECK_SHARE * flops // visited)
            if not batches.visits_all(flops):
                check = max(check, batches.epoch_iterations(flops))
        save = self.config.checkpoint_interval
        if save is None:
            save = max(1, round(CHECKPOINT_SECONDS / self.need.seconds_per_iteration))
        return Intervals(min(check, self.iterations), min(save, self.iterations))

    def require(self) -> None:
        """Refuse what cannot be saved, resumed or held in memory, before anything is computed."""
        if self.output is None:
            if self.resume:
                raise InputError("--resume needs --output, the folder to go on from")
            if self.config.memory == "memmap":
                raise InputError("memory memmap needs --output, a folder on the disk to use")
        else:
            require_unified_folder(self.output, resume=self.resume)
            check = require_checkpoints if self.resume else require_no_checkpoints
            check(self.output / CHECKPOINTS)
        self.config.pruning()
        there = self.on_device()
        if there is not None:
            there.require()
        require_room(self.game, self.need, self.config.card_model(), self.config.memory)

    def on_device(self) -> DevicePlan | None:
        """What it makes of a GPU, if it is solved on one."""
        return plan_device(self.config.device, self.need, self.config.card_model())

    def build_tables(self, watch: Watch = NOBODY) -> None:
        """Count the margins of all flops and store them, where the game needs most of them."""
        classes = self.config.card_model().plays_classes
        if classes and self.need.flops > TABLE_FLOPS and self.need.pots:
            flop_table().build(self.threads, watch.tables)

    def solver(self) -> UnifiedSolver:
        """The solver of the job, untrained."""
        config = self.config
        folder = self.output / WORK if self.output else None
        model, ranges = config.card_model(), None
        if model.goes_by_ranges:
            ranges = first_ranges(self.game, config.schedule(), self.threads)
        spec = self.game.engine(model, config.memory, folder, self.threads, ranges, config.device)
        return UnifiedSolver(
            self.game,
            self.game.build(spec),
            config.schedule(),
            config.batches(),
            config.pruning(),
            config.drop_unplayed_every,
            config.regroupings(),
        )

    def run(self, watch: Watch = NOBODY) -> "UnifiedOutcome":
        """Train until a rule holds or the user interrupts; save the solution in the output."""
        self.require()
        if watch.ready:
            watch.ready()
        self.build_tables(watch)
        solver = self.solver()

        def finish(training: TrainingOutcome) -> UnifiedOutcome:
            metrics = training.progress.fresh_metrics
            kept = keep(solver, metrics.exploitability if metrics else None)
            outcome = UnifiedOutcome(self, solver, training, kept)
            try:
                if self.output is not None:
                    outcome.save(self.output)
            except InputError as error:
                return replace(outcome, unsaved=str(error))
            return outcome

        charts = self.config.charts_every(self.iterations)
        return train_into(
            self.output,
            solver,
            self.config.stop_rules(self.iterations),
            self.intervals(),
            finish,
            resume=self.resume,
            watch=watch,
            regularly=charts_every(charts, solver, self.game.preflop, watch.charts),
        )


@dataclass(frozen=True, eq=False)
class UnifiedOutcome:
    """The outcome of a job."""

    job: UnifiedJob
    solver: UnifiedSolver
    training: TrainingOutcome
    kept: Kept
    unsaved: str | None = None  # why the solution could not be saved, for people

    @property
    def figures(self) -> UnifiedFigures:
        """How good the solution is, as stored."""
        return self.kept.figures

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.training.reason == "interrupted"

    @property
    def saved_share(self) -> float:
        """The share of regrets and strategies that is not stored."""
        saved = self.solver.saved_bytes
        return saved / max(self.solver.memory_bytes + saved, 1)

    @property
    def problem(self) -> str | None:
        """Why no other job can build on it, for people."""
        return self.unsaved

    def to_json(self) -> dict[str, Any]:
        """The job in figures."""
        figures, values = self.figures, self.figures.values
        return {
            "exploitability_mbb": figures.exploitability,
            "preflop_exploitability_mbb": figures.preflop_exploitability,
            "value_bb_mbb": values[0] if values else None,
            "value_sb_mbb": values[1] if values else None,
            "iterations": self.solver.iterations,
            "seconds": self.training.progress.seconds,
            "reason": self.training.reason,
            "flops": self.job.need.flops,
            "cards": self.job.config.cards,
            "memory_bytes": self.solver.memory_bytes,
            "saved_bytes": self.solver.saved_bytes,
            "saved_share": self.saved_share,
        }

    def result(self) -> UnifiedResult:
        """The solution as stored, without reading it back."""
        return UnifiedResult.of(
            self.solver,
            self.kept,
            seconds=self.training.progress.seconds,
            metrics=tuple(check.to_row() for check in self.training.history),
            name=self.job.name,
        )

    def save(self, output: Path) -> None:
        """Save the solution as a bundle."""
        save_unified(
            self.solver,
            output,
            config=self.job.config.model_dump(mode="json", by_alias=True),
            kept=self.kept,
            metrics=[check.to_row() for check in self.training.history],
            seconds=self.training.progress.seconds,
            name=self.job.name,
            description=self.job.description,
        )


def plan_unified(
    config: UnifiedConfig,
    output: Path | None = None,
    *,
    resume: bool = False,
    name: str | None = None,
    description: str | None = None,
) -> UnifiedJob:
    """Read the game out of a config and estimate what it takes."""
    threads = thread_count(config.threads)
    game = config.game()
    need = estimate_unified(
        game,
        config.card_model(),
        memory=config.memory,
        threads=threads,
        batch=config.flop_batch_size,
    )
    return UnifiedJob(config, game, need, threads, output, resume, name, description)
