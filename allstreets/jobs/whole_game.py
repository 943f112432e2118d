"""Solving a whole game as a job: estimate, train until a rule holds, save, report the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from allstreets.analysis import give_orders
from allstreets.base import (
    Floats,
    InputError,
    Place,
    Remote,
    available_bytes,
    data_size,
    duration,
    figure,
    thread_count,
)
from allstreets.betting import BIG_BLINDS, Player, PreflopRules, line_text
from allstreets.cards import HAND_COUNT, flop_table, spread_flops
from allstreets.engines import (
    CPU,
    ON_GPUS,
    CardModel,
    Engine,
    EngineSpec,
    Residence,
    ShardedEngine,
    Streaming,
    device_room,
    everything_resident,
    open_device,
    residence,
    streaming,
    table_bytes,
)
from allstreets.games import (
    UNCERTAINTY,
    ExpectedLoss,
    WholeGame,
    WholeGameEstimate,
    estimate_whole_game,
    expected_loss,
    flop_costs,
    game_device_bytes,
    matrix_lengths,
    require_room,
)
from allstreets.jobs.calibration import planned_calibration
from allstreets.jobs.cluster_training import (
    cluster_games,
    require_cluster,
    train_through_losses,
    with_nodes,
)
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Plan, TrainingOutcome
from allstreets.jobs.loop import CHECKPOINTS, Every, TrainedOutcome, train_into
from allstreets.jobs.stopping import Intervals
from allstreets.solutions import (
    PreflopRoots,
    PreflopStrategies,
    SolutionFacts,
    WholeSolution,
    locks_text,
    number_text,
)
from allstreets.solvers import (
    SETTLED,
    Calibration,
    PreflopTraining,
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

if TYPE_CHECKING:
    from allstreets.jobs.job import Progress

    ChartObserver = Callable[[Progress, WholeSolution], None]


@dataclass(frozen=True)
class DevicePlan:
    """The split of a game's arrays into arrays that stay on a GPU and arrays that are streamed."""

    name: str
    need_bytes: int  # for all of it to stay there
    free_bytes: int
    flops: Residence | None  # None: there is no room
    streaming: Streaming | None = None  # the cost of the flops that do not stay; None: all stay

    @property
    def text(self) -> str:
        """The plan in words."""
        need, free = data_size(self.need_bytes), data_size(self.free_bytes)
        whole = f"On {self.name} it takes {need} of {free} that are free, so it"
        if self.flops is None:
            return f"{whole} does not fit: fewer flops, river buckets or sizes."
        if self.streaming is None:
            return f"{whole} fits."
        return (
            f"On {self.name} it would take {need} of {free} that are free: {self.flops.resident:,} "
            f"of {self.flops.flops:,} flops stay there, and it streams "
            f"{data_size(self.streaming.copied_bytes)} per iteration over PCIe: about "
            f"{self.streaming.seconds:.2g} s per iteration."
        )

    def require(self) -> None:
        """Refuse a game that does not fit."""
        if self.flops is None:
            raise InputError(
                f"device: this needs {self.need_bytes / 1e9:.1f} GB on {self.name}, of which "
                f"{self.free_bytes / 1e9:.1f} GB are free.\nWays to make it smaller: "
                "precision: float16, one bet size fewer, fewer flops; or device: cpu"
            )


def plan_device(
    device: str, game: WholeGame, need: WholeGameEstimate, model: CardModel
) -> DevicePlan | None:
    """Plan a game's use of a device; None: it is solved on the CPU."""
    there = open_device(device)
    if there is None:
        return None
    stored, free = need.memory_bytes, there.free_bytes
    if model.kind not in ("classes", "buckets"):
        room = game_device_bytes(game, model, need)
        fits = everything_resident(need.flops) if room <= free else None
        return DevicePlan(there.name, room, free, fits)
    tables = table_bytes(matrix_lengths(model), need.flops)
    room = device_room(stored, tables)
    try:
        flops = residence(need.flops, stored, tables, free)
    except InputError:  # not even in parts
        return DevicePlan(there.name, room, free, None)
    return DevicePlan(there.name, room, free, flops, streaming(flops, stored))


def charts_every(
    interval: int, solver: PreflopTraining, rules: PreflopRules, observer: ChartObserver | None
) -> tuple[Every, ...]:
    """The actions of the training loop that pass the strategy to `observer` at intervals.

    None with an interval of 0 or without an observer, and none at the end of the run, which has a
    whole solution to show.
    """
    if interval == 0 or observer is None:
        return ()

    def show(progress: Progress) -> None:
        if not progress.holding:
            observer(progress, preflop_so_far(solver, rules, progress))

    return (Every(interval, show),)


def preflop_so_far(
    solver: PreflopTraining, rules: PreflopRules, progress: Progress
) -> WholeSolution:
    """The current average strategy before the flop, without EVs."""
    fresh = progress.fresh_metrics
    facts = SolutionFacts(
        iterations=solver.iterations,
        algorithm=str(solver.schedule),
        exploitability=fresh.exploitability if fresh else None,
        seconds=progress.seconds,
    )
    roots = PreflopRoots(rules, PreflopStrategies.of(solver.preflop, None))
    return WholeSolution(roots, None, facts)


WORK = "work"  # nameless files of `memory: memmap`
CHECKPOINT_SECONDS = 300
ENTRY_FLOPS, ENTRY_GROUPS = 8, 32  # flops and river buckets for off-path pots: coarse is enough
PILOT_BUCKETS = 32  # river buckets of a pilot: ranges depend on them little
CHECK_SHARE = 10  # a check costs at most one iteration in ten
CLASSES = (
    "This is an abstraction by hand classes, a quick picture: it is blind to turn and river, and "
    "its figures say nothing about real cards. allstreets certify measures that "
    "(docs/certificates.md)."
)
TABLE_FLOPS = 400  # games of more flops than this store the table of all flops


@dataclass(frozen=True, eq=False)
class UnifiedJob:
    """A config that has been read, its game, and the cost of solving it."""

    config: UnifiedConfig
    game: WholeGame
    need: WholeGameEstimate
    threads: int
    output: Place | None  # the folder of the solution; None: nothing is stored
    resume: bool = False
    name: str | None = None
    description: str | None = None
    made_from: Mapping[str, Any] | None = None  # the solution that a lock has made it from
    known_ranges: Mapping[str, Floats] = field(default_factory=dict)
    """[2, 169] by line: ranges of pots to bucket hands for; a quick solve finds the others."""

    @property
    def iterations(self) -> int:
        """Iterations of all epochs."""
        return self.config.epochs * self.config.batches().epoch_iterations(self.need.flops)

    @property
    def stores_flops(self) -> bool:
        """Whether the solution has strategies after the flop, and can be trained further."""
        return self.config.store == "all"

    def intervals(self) -> Intervals:
        """The intervals of evaluations and of saves."""
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
        """Refuse, before any work, a game that cannot be saved, resumed or held in memory."""
        if self.output is None:
            if self.resume:
                raise InputError("--resume needs --output, the folder to resume")
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
            return  # room is checked when the machines are known
        device = self.on_device()
        if device is not None:
            device.require()
        require_room(self.game, self.need, self.config.card_model(), self.config.memory)

    def plan(self) -> Plan:
        """The game, its memory and its time."""
        config, need, device = self.config, self.need, self.on_device()
        name = f"{self.name}: " if self.name else ""
        free = available_bytes()
        room = f", {data_size(free)} free" if free is not None else ""
        kept = {"resident": "in memory", "memmap": "on disk", "per_batch": "for one batch"}
        boards = config.cards == "boards"
        buckets = f" with {config.card_model().groups} river buckets" if boards else ""
        played = "push or fold, no flop is seen"
        if need.pots:
            played = (
                f"{self.flops_text}, cards {config.cards}{buckets}, {need.pots} pots that see a "
                f"flop, {need.postflop_decisions:,} decisions on each flop"
            )
        lines = [
            f"{name}{config.stack_depth:g} bb, {played}",
            f"{data_size(need.memory_bytes)} of regrets and strategies {kept[config.memory]}, "
            f"{data_size(need.resident_bytes)} of memory in all{room}",
        ]
        if config.card_model().goes_by_ranges:
            times = config.regroupings()
            again = f"; as ranges move, again (at most {times}×)" if times else ""
            lines.append(
                "bucketing the hands of all river boards comes first: "
                f"{duration(need.setup_seconds)}{again}"
            )
        expected = self.expected
        if expected is not None:
            low, high = expected.whole / UNCERTAINTY, expected.whole * UNCERTAINTY
            whole, lowest, highest, before = (
                f"{float(f'{loss:.2g}'):g}" for loss in (expected.whole, low, high, expected.before)
            )
            lines.append(
                f"expected with real cards: about {whole} mbb/hand, {lowest} to {highest}; "
                f"{before} of it before the flop"
            )
        if device is not None:
            lines.append(device.text)
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        seconds, limit = need.seconds_to(self.iterations), config.time_limit_seconds
        most = limit if limit and limit < seconds else seconds
        sooner = config.exploitability_threshold is not None or most < seconds
        until = f"at most {duration(most)}" if sooner else duration(seconds)
        iterations = self.expected_iterations
        about = "about " if iterations < self.iterations else ""
        lines.append(
            f"{about}{iterations:,} iterations of about {need.seconds_per_iteration:.2g} s on "
            f"{threads if device is None else 'the GPU'}: {until}, without the checks"
        )
        return Plan(tuple(lines), need.resident_bytes, most, f"unified-{config.cards}")

    @property
    def expected(self) -> ExpectedLoss | None:
        """The expected loss with real cards; None: nothing similar was measured."""
        config = self.config
        stands_for_all = config.flops == "all" or str(config.flops).startswith("subset")
        if config.cards != "boards" or not stands_for_all or not self.need.pots:
            return None
        buckets = config.card_model().groups
        return expected_loss(config.stack_depth, self.need.flops, buckets, self.expected_iterations)

    @property
    def expected_iterations(self) -> int:
        """The iterations that the time limit leaves, as far as is known; at most all."""
        limit = self.config.time_limit_seconds
        if limit is None:
            return self.iterations
        return min(self.iterations, max(1, round(limit / self.need.seconds_per_iteration)))

    @property
    def flops_text(self) -> str:
        """The flops, in words."""
        return "all 1,755 flops" if self.game.flops.is_all else f"{self.need.flops:,} flops"

    def on_device(self) -> DevicePlan | None:
        """The plan for a GPU, if it is solved on one."""
        return plan_device(self.config.device, self.game, self.need, self.config.card_model())

    def build_tables(self, callbacks: Callbacks = NO_CALLBACKS) -> None:
        """Count the margins of all flops and store them, where the game needs most of them."""
        classes = self.config.card_model().plays_classes
        if classes and self.need.flops > TABLE_FLOPS and self.need.pots:
            flop_table().build(self.threads, callbacks.counter("tables of flops"))

    def spec(self) -> EngineSpec:
        """The spec from which the subgames are built."""
        config = self.config
        folder = self.output / WORK if isinstance(self.output, Path) else None
        model, ranges = config.card_model(), None
        if model.goes_by_ranges:
            ranges = self._first_ranges()
        return self.game.engine(model, config.memory, folder, self.threads, ranges, config.device)

    def _first_ranges(self) -> Floats:
        """[2, P, 169]: the ranges that hands are bucketed for at the start."""
        tree, known = self.game.tree, self.known_ranges
        lines = [line_text(tree, pot.node, notation=BIG_BLINDS) for pot in self.game.flop_pots]
        ranges = np.zeros((len(Player), len(lines), HAND_COUNT))
        if any(line not in known for line in lines):
            ranges = first_ranges(self.game, self.config.schedule(), self.threads)
        for pot, line in enumerate(lines):
            if line in known:
                ranges[:, pot] = known[line]
        config, model = self.config, self.config.card_model()
        if config.pilot:
            fewer = replace(model, groups=min(model.groups, PILOT_BUCKETS))
            schedule, device = config.schedule(), config.device
            ranges = first_ranges(
                self.game, schedule, self.threads, fewer, config.pilot, ranges, device
            )
        return ranges

    def solver(
        self, games: Engine | None = None, callbacks: Callbacks = NO_CALLBACKS
    ) -> WholeGameSolver:
        """The solver of the job, untrained; without `games` they are built in this process."""
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
            self._calibration(callbacks),
        )

    def _calibration(self, callbacks: Callbacks) -> Calibration | None:
        """The measurement half-way, if there is one."""
        config = self.config
        flops, half = config.calibrate, int(SETTLED * self.iterations)
        if config.calibrate_over == "own":
            flops = min(flops, self.need.flops)
        if not flops or not self.need.pots:
            return None
        return planned_calibration(
            flops, half, self.threads, config.device, callbacks, config.calibrate_over
        )

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> UnifiedOutcome:
        """Train until a rule holds or the user interrupts; save the solution in the output."""
        self.require()
        callbacks.begin()
        if self.config.cluster is not None:
            return self._run_on(self.config.cluster, callbacks)
        self.build_tables(callbacks)
        return self._train(self.solver(callbacks=callbacks), callbacks, resume=self.resume)

    def _run_on(self, where: str, callbacks: Callbacks) -> UnifiedOutcome:
        """The same on a cluster: flops lost with a worker are solved again."""
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
                    callbacks,
                    self.need.resident_bytes,
                )
            )
            cores = sum(node.cores for node in games.pool.nodes)
            job = replace(self, threads=cores, need=_estimate(self.config, self.game, cores))
            outcome = train_through_losses(
                games,
                folder / CHECKPOINTS,
                lambda resume, spent: job._train(
                    job.solver(games), with_nodes(callbacks, games), resume=resume, spent=spent
                ),
                resume=self.resume,
                callbacks=callbacks,
            )
            if outcome.unsaved is not None:
                # It can still be saved elsewhere: the workers stay until they are no longer needed.
                finalize(outcome, stack.pop_all().close)
            return outcome

    def _train(
        self, solver: WholeGameSolver, callbacks: Callbacks, *, resume: bool, spent: float = 0.0
    ) -> UnifiedOutcome:
        """Train until a rule holds or the user interrupts, and save.

        `spent` seconds of the time limit are over.
        """
        if not resume:  # else the locked play is part of the state
            give_orders(solver.engine, self.game, load_unified)

        def finish(training: TrainingOutcome) -> UnifiedOutcome:
            metrics = training.progress.fresh_metrics
            trained = metrics.exploitability if metrics else None
            quantised = quantise_solution(solver, trained, flops=self.stores_flops)
            if training.reason != "interrupted":
                quantised = self._with_ranges(solver, quantised, callbacks)
            outcome = UnifiedOutcome(self, solver, training, quantised)
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
            self.config.stop_rules(
                self.iterations, spent, solver.calibration.ends if solver.calibration else 0
            ),
            self.intervals(),
            finish,
            resume=resume,
            save_finished=self.stores_flops,
            callbacks=callbacks,
            regularly=charts_every(charts, solver, self.game.preflop, callbacks.charts),
        )

    def _with_ranges(
        self, solver: WholeGameSolver, quantised: QuantisedSolution, callbacks: Callbacks
    ) -> QuantisedSolution:
        """The solution with the ranges to solve other flops for, where there is room to find them.

        Whatever fails here, the solution itself is not lost.
        """
        if quantised.values is None or not self.game.pots:
            return quantised
        model = self.config.card_model()
        if model.kind == "boards" or not model.stores_all_streets:
            model = CardModel("boards", groups=ENTRY_GROUPS)
        a_flop = (
            estimate_whole_game(
                replace(self.game, flops=spread_flops(ENTRY_FLOPS)), model
            ).memory_bytes
            // ENTRY_FLOPS
        )
        free = available_bytes()
        flops = ENTRY_FLOPS if free is None else min(ENTRY_FLOPS, free // 2 // max(a_flop, 1))
        count = callbacks.counter("iterations on off-path pots")
        devices = [self.config.device] if model.kind in ON_GPUS else []
        for device in dict.fromkeys([*devices, CPU]):
            try:
                ranges = solution_ranges(
                    solver, quantised.values, model, flops, self.threads, device, count
                )
                return replace(quantised, ranges=ranges)
            except (InputError, MemoryError):
                continue  # there may be room elsewhere
        return quantised


@dataclass(frozen=True, eq=False)
class UnifiedOutcome(TrainedOutcome):
    """The outcome of a job."""

    job: UnifiedJob
    solver: WholeGameSolver
    training: TrainingOutcome
    quantised: QuantisedSolution
    unsaved: str | None = None  # the reason why the solution could not be saved, in words

    @property
    def figures(self) -> WholeGameFigures:
        """The quality of the solution, as stored."""
        return self.quantised.figures

    @property
    def saved_share(self) -> float:
        """The share of regrets and strategies that is not stored."""
        saved = self.solver.saved_bytes
        return saved / max(self.solver.memory_bytes + saved, 1)

    def lines(self) -> list[str]:
        """The quality of the solution, and what was solved."""
        job, figures, config = self.job, self.figures, self.job.config
        known, seen = figures.exploitability is not None, bool(job.game.pots)
        reached = (
            f"{figure(figures.exploitability)} mbb/hand{', in its own game' if seen else ''}"
            if known
            else "unknown, since strategies of flops outside the batch are not stored"
        )
        lines = [f"Exploitability of the whole game: {reached}"]
        if figures.values is not None and figures.preflop_exploitability is not None:
            part = figure(figures.preflop_exploitability)
            worth = number_text(figures.values[1], "+", 1)
            lines.append(
                f"Of the preflop strategy alone: {part} mbb/hand. "
                f"The game is worth {worth} mbb/hand to the small blind."
            )
        if config.cards == "classes" and seen:
            lines.append(CLASSES)
        cards = f"{job.flops_text}, cards {config.cards}" if seen else "no flop is seen"
        lines.append(
            f"Solved: {config.stack_depth:g} bb, {cards}, {self.solver.iterations:,} iterations "
            f"in {duration(self.training.progress.seconds)}."
        )
        if job.game.lock:
            lines.append(f"Given, not solved: {locks_text(job.game.lock)}.")
        if self.solver.saved_bytes:
            lines.append(
                f"Unplayed hands were dropped: regrets and strategies take "
                f"{data_size(self.solver.memory_bytes)}, {self.saved_share:.0%} saved."
            )
        return lines

    def moved(self, output: Path) -> UnifiedOutcome:
        """The same outcome after its folder was renamed."""
        return replace(self, job=replace(self.job, output=output))

    @property
    def opening(self) -> WholeSolution:
        """The solution whose first decisions are shown."""
        return self.result()

    def look(self) -> list[str]:
        """A decision for a report: the first on a flop, or the second before it."""
        solution = self.result()
        flop = self.job.game.flops.flops[0].text if solution.has_flops else None
        lines = solution.flop_lines() if flop else solution.opening_lines()[1:]
        return ["--line", lines[0], *(["--flop", flop] if flop else [])] if lines else []

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
        """The solution as stored; on a cluster it is read back, since the workers are gone."""
        if isinstance(self.solver.engine, ShardedEngine) and self.unsaved is None:
            assert self.job.output is not None
            return load_unified(self.job.output)
        return WholeSolution.of(
            self.solver,
            self.quantised,
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
            quantised=self.quantised,
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
    known_ranges: Mapping[str, Floats] | None = None,
) -> UnifiedJob:
    """Read the game out of a config and estimate what it takes."""
    threads = thread_count(config.threads)
    game = config.game()
    need = _estimate(config, game, threads)
    known = known_ranges or {}
    return UnifiedJob(
        config, game, need, threads, output, resume, name, description, made_from, known
    )


def _estimate(config: UnifiedConfig, game: WholeGame, threads: int) -> WholeGameEstimate:
    return estimate_whole_game(
        game,
        config.card_model(),
        memory=config.memory,
        threads=threads,
        batch=config.flop_batch_size,
        gpu=config.device != CPU,
    )
