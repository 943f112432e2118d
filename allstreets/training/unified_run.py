"""Solving a whole game as a job: estimate, train until a rule holds, keep, say what came out.

FOLDER/manifest.json, preflop-….safetensors, flops-…/    the solution, whole at every moment
       checkpoints/                                      to go on from
       metrics.jsonl                                     the figures of every check
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError, thread_count
from allstreets.base.interrupt import interrupt_request
from allstreets.cards.flop_tables import flop_table
from allstreets.solvers.unified.estimate import UnifiedEstimate, estimate_unified, require_room
from allstreets.solvers.unified.game import UnifiedGame
from allstreets.solvers.unified.kept import Kept, keep
from allstreets.solvers.unified.models import make_games
from allstreets.solvers.unified.solver import UnifiedFigures, UnifiedSolver
from allstreets.training.loop import Intervals, Observer, RunFiles, train
from allstreets.training.preflop_charts import charts_every
from allstreets.training.records import TrainingOutcome
from allstreets.training.solver_config import UnifiedConfig

if TYPE_CHECKING:
    from allstreets.training.preflop_charts import ChartObserver

CHECKPOINTS = "checkpoints"
METRICS = "metrics.jsonl"
WORK = "work"  # nameless files of `memory: memmap`
CHECKPOINT_SECONDS = 300
CHECK_SHARE = 10  # a check costs at most one iteration in so many
TABLE_FLOPS = 400  # games of more flops than this keep the table of all flops

Count = Callable[[int, int], None]  # (done, in all)


@dataclass(frozen=True, eq=False)
class UnifiedJob:
    """A config that has been read, what it asks for, and what that takes."""

    config: UnifiedConfig
    game: UnifiedGame
    need: UnifiedEstimate
    threads: int
    name: str | None = None
    description: str | None = None

    @property
    def iterations(self) -> int:
        """Iterations of all epochs."""
        return self.config.epochs * self.config.batches().epoch_iterations(self.need.flops)

    def intervals(self) -> Intervals:
        """How often the run is judged, and how often it is saved."""
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


@dataclass(frozen=True, eq=False)
class UnifiedOutcome:
    """What a job came to."""

    job: UnifiedJob
    solver: UnifiedSolver
    training: TrainingOutcome
    kept: Kept
    unsaved: str | None = None  # why the solution could not be kept, for people

    @property
    def figures(self) -> UnifiedFigures:
        """How good the solution is, as it is kept."""
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


def plan_unified(
    config: UnifiedConfig, name: str | None = None, description: str | None = None
) -> UnifiedJob:
    """Read the game out of a config and work out what it takes."""
    threads = thread_count(config.threads)
    game = config.game()
    need = estimate_unified(
        game,
        config.cards,
        memory=config.memory,
        threads=threads,
        batch=config.flop_batch_size,
        buckets=config.buckets,
        precision=config.precision,
    )
    return UnifiedJob(config, game, need, threads, name, description)


def require_unified(job: UnifiedJob, output: Path | None, resume: bool) -> None:
    """Refuse what cannot be kept, gone on with or held in memory, before anything is computed."""
    from allstreets.storage import require_checkpoints, require_no_checkpoints
    from allstreets.storage.unified_bundle import require_unified_folder

    if output is None:
        if resume:
            raise InputError("--resume needs --output, the folder to go on from")
        if job.config.memory == "memmap":
            raise InputError("memory memmap needs --output, a folder on the disk to use")
    else:
        require_unified_folder(output, resume=resume)
        (require_checkpoints if resume else require_no_checkpoints)(output / CHECKPOINTS)
    job.config.pruning()
    require_room(job.game, job.need, job.config.cards, job.config.memory)


def build_tables(job: UnifiedJob, on_progress: Count | None = None) -> None:
    """Count the margins of all flops and keep them, where the game needs most of them anyway."""
    if job.config.cards == "classes" and job.need.flops > TABLE_FLOPS and job.need.pots:
        flop_table().build(job.threads, on_progress)


def make_solver(job: UnifiedJob, output: Path | None = None) -> UnifiedSolver:
    """The solver of a job, untrained."""
    config = job.config
    games = make_games(
        job.game,
        config.cards,
        threads=job.threads,
        memory=config.memory,
        folder=output / WORK if output else None,
        buckets=config.buckets,
        precision=config.precision,
        seed=config.seed,
    )
    return UnifiedSolver(
        job.game,
        games,
        config.schedule(),
        config.batches(),
        config.pruning(),
        config.close_after,
    )


def run_unified(
    job: UnifiedJob,
    *,
    output: Path | None = None,
    resume: bool = False,
    observers: Sequence[Observer] = (),
    on_charts: "ChartObserver | None" = None,
) -> UnifiedOutcome:
    """Train until a rule holds or the user interrupts; with `output` keep the solution there.

    `on_charts` gets the strategy before the flop at the intervals of the config.
    """
    from allstreets.storage import claim
    from allstreets.storage.solution_files import clear_unfinished

    require_unified(job, output, resume)
    build_tables(job)
    solver = make_solver(job, output)
    files = RunFiles()
    if output is not None:
        files = RunFiles(
            output / CHECKPOINTS,
            output / METRICS,
            resume,
            own_folder=True,
            former_identities=(solver.former_identity,),
        )
    doing = "stopping" if output is None else f"saving to {output}"
    with ExitStack() as stack:
        if output is not None:
            stack.enter_context(claim(output))
            clear_unfinished(output)
        request = stack.enter_context(interrupt_request(doing, "the solution"))
        training = train(
            solver,
            job.config.stop_rules(job.iterations),
            intervals=job.intervals(),
            files=files,
            observers=observers,
            regularly=charts_every(
                job.config.charts_every(job.iterations), solver, job.game.preflop, on_charts
            ),
            request=request,
        )
        metrics = training.progress.fresh_metrics
        kept = keep(solver, metrics.exploitability if metrics else None)
        outcome = UnifiedOutcome(job, solver, training, kept)
        if output is not None:
            try:
                save_outcome(outcome, output)
            except InputError as error:
                return replace(outcome, unsaved=str(error))
        return outcome


def save_outcome(outcome: UnifiedOutcome, output: Path) -> None:
    """Keep the solution as a bundle."""
    from allstreets.storage.unified_bundle import save_unified

    job = outcome.job
    save_unified(
        outcome.solver,
        output,
        config=job.config.model_dump(mode="json", by_alias=True),
        kept=outcome.kept,
        metrics=[check.to_row() for check in outcome.training.history],
        seconds=outcome.training.progress.seconds,
        name=job.name,
        description=job.description,
    )
