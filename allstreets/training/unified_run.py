"""Solving a whole game as a job: estimate, train until a rule holds, save, report the outcome."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import finalize

from allstreets.analysis import give_orders
from allstreets.base import InputError, Place, Remote, thread_count
from allstreets.cards import flop_table
from allstreets.engines import CPU, ON_GPUS, CardModel, Engine, EngineSpec, ShardedEngine
from allstreets.games import (
    WholeGame,
    WholeGameEstimate,
    estimate_whole_game,
    flop_costs,
    require_room,
)
from allstreets.solutions import WholeSolution
from allstreets.solvers import (
    QuantisedSolution,
    WholeGameFigures,
    WholeGameSolver,
    first_ranges,
    quantise_solution,
    solution_ranges,
)
from allstreets.storage import (
    load_unified,
    require_checkpoints,
    require_no_checkpoints,
    require_unified_folder,
    save_unified,
)
from allstreets.training.cluster_run import (
    cluster_games,
    require_cluster,
    train_through_losses,
    with_nodes,
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
    game: WholeGame
    need: WholeGameEstimate
    threads: int
    output: Place | None  # the folder of the solution; None: nothing is stored
    resume: bool = False
    name: str | None = None
    description: str | None = None
    made_from: Mapping[str, Any] | None = None  # the solution that a lock has made it from

    @property
    def iterations(self) -> int:
        """Iterations of all epochs."""
        return self.config.epochs * self.config.batches().epoch_iterations(self.need.flops)

    @property
    def stores_flops(self) -> bool:
        """Whether the solution has strategies after the flop, and the means to be trained on."""
        return self.config.store == "all"

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
            if self.config.cluster is not None:
                raise InputError("a cluster needs --output, a folder that all its machines see")
        else:
            if isinstance(self.output, Remote):
                require_cluster(self.output, self.config.cluster)
            require_unified_folder(self.output, resume=self.resume)
            check = require_checkpoints if self.resume else require_no_checkpoints
            check(self.output / CHECKPOINTS)
        self.config.pruning()
        if self.config.cluster is not None:
            return  # what has room is asked when the machines are known
        there = self.on_device()
        if there is not None:
            there.require()
        require_room(self.game, self.need, self.config.card_model(), self.config.memory)

    def on_device(self) -> DevicePlan | None:
        """What it makes of a GPU, if it is solved on one."""
        return plan_device(self.config.device, self.game, self.need, self.config.card_model())

    def build_tables(self, watch: Watch = NOBODY) -> None:
        """Count the margins of all flops and store them, where the game needs most of them."""
        classes = self.config.card_model().plays_classes
        if classes and self.need.flops > TABLE_FLOPS and self.need.pots:
            flop_table().build(self.threads, watch.tables)

    def spec(self) -> EngineSpec:
        """What the subgames are built from."""
        config = self.config
        folder = self.output / WORK if isinstance(self.output, Path) else None
        model, ranges = config.card_model(), None
        if model.goes_by_ranges:
            ranges = first_ranges(self.game, config.schedule(), self.threads)
        return self.game.engine(model, config.memory, folder, self.threads, ranges, config.device)

    def solver(self, games: Engine | None = None) -> WholeGameSolver:
        """The solver of the job, untrained; without `games` its own are built here."""
        config = self.config
        return WholeGameSolver(
            self.game,
            games or self.game.build(self.spec()),
            config.schedule(),
            config.batches(),
            config.pruning(),
            config.drop_unplayed_every,
            config.regroupings(),
            config.tremble,
        )

    def run(self, watch: Watch = NOBODY) -> "UnifiedOutcome":
        """Train until a rule holds or the user interrupts; save the solution in the output."""
        self.require()
        if watch.ready:
            watch.ready()
        if self.config.cluster is not None:
            return self._run_on(self.config.cluster, watch)
        self.build_tables(watch)
        return self._train(self.solver(), watch, resume=self.resume)

    def _run_on(self, where: str, watch: Watch) -> "UnifiedOutcome":
        """The same on a cluster: what is lost with a worker is solved again."""
        assert self.output is not None
        spec, folder = self.spec(), self.output
        costs = flop_costs(spec.flops, spec.model)
        with ExitStack() as stack:
            games = stack.enter_context(
                cluster_games(
                    where,
                    spec,
                    costs,
                    self.config.threads,
                    folder,
                    watch,
                    self.need.resident_bytes,
                )
            )
            cores = sum(station.cores for station in games.crew.stations)
            job = replace(self, threads=cores, need=_estimate(self.config, self.game, cores))
            outcome = train_through_losses(
                games,
                folder / CHECKPOINTS,
                lambda resume, spent: job._train(
                    job.solver(games), with_nodes(watch, games), resume=resume, spent=spent
                ),
                resume=self.resume,
                watch=watch,
            )
            if outcome.unsaved is not None:
                # It can still be saved elsewhere: the workers stay until nobody needs them.
                finalize(outcome, stack.pop_all().close)
            return outcome

    def _train(
        self, solver: WholeGameSolver, watch: Watch, *, resume: bool, spent: float = 0.0
    ) -> "UnifiedOutcome":
        """Train until a rule holds or the user interrupts, and save.

        `spent` seconds of the time limit are over.
        """
        if not resume:  # else what is played where it is locked is part of the state
            give_orders(solver.engine, self.game, load_unified)

        def finish(training: TrainingOutcome) -> UnifiedOutcome:
            metrics = training.progress.fresh_metrics
            trained = metrics.exploitability if metrics else None
            kept = quantise_solution(solver, trained, flops=self.stores_flops)
            if training.reason != "interrupted":
                kept = self._with_ranges(solver, kept)
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
            self.config.stop_rules(self.iterations, spent),
            self.intervals(),
            finish,
            resume=resume,
            save_finished=self.stores_flops,
            watch=watch,
            regularly=charts_every(charts, solver, self.game.preflop, watch.charts),
        )

    def _with_ranges(self, solver: WholeGameSolver, kept: QuantisedSolution) -> QuantisedSolution:
        """The solution with the ranges to solve other flops for."""
        if kept.values is None or not self.game.pots:
            return kept
        model = self.config.card_model()
        if not model.stores_all_streets:
            model = CardModel("boards", groups=32)  # as good as needed, in less memory
        on_gpu = self.config.device != CPU and model.kind in ON_GPUS
        device = self.config.device if on_gpu else CPU
        return replace(
            kept, ranges=solution_ranges(solver, kept.values, model, self.threads, device)
        )


@dataclass(frozen=True, eq=False)
class UnifiedOutcome:
    """The outcome of a job."""

    job: UnifiedJob
    solver: WholeGameSolver
    training: TrainingOutcome
    kept: QuantisedSolution
    unsaved: str | None = None  # why the solution could not be saved, for people

    @property
    def figures(self) -> WholeGameFigures:
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

    def result(self) -> WholeSolution:
        """The solution as stored; of a cluster it is read back, whose workers are gone."""
        if isinstance(self.solver.engine, ShardedEngine) and self.unsaved is None:
            assert self.job.output is not None
            return load_unified(self.job.output)
        return WholeSolution.of(
            self.solver,
            self.kept,
            seconds=self.training.progress.seconds,
            metrics=tuple(check.to_row() for check in self.training.history),
            name=self.job.name,
        )

    def save(self, output: Place) -> None:
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
            before=self.job.made_from,
        )


def plan_unified(
    config: UnifiedConfig,
    output: Place | None = None,
    *,
    resume: bool = False,
    name: str | None = None,
    description: str | None = None,
    made_from: Mapping[str, Any] | None = None,
) -> UnifiedJob:
    """Read the game out of a config and estimate what it takes."""
    threads = thread_count(config.threads)
    game = config.game()
    need = _estimate(config, game, threads)
    return UnifiedJob(config, game, need, threads, output, resume, name, description, made_from)


def _estimate(config: UnifiedConfig, game: WholeGame, threads: int) -> WholeGameEstimate:
    return estimate_whole_game(
        game,
        config.card_model(),
        memory=config.memory,
        threads=threads,
        batch=config.flop_batch_size,
        gpu=config.device != CPU,
    )
