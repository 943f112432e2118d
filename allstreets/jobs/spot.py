"""Solving a spot as a job: train until a rule holds, save the solution, report the outcome.

`train_spot` is the training of every job: of `allstreets solve`, of one of many spots, and of the
explorer. Its checks lie where the target is predicted (`solvers.Planned`). A time limit counts
the set-up and the checks.
"""

import shutil
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allstreets.base import (
    Control,
    InputError,
    available_bytes,
    data_size,
    duration,
    interrupt_request,
    thread_count,
)
from allstreets.cards import cards_text
from allstreets.engines import CPU
from allstreets.games import (
    DraftEstimate,
    Estimate,
    Spot,
    device_bytes,
    estimate_draft,
    estimate_saved,
    estimate_spot,
    require_device_room,
    require_memory,
)
from allstreets.jobs.config.reading import check_config
from allstreets.jobs.config.spot import SpotConfig
from allstreets.jobs.job import (
    DRAFT_KERNELS,
    NO_CALLBACKS,
    Callbacks,
    Observer,
    Plan,
    Progress,
    StopRule,
    TrainingOutcome,
    mark_compiled,
    spot_kernels,
)
from allstreets.jobs.loop import TrainedOutcome, train
from allstreets.jobs.stopping import (
    ExploitabilityThreshold,
    Iterations,
    LastResort,
    TimeLimit,
    find_rule,
)
from allstreets.solutions import (
    FlopSpot,
    Origin,
    SpotSolution,
    WholeSolution,
    accuracy_text,
    draft_text,
    flop_spot,
    number_text,
    real_figures,
)
from allstreets.solvers import (
    DRAFT,
    FIRST_CHECK,
    Checks,
    Completion,
    Multiples,
    Planned,
    SpotSolver,
    can_draft,
    require_draft,
)
from allstreets.storage import (
    CheckpointWarning,
    KeptFlop,
    Saved,
    claim,
    clear_unfinished_spot,
    find_kept,
    load_unified,
    mirrored,
    new_kept,
    require_free,
    require_resumable,
    require_saved,
    restore_spot,
    save_spot,
    spot_identity,
)

MAX_ITERATIONS = 10_000  # if the user sets only a target
SAVE_SECONDS = 300.0  # between two saves of a run: what a crash can cost
SMALL_BYTES = 8_000_000  # below it an iteration is so short that checks come less often

USEFUL_ITERATIONS = 40  # bring an exact solution to about a draft's accuracy
FIRST_ANSWER_SECONDS = 5.0  # a player's patience for a first answer

OriginOf = Callable[[SpotSolution], Origin]


@dataclass(frozen=True)
class SpotOutcome(TrainedOutcome):
    """The outcome of a job."""

    solver: SpotSolver
    solution: SpotSolution
    training: TrainingOutcome
    exploitability: float  # a fraction of the pot
    target: float  # likewise
    evs: tuple[float, float]  # chips
    seconds: float  # of the whole job, those before a resume included
    save: Callable[[Path], None]  # writes the solution to a folder
    unsaved: str | None = None  # why it could not be saved, in words
    origin: Origin | None = None  # the flop of a whole game that it is
    better_draft: float | None = None  # the exploitability of the draft that is kept instead

    @property
    def is_draft(self) -> bool:
        """Whether it is solved with buckets on turn and river."""
        return self.solver.draft_cards is not None

    def moved(self, output: Path) -> "SpotOutcome":
        """The same outcome after its folder was renamed: it is in memory."""
        del output
        return self

    def result(self) -> SpotSolution:
        """The solution, node by node."""
        return self.solution

    def lines(self) -> list[str]:
        """The accuracy of the solution, and the value of the spot."""
        spot, (oop, ip), reached = self.solver.spot, self.evs, 100 * self.exploitability
        verb = "Solved to" if reached <= 100 * self.target else "Stopped at"
        verb = "A draft, within" if self.is_draft else verb
        lines = [
            f"{verb} {reached:.3g} % of pot ({self.exploitability * spot.pot:.3g} chips) "
            f"exploitability, {self.solver.iterations:,} iterations, {self.seconds:.1f} s"
        ]
        if self.solver.draft_cards is not None:
            lines.append(
                f"Drafted with {draft_text(self.solver.draft_cards)}; best responses with "
                "real cards measure its accuracy."
            )
        elif self.exploitability > self.target > 0:
            lines.append(f"The target of {100 * self.target:g} % is not reached.")
        if self.better_draft is not None:
            how = accuracy_text(self.better_draft, draft=True)
            lines.append(f"The earlier solution is better, and kept: {how}.")
        raked = f", rake {number_text(spot.pot - oop - ip)}" if spot.rake else ""
        lines.append(
            f"EV OOP {number_text(oop)}, IP {number_text(ip)} of the pot of {spot.pot} chips{raked}"
        )
        return lines

    def to_json(self) -> dict[str, Any]:
        """The job in figures."""
        solver = self.solver
        return {
            "exploitability_pct": 100 * self.exploitability,
            "exploitability_chips": self.exploitability * solver.spot.pot,
            "iterations": solver.iterations,
            "seconds": self.seconds,
            "seconds_per_iteration": self.training.seconds_per_iteration,
            "ev_oop": self.evs[0],
            "ev_ip": self.evs[1],
            "memory_bytes": solver.memory_bytes,
            "nodes": sum(solver.spot.tree.decision_counts().values()),
            "threads": solver.threads,
            "algorithm": str(solver.schedule),
            **({} if solver.draft_cards is None else {"draft": draft_text(solver.draft_cards)}),
        }


def stop_rules(
    target: float, max_iterations: int | None, seconds: float | None, spent: float = 0.0
) -> tuple[StopRule, ...]:
    """Rules that end the job; a target of 0 is no target, `spent` seconds are used up already."""
    rules: list[StopRule] = []
    if target > 0:
        rules.append(ExploitabilityThreshold(100 * target))
    if max_iterations is not None:
        rules.append(Iterations(max_iterations))
    elif seconds is None:
        rules.append(LastResort(MAX_ITERATIONS))
    if seconds is not None:
        rules.append(TimeLimit(seconds, spent))
    return tuple(rules)


def train_spot(
    solver: SpotSolver,
    rules: Sequence[StopRule],
    *,
    before: Sequence[Mapping[str, Any]] = (),
    observers: Sequence[Observer] = (),
    control: Control | None = None,
    clock: Callable[[], float] = time.monotonic,
    interval: int | None = None,
) -> TrainingOutcome:
    """Train a spot; `before` are the rows of the checks before a resume.

    Checks lie at multiples of an `interval`, if one is given.

    Without a target nothing can be predicted: checks then lie at multiples of an interval, and take
    about a tenth of the time.
    """
    target = find_rule(rules, ExploitabilityThreshold)
    checks: Checks
    if interval is None and target is not None:
        checks = Planned(target.target)
    else:
        checks = Multiples(interval or (10 if solver.memory_bytes >= SMALL_BYTES else 25))
    return train(
        solver,
        rules,
        checks=checks,
        curve=[(row["iteration"], row["exploitability"]) for row in before],
        observers=observers,
        control=control,
        clock=clock,
    )


@dataclass(frozen=True, eq=False)
class GameFlop:
    """A flop of a whole game that is solved exactly."""

    game: WholeSolution
    spot: FlopSpot

    def origin(
        self, threads: int | None, callbacks: Callbacks, *, evaluated: bool = True
    ) -> OriginOf:
        """The origin of an exact solution, found before its solver takes memory.

        With `evaluated`, the solution's own play of the flop is evaluated, too.
        """
        real = None
        if evaluated:
            if self.spot.place is not None:
                callbacks.say("Playing the solution's own strategies with real cards …")
            real = real_figures(self.game, self.spot, thread_count(threads), available_bytes())
        return lambda exact: Origin.of(self.game, self.spot, exact, real)


@dataclass(frozen=True, eq=False)
class SpotJob:
    """A spot to solve: its ends, and where it is kept."""

    config: SpotConfig
    spot: Spot
    max_iterations: int | None = None
    seconds: float | None = None  # from the call of `run` on
    threads: int | None = None
    output: Path | None = None  # the folder of its bundle
    resume: bool = False  # from that bundle
    saved: Saved = "full"
    flop: GameFlop | None = None  # the whole game and the flop that it comes from
    made_from: Mapping[str, Any] | None = None  # the solution from which a lock made it
    completion: Completion | None = None  # a draft; None: solved exactly, by the config
    first: "SpotJob | None" = None  # gives the first answer, which this solution replaces
    drafted: float | None = None  # the exploitability of a draft that is in its folder
    claimed: bool = False  # the folder, held by the runner
    again: bool = False  # replaces a bundle of the spot that keeps too little to resume
    clock: Callable[[], float] = time.monotonic

    @property
    def answer_iterations(self) -> int:
        """Iterations of a draft."""
        assert self.completion is not None
        return self.max_iterations or self.completion.iterations

    def require(self) -> None:
        """Refuse a job that cannot be saved or resumed, before anything is computed."""
        if self.resume and self.output is None:
            raise InputError("--resume needs --output, the folder to resume")
        if self.completion is not None:
            require_draft(self.spot)
        require_saved(self.spot, self.saved)
        if self.output is not None and not self.again:
            identity = self.config.identity(self.spot)
            if self.completion is not None:
                identity = spot_identity(self.spot, draft=self.completion.model)
            (require_resumable if self.resume else require_free)(self.output, identity)

    def solver(self) -> SpotSolver:
        """The solver, untrained."""
        if self.completion is not None:
            return self.completion.solver(self.spot, self.threads)
        config = self.config
        return SpotSolver(
            self.spot,
            config.algorithm,
            self.threads,
            config.precision,
            config.river_groups,
            config.device,
            config.tremble,
        )

    def need(self) -> Estimate | DraftEstimate:
        """The memory and time of the spot; a spot that does not fit is refused."""
        spot, precision, groups = self.spot, self.config.precision, self.config.river_groups
        if self.completion is not None:
            return draft_need(self.spot, self.completion, self.threads)
        need = estimate_spot(spot, precision, thread_count(self.threads), groups)
        require_memory(spot, precision, need, available_bytes(), groups)
        require_device_room(self.config.device, device_bytes(need.memory_bytes, groups))
        return need

    def plan(self) -> Plan:
        """The spot, its size, memory and time."""
        self.require()
        spot, free, need = self.spot, available_bytes(), self.need()
        kept = 0 if self.output is None else estimate_saved(spot, self.config.precision, self.saved)
        combos = [f"{held.combos:g}" for held in spot.ranges]
        name = f"{self.config.name}: " if self.config.name else ""
        room = f", {data_size(free)} free" if free is not None else ""
        answer = FIRST_CHECK if self.completion is None else self.completion.iterations
        first = need.seconds_to(answer)
        lines: tuple[str, ...] = ()
        if self.flop is not None:
            pot, line, doubt = self.flop.spot.pot.name, self.flop.spot.line, self.flop.spot.doubt
            lines += (f"{pot} pot, 100 chips are 1 bb; stored in {self.output}",)
            lines += (f"Line '{line}' is {doubt}.",) if doubt else ()
        lines += (
            f"{name}{cards_text(spot.cards)}, pot {spot.pot}, stack {spot.stack}, "
            f"{combos[0]} × {combos[1]} combos",
            *((f"Warning: {spot.rounding}",) if spot.rounding else ()),
            *_size_lines(need),
            f"memory {data_size(need.memory_bytes)} ({data_size(need.process_bytes)} in "
            f"all{room}), first check in about {duration(max(first, 1))}",
        )
        if self.first is not None:
            soon = self.first.need().seconds_to(self.first.answer_iterations)
            lines += (f"a draft of it in about {duration(max(soon, 1))}, then exactly",)
        if self.flop is not None:
            streets = {"flop": "the flop", "turn": "flop and turn", "full": "all streets"}
            lines += (f"keeps {streets[self.saved]}, about {data_size(kept)}",)
        drafts = self.completion is not None or self.first is not None
        kernels = DRAFT_KERNELS if drafts else spot_kernels(spot, self.config.precision)
        return Plan(lines, need.process_bytes, self.seconds, kernels)

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> SpotOutcome:
        """Train until a rule holds or the user interrupts, and save."""
        self.require()
        callbacks.begin()
        config, output, clock, start = self.config, self.output, self.clock, self.clock()
        drafted = self.drafted
        if self.first is not None:
            draft = self.first.run(replace(callbacks, ready=None))
            if draft.interrupted or draft.unsaved is not None:
                return draft
            callbacks.answered(draft)
            drafted = draft.exploitability
            del draft  # and its memory
        target, most, interval = config.exploitability_threshold, self.max_iterations, None
        if self.completion is not None:
            # The one check of a draft is its last.
            target, most = 0.0, self.answer_iterations
            interval = most
        stop_rules(target, most, self.seconds)  # refuses bad ones before anything is computed
        origin = None
        if self.flop is not None:  # a draft comes first: the solution's own play waits
            quick = self.completion is not None
            origin = self.flop.origin(self.threads, callbacks, evaluated=not quick)
        solver = self.solver()
        before: dict[str, Any] = {"seconds": 0.0, "metrics": []}
        with ExitStack() as stack:
            if output is not None:
                if not self.claimed:
                    stack.enter_context(claim(output))
                clear_unfinished_spot(output)
                if self.resume:
                    before = restore_spot(solver, output)
                    if before["exploitability"] <= target:
                        most = solver.iterations  # there is nothing left to do
            doing = "stopping" if output is None else f"saving to {output}"
            request = callbacks.control or stack.enter_context(
                interrupt_request(doing, "the solution")
            )
            if self.resume:
                request.saved(solver.iterations)
            saver = _Saver(self, solver, before, start, origin)
            observers = list(callbacks.progress)
            if output is not None and self.saved == "full":
                observers.append(_Regularly(saver, output, request))
            outcome = train_spot(
                solver,
                stop_rules(target, most, self.seconds, spent=clock() - start),
                before=before["metrics"],
                observers=observers,
                control=request,
                clock=clock,
                interval=interval,
            )
            if self.completion is None and config.device == CPU:
                mark_compiled(self.spot, config.precision)
            solution = SpotSolution.of(solver)  # its numbers are computed once for all callers
            solution.exploitability = reached = _reached(solver, outcome, before)
            solution.iterations = solver.iterations
            rows = [check.to_row() for check in outcome.history]
            better = drafted is not None and drafted < reached
            unsaved = None
            if output is not None and not better:
                unsaved = saver.attempt(output, solution, rows)
            solution.seconds = before["seconds"] + clock() - start
            return SpotOutcome(
                solver,
                solution,
                outcome,
                reached,
                target,
                solution.evs,
                solution.seconds,
                lambda folder: saver.save(folder, solution, rows),
                unsaved,
                None if origin is None else origin(solution),
                drafted if better else None,
            )


def _reached(solver: SpotSolver, outcome: TrainingOutcome, before: Mapping[str, Any]) -> float:
    """Exploitability of the current strategies, a fraction of the pot.

    After an interruption the last check is a few iterations old, so there is one more.
    """
    metrics = outcome.progress.fresh_metrics
    if metrics is not None and metrics.exploitability is not None:
        return metrics.exploitability / 100
    if solver.iterations == before.get("iterations"):
        return float(before["exploitability"])  # nothing was trained
    return solver.exploitability() / solver.spot.pot


@dataclass(frozen=True)
class _Saver:
    """Writes the current solution to a folder."""

    job: SpotJob
    solver: SpotSolver
    before: Mapping[str, Any]  # the manifest that a resumed job continues
    start: float  # of the job, on its clock
    origin: OriginOf | None

    def save(self, folder: Path, solution: SpotSolution, rows: Sequence[dict[str, Any]]) -> None:
        """`rows` are the checks of this run; an `InputError` if they cannot be written."""
        job, earlier = self.job, self.before["seconds"]
        save_spot(
            solution,
            folder,
            job.saved,
            seconds=earlier + job.clock() - self.start,
            # The time of a resumed job includes the earlier run.
            metrics=[
                *self.before["metrics"],
                *({**row, "seconds": earlier + row["seconds"]} for row in rows),
            ],
            name=job.config.name,
            description=job.config.description,
            origin=None if self.origin is None else self.origin(solution).mapping(),
            before=job.made_from,
        )

    def attempt(
        self, folder: Path, solution: SpotSolution, rows: Sequence[dict[str, Any]]
    ) -> str | None:
        """Save; return the problem, if any."""
        try:
            self.save(folder, solution, rows)
        except InputError as error:
            return str(error)
        return None


class _Regularly:
    """Saves a long run from time to time, right after a check."""

    def __init__(self, saver: _Saver, folder: Path, request: Control) -> None:
        self._saver, self._folder, self._request = saver, folder, request
        self._due = time.monotonic() + SAVE_SECONDS
        self._rows: dict[int, dict[str, Any]] = {}

    def __call__(self, progress: Progress) -> None:
        metrics = progress.fresh_metrics
        if progress.check is None or metrics is None or metrics.exploitability is None:
            return
        self._rows[progress.iteration] = progress.check.to_row()
        if time.monotonic() >= self._due and not progress.holding:
            rows = list(self._rows.values())
            solution = SpotSolution.of(self._saver.solver)
            solution.exploitability = metrics.exploitability / 100
            problem = self._saver.attempt(self._folder, solution, rows)
            if problem is None:
                self._request.saved(progress.iteration)
            else:
                message = f"{problem.splitlines()[0]}; the run continues"
                warnings.warn(message, CheckpointWarning, stacklevel=2)
            self._due = time.monotonic() + SAVE_SECONDS


def plan_flop(
    folder: Path,
    line: str | None,
    flop: str | None,
    settings: Mapping[str, Any],
    *,
    output: Path | None = None,
    resume: bool = False,
    draft: bool = False,
    saved: Saved | None = None,
    **options: Any,
) -> "SpotJob | tuple[FlopSpot, KeptFlop]":
    """The job that solves a flop of the whole game in `folder`, or the flop that is kept already.

    1. The line leads to a pot, the pot and the flop are a spot (`solutions.flop_spot`).
    2. A kept spot of the same ranges is found, in any suits; with `resume` it resumes.
    3. Any other is solved and kept in FOLDER/spots, or in `output`: flop and turn, unless `saved`
       says otherwise. Where that takes a while, a draft of it comes first; with `draft` only the
       draft is made.
    """
    folder = mirrored(folder)
    game = load_unified(folder)
    if line is None:
        lines = ", ".join(f"'{line}'" for line in game.flop_lines()[:6])
        raise InputError(f"--from needs --line, the betting before the flop: {lines}")
    spot = flop_spot(game, game.named_line(line), flop)
    named = {"name": f"{spot.line} | {spot.cards}", **settings}
    config = check_config(named, SpotConfig, "command line")
    kept = find_kept(folder, spot) if output is None else None
    if kept is not None and not resume and (draft or not kept.is_draft):
        return spot, kept
    again = False
    if kept is not None:
        # A solver resumes in the suits that it began with.
        spot, output = flop_spot(game, line, kept.origin.flop), kept.folder
        again, resume = not kept.is_full, kept.is_full
    elif output is None:
        if resume:
            raise InputError(
                f"{spot.name} is not solved yet in {folder / 'spots'}: leave --resume out"
            )
        output = new_kept(folder, spot)
    job = SpotJob(
        config,
        spot.spot,
        output=output,
        resume=resume,
        saved=saved or "turn",
        flop=GameFlop(game, spot),
        again=again,
        drafted=kept.exploitability if kept is not None and kept.is_draft else None,
        **options,
    )
    if draft:
        return replace(job, completion=DRAFT, saved="flop")
    first = draft_of(job) if kept is None else None
    if first is not None:
        job = replace(job, first=first, again=True)
    size = estimate_saved(spot.spot, config.precision, job.saved, config.river_groups)
    there = next(path for path in (output, *output.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if size > free:
        raise InputError(
            f"saving takes {data_size(size)} in {output}, where {data_size(free)} are free: "
            "--save turn or flop saves less, --output names another folder"
        )
    return job


def draft_of(job: SpotJob) -> SpotJob | None:
    """The draft that is ready long before the exact solution of a flop.

    None: the exact solution is quick, or the flop cannot be drafted.
    """
    if not can_draft(job.spot) or job.config.device != CPU:
        return None
    need, draft = job.need(), estimate_draft(job.spot, DRAFT.model, thread_count(job.threads))
    free = available_bytes()
    fits = free is None or draft.process_bytes <= free
    if not fits or need.seconds_to(USEFUL_ITERATIONS) <= FIRST_ANSWER_SECONDS:
        return None
    return replace(job, completion=DRAFT, saved="flop", max_iterations=None, seconds=None)


def draft_need(spot: Spot, completion: Completion, threads: int | None) -> DraftEstimate:
    """The memory and time of a draft; a draft that does not fit is refused."""
    require_draft(spot)
    need, free = estimate_draft(spot, completion.model, thread_count(threads)), available_bytes()
    if free is not None and need.process_bytes > free:
        raise InputError(
            f"a draft of this flop takes {data_size(need.process_bytes)} of memory, and "
            f"{data_size(free)} are free: use fewer bet sizes"
        )
    return need


def _size_lines(need: Estimate | DraftEstimate) -> tuple[str, ...]:
    """The size of the tree, where it is solved exactly."""
    if isinstance(need, DraftEstimate):
        return ()
    streets = [f"{count:,} {street.text}" for street, count in need.decisions.items()]
    boards = [f"{count:,} {street.text}" for street, count in need.boards.items()]
    return (f"decisions {' + '.join(streets)}, boards {' + '.join(boards)}",)
