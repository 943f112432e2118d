"""The kinds of solves (a spot or a flop of a game, a whole game, played hands) and their jobs.

A job runs in a solving process under the server's control. It saves as it goes, so that its result
can be looked at meanwhile and resumed later; everything else (folders, the queue, processes,
reports) is the same for all kinds.

The first save comes early, so that there is something to view; later ones are rare. Saving may take
a share of the elapsed time plus a second, so that the first save of a typical spot comes with its
first check (`SaveBudget`).
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from allstreets.analysis import Difference, LockRequest, difference
from allstreets.base import InputError, duration, figure
from allstreets.engines import CPU
from allstreets.explorer.headlines import MBB, PERCENT
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import SolveProgress
from allstreets.explorer.solves.flops import Work, read_work, spot_bytes
from allstreets.explorer.solves.folders import Request, SolveFolder
from allstreets.explorer.solves.games import game_bytes, game_outline, plan_game
from allstreets.explorer.solves.process import Commands, Ending, Reporter
from allstreets.explorer.solves.spots import spot_name, spot_title
from allstreets.games import Bound, device_bytes, estimate_spot, require_device_room
from allstreets.interop import read_hands
from allstreets.jobs import (
    COMPILING,
    DRAFT_KERNELS,
    HOLDS,
    Callbacks,
    ExploitabilityThreshold,
    LastResort,
    Progress,
    SpotJob,
    StopRule,
    TimeLimit,
    mark_compiled,
    must_announce,
    must_compile,
    plan_lock,
    train_spot,
)
from allstreets.solutions import SpotSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import has_checkpoints, read_spot_manifest, restore_spot, save_spot
from allstreets.study import Effort, load_games, plan_review

SHARE = 0.07  # of the time that has passed
ALLOWANCE = 1.0  # seconds
BYTES_A_SECOND = 300e6  # the assumed speed of a first save
CLOSEST, FARTHEST = 1.0, 300.0  # seconds between two saves, if they cost nothing
GROWTH = 0.1  # of the time that has passed, between two saves


@dataclass
class SaveBudget:
    """Decides when a save is due, by the time of earlier saves."""

    solver_bytes: int
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _spent: float = field(default=0.0, init=False)
    _last: tuple[float, float] | None = field(default=None, init=False)  # when, how long

    def __post_init__(self) -> None:
        self._began = self.clock()

    def due(self) -> bool:
        """Whether to save now."""
        now = self.clock()
        passed = now - self._began
        if self._last is None:
            cost = self.solver_bytes / BYTES_A_SECOND
        else:
            ended, cost = self._last
            if now - ended < max(CLOSEST, min(GROWTH * passed, FARTHEST)):
                return False
        return self._spent + cost <= ALLOWANCE + SHARE * passed

    def saved(self, seconds: float) -> None:
        """Record the time of a save that has just ended."""
        self._spent += seconds
        self._last = self.clock(), seconds


class Thinned:
    """Rows of checks: all of the first ones, then fewer and fewer, and always the latest.

    A river is checked some hundred times per second; a curve shows as much with one row per 1 %
    more iterations.
    """

    def __init__(self, ratio: float = 1.01, first: int = 100) -> None:
        self._ratio, self._first = ratio, first
        self._kept: list[dict[str, Any]] = []
        self.latest: dict[str, Any] | None = None  # if it is not one of the rows that stay

    def add(self, row: dict[str, Any]) -> bool:
        """Add a row; return whether it stays."""
        stays = (
            len(self._kept) < self._first
            or row["iteration"] >= self._ratio * self._kept[-1]["iteration"]
        )
        if stays:
            self._kept.append(row)
        self.latest = None if stays else row
        return stays

    def rows(self) -> list[dict[str, Any]]:
        """The rows that stay, and the latest one."""
        return [*self._kept, *([] if self.latest is None else [self.latest])]


MAX_ITERATIONS = 100_000  # in one run, where the target is out of reach
STORE_SECONDS = 5.0  # between two progress notes of a review, for later servers
OWN_PLAY = "playing the game's own strategies with real cards, for comparison"
DRAFTING = "drafting this flop, for a first look"
SETUP = "bucketing hands and building tables before the first iteration"
BEGIN = "opening the solutions and reading the hands"


def solve_spot(
    folder: SolveFolder, request: Request, commands: Commands, reporter: Reporter
) -> Ending:
    """Solve a spot, or resume it where the folder holds a bundle."""
    form, work = request.spot, read_work(request)
    config, spot = work.config, work.spot
    on_cpu = config.device == CPU
    if on_cpu and must_compile(spot, config.precision):
        reporter.note(COMPILING)
    job = work.draft_job(folder.solution)
    if job is not None and not folder.has_solution:
        drafted = draft_flop(job, commands, reporter)
        if drafted is not None:
            return drafted
    # Before the solver takes its memory: the game's own play of a flop is evaluated here.
    callback = SpotCallback(folder, request, work, reporter)
    if not on_cpu:
        groups = config.river_groups
        stored = estimate_spot(spot, config.precision, river_groups=groups).memory_bytes
        require_device_room(config.device, device_bytes(stored, groups))
    solver = callback.build()
    if folder.has_solution and callback.go_on() <= form.target_pct:
        return Ending("done", callback.where())
    rules: tuple[StopRule, ...] = (
        ExploitabilityThreshold(form.target_pct),
        LastResort(solver.iterations + MAX_ITERATIONS),
    )
    if form.max_seconds is not None:
        rules = (*rules, TimeLimit(form.max_seconds))
    outcome = train_spot(
        solver, rules, before=callback.rows.rows(), observers=[callback], control=commands
    )
    if on_cpu:
        mark_compiled(spot, config.precision)
    callback.finish(outcome.progress)
    where = callback.where()
    match outcome.reason:
        case "interrupted":
            return Ending(commands.ending or "interrupted", where)
        case "time":
            return Ending("done", f"the time of {duration(form.max_seconds)} is up: {where}")
        case "iterations":
            return Ending("done", f"{outcome.progress.iteration:,} iterations are done: {where}")
    return Ending("done", where)


def draft_flop(job: SpotJob, commands: Commands, reporter: Reporter) -> Ending | None:
    """Draft a flop, to view while it is solved exactly; return its ending, if it ended."""
    reporter.note(COMPILING if must_announce(DRAFT_KERNELS) else DRAFTING)

    def callback(progress: Progress) -> None:
        metrics = progress.metrics
        known = None if metrics is None else metrics.exploitability
        reporter.report(described(progress, known), paused=progress.paused, note=DRAFTING)

    outcome = job.run(Callbacks(progress=(callback,), control=commands))
    if outcome.unsaved is not None:
        return Ending("failed", error=outcome.unsaved)
    reached = 100 * outcome.exploitability
    reporter.saved(described(outcome.training.progress, reached))
    if outcome.interrupted:
        where = f"a draft, within {figure(reached)} % of pot"
        return Ending(commands.ending or "interrupted", where)
    reporter.note(OWN_PLAY)
    return None


class SpotCallback:
    """Callback of the training loop between two iterations of a spot."""

    _solver: SpotSolver

    def __init__(
        self, folder: SolveFolder, request: Request, work: Work, reporter: Reporter
    ) -> None:
        self._folder, self._request, self._work = folder, request, work
        self._reporter, self._origin = reporter, work.origin()
        self.rows = Thinned()  # the checks so far, those of the runs before this one included
        self._began_at = self._checked_at = self._saved_at = 0  # iterations
        self._seconds_before = 0.0  # of the runs before this one
        self._exploitability = math.nan  # % of pot, as far as it is known
        self._kept = math.inf  # % of pot, of a draft that stays until this is better

    def build(self) -> SpotSolver:
        """The solver."""
        config = self._work.config
        self._solver = SpotSolver(
            self._work.spot, config.algorithm, precision=config.precision,
            river_groups=config.river_groups, device=config.device,
        )  # fmt: skip
        self._budget = SaveBudget(self._solver.memory_bytes)
        return self._solver

    def go_on(self) -> float:
        """Resume from a bundle, or solve again if it keeps too little for that.

        Returns the exploitability of an exact solution, in % of the pot.
        """
        before = read_spot_manifest(self._folder.solution)
        if before["saved"] == "full":
            return self.restore()
        self._kept = 100 * float(before["exploitability"])
        if "draft" in before["config"]:
            return math.inf
        self._exploitability = self._kept
        return self._kept

    def restore(self) -> float:
        """Resume from a bundle; returns its exploitability, in % of the pot."""
        before = restore_spot(self._solver, self._folder.solution)
        for row in before["metrics"]:
            self.rows.add(row)
        self._seconds_before = before["seconds"]
        self._began_at = self._checked_at = self._saved_at = self._solver.iterations
        self._exploitability = 100 * float(before["exploitability"])
        return self._exploitability

    def __call__(self, progress: Progress) -> None:
        """Record the figures, save, and report progress."""
        check = progress.check
        if check is not None and check.iteration > self._checked_at:
            self._checked_at = check.iteration
            if check.metrics.exploitability is not None:
                self._exploitability = check.metrics.exploitability
            row = {**check.to_row(), "seconds": self._seconds_before + check.seconds}
            if self.rows.add(row):
                self._reporter.add(CurvePoint.of_check(row))
        if progress.iteration == self._began_at or progress.holding:
            return
        self._reporter.report(self._described(progress), paused=progress.paused)
        fresh = progress.fresh_metrics is not None
        if progress.paused or (fresh and self._budget.due()):  # to be viewed meanwhile
            self._save(progress)

    def finish(self, progress: Progress) -> None:
        """The last save."""
        if self.rows.latest is not None:
            self._reporter.add(CurvePoint.of_check(self.rows.latest))
        self._reporter.report(self._described(progress), note="saving", now=True)
        self._save(progress)

    def where(self) -> str:
        """The progress, in words."""
        target, reached = self._request.spot.target_pct, self._exploitability
        verb = "is reached" if reached <= target else "is not reached"
        return f"{figure(reached)} % of the pot, the target of {target:g} % {verb}"

    def _save(self, progress: Progress) -> None:
        """Save if something is unsaved."""
        solver, locked = self._solver, self._request.locked
        if progress.fresh_metrics is None:  # the latest check lies a few iterations back
            self._exploitability = 100 * solver.exploitability() / solver.spot.pot
        if progress.iteration <= self._saved_at or self._exploitability >= self._kept:
            return
        began, described = time.monotonic(), self._described(progress)
        save_spot(
            solver,
            self._folder.solution,
            exploitability=self._exploitability / 100,
            seconds=described.seconds,
            metrics=self.rows.rows(),
            name=spot_name(self._request.spot),
            origin=None if self._origin is None else self._origin(SpotSolution.of(solver)),
            before=None if locked is None else locked.model_dump(include={"folder", "line"}),
        )
        self._reporter.saved(described)
        self._saved_at = progress.iteration
        self._budget.saved(time.monotonic() - began)

    def _described(self, progress: Progress) -> SolveProgress:
        return described(progress, self._exploitability, self._seconds_before)


def described(
    progress: Progress, exploitability: float | None, earlier: float = 0.0
) -> SolveProgress:
    """The progress of a training; `earlier`: seconds of the runs before this one."""
    left = [progress.eta_seconds, progress.target_eta_seconds]
    for rule in progress.rules:
        if isinstance(rule, TimeLimit):
            left.append(max(rule.seconds - progress.session_seconds, 0.0))
    return SolveProgress(
        iteration=progress.iteration,
        seconds=earlier + progress.seconds,
        iterations_per_second=progress.iterations_per_second,
        eta_seconds=min((each for each in left if each is not None), default=None),
        exploitability=exploitability,
        memory_bytes=progress.process_bytes or progress.solver_bytes,
    )


def train_game(
    folder: SolveFolder, request: Request, commands: Commands, reporter: Reporter
) -> Ending:
    """Train a game, or resume from its checkpoints, by the code of `allstreets train`."""
    assert request.game is not None
    resume = has_checkpoints(folder.solution / "checkpoints")
    job = plan_game(request.game.text, folder.solution, resume=resume, locked=request.locked)
    reporter.note(COMPILING if must_announce(f"unified-{job.config.cards}") else SETUP)
    checked_at = 0

    def figures(progress: Progress) -> SolveProgress:
        metrics = progress.metrics
        return described(progress, None if metrics is None else metrics.exploitability)

    def callback(progress: Progress) -> None:
        nonlocal checked_at
        check = progress.check
        fresh = check is not None and check.iteration > checked_at
        if check is not None and fresh:
            restored = checked_at == 0 and check.iteration != progress.iteration  # known already
            checked_at = check.iteration
            if not restored:
                reporter.add(CurvePoint.of_check(check.to_row()))
        reporter.report(figures(progress), paused=progress.paused, now=fresh)
        if fresh:  # every check is kept for servers to come
            reporter.store(figures(progress))

    outcome = job.run(Callbacks(progress=(callback,), control=commands))
    if outcome.unsaved is not None:
        return Ending("failed", error=outcome.unsaved)
    last = outcome.training.progress
    callback(last)
    reporter.saved(figures(last))
    reached, iterations = outcome.figures.exploitability, f"{last.iteration:,} iterations"
    where = "" if reached is None else f": {figure(reached)} mbb/hand in its own game"
    match outcome.training.reason:
        case "interrupted":
            return Ending(commands.ending or "interrupted", f"saved after {iterations}{where}")
        case "time":
            limit = duration(job.config.time_limit_seconds)
            return Ending("done", f"the time of {limit} is up after {iterations}{where}")
        case "iterations":
            return Ending("done", f"all {iterations} are done{where}")
    return Ending("done", f"the threshold is reached after {iterations}{where}")


def solve_in_rounds(
    folder: SolveFolder, request: Request, commands: Commands, reporter: Reporter
) -> Ending:
    """Solve a spot or a game with frequencies locked, by the code of `allstreets lock`.

    Rounds are solved until they hold for the hands that get there.
    """
    source = request.locked
    assert source is not None
    asked = LockRequest(
        bounds=tuple(Bound.read(a.line, a.action, a.frequency, "the lock") for a in source.asked),
        same_range=source.same_range,
    )
    resume = folder.has_solution or has_checkpoints(folder.solution / "checkpoints")
    job, original, _ = plan_lock(Path(source.folder), asked, folder.solution, resume=resume)
    kernels = job.plan().kernels
    reporter.note(COMPILING if kernels is not None and must_announce(kernels) else SETUP)
    checked_at, said = 0, ""

    def figures(progress: Progress) -> SolveProgress:
        metrics = progress.metrics
        return described(progress, None if metrics is None else metrics.exploitability)

    def callback(progress: Progress) -> None:
        nonlocal checked_at
        check = progress.check
        if progress.iteration < checked_at:  # a new round
            checked_at = 0
        fresh = check is not None and check.iteration > checked_at
        if check is not None and fresh:
            checked_at = check.iteration
            reporter.add(CurvePoint.of_check(check.to_row()))
        reporter.report(figures(progress), paused=progress.paused, note=said, now=fresh)

    def message(text: str) -> None:
        nonlocal said
        said = text
        reporter.note(text)

    outcome = job.run(Callbacks(progress=(callback,), control=commands, message=message))
    if outcome.unsaved is not None:
        return Ending("failed", error=outcome.unsaved)
    last = outcome.training.progress
    reporter.saved(figures(last))
    if outcome.interrupted:
        return Ending(commands.ending or "interrupted", "saved; this round is not finished")
    change = difference(original, outcome.result(), asked.lines, asked.bounds)
    return Ending("done", held_text(change))


def held_text(change: Difference) -> str:
    """Whether frequencies hold in a solution with locks, in words."""
    misses = [one.missed for place in change.places for one in place.actions if one.asked]
    if not all(map(math.isfinite, misses)) or not misses:
        return "no hand gets to a locked decision any more"
    many = "the frequencies are" if len(misses) > 1 else "the frequency is"
    held = many.replace("are", "hold").replace("is", "holds")
    gap = max(misses)
    return held if gap <= HOLDS else f"{many} off by {100 * gap:.1f} percentage points"


def review_hands(
    folder: SolveFolder, request: Request, commands: Commands, reporter: Reporter
) -> Ending:
    """Review hands, or resume where an earlier process was stopped."""
    source = request.review
    assert source is not None
    reporter.note(COMPILING if must_announce("review") else BEGIN)
    job = plan_review(
        read_hands([folder.hands]),
        load_games([Path(solution) for solution in source.folders]),
        source.hero or None,
        effort=Effort(source.target_pct / 100, source.seconds_per_spot),
        output=folder.solution,
        name=source.name,
    )
    if not job.hands:
        reasons = sorted({hand.reason for hand in job.skipped})
        raise InputError(f"no hand can be reviewed: {'; '.join(reasons[:3])}")

    def callback(progress: Progress) -> None:
        fresh, seconds = progress.done - progress.before, progress.seconds
        figures = SolveProgress(
            iteration=progress.done,
            total=progress.total,
            seconds=seconds,
            iterations_per_second=fresh / seconds if fresh and seconds else None,
            eta_seconds=progress.eta_seconds,
            exploitability=None,
            memory_bytes=None,
        )
        so_far = progress.latest
        note = "" if so_far.hand is None else f"{so_far.loss_bb:.2f} bb lost so far"
        reporter.report(figures, paused=progress.paused, note=note, now=True)
        reporter.store(figures, STORE_SECONDS)

    outcome = job.run(Callbacks(progress=(callback,), control=commands))
    reporter.store()
    done = f"{len(outcome.hands):,} of {outcome.total:,} hands are reviewed"
    if outcome.interrupted:
        return Ending(commands.ending or "interrupted", f"{done} and kept")
    return Ending("done", done)


Outline = tuple[str, str, float | None]  # name, title, target


@dataclass(frozen=True)
class Kind:
    """A kind of solve."""

    unit: str  # of exploitability, or of progress
    outline: Callable[[Request], Outline]
    need_bytes: Callable[[Request, int | None], int]
    """The memory that it takes; raises `InputError` if that much is not free."""
    run: Callable[[SolveFolder, Request, Commands, Reporter], Ending]
    finished: str  # the message for a finished one; a target can be made smaller
    claims: bool = False  # whether `run` claims the folder itself


def kind_of(request: Request) -> Kind:
    """The kind of a request."""
    if request.locked is not None and request.locked.asked:
        return GAME_IN_ROUNDS if request.game else SPOT_IN_ROUNDS
    return REVIEW if request.review else GAME if request.game else SPOT


def _game_outline(request: Request) -> Outline:
    assert request.game is not None
    return game_outline(request.game, request.locked)


def _game_bytes(request: Request, free: int | None) -> int:
    assert request.game is not None
    return game_bytes(request.game, free, request.locked)


def _review_outline(request: Request) -> Outline:
    source = request.review
    assert source is not None
    names = ", ".join(Path(folder).name for folder in source.folders)
    return source.name, f"{source.hero or 'the players who recorded them'}, graded by {names}", None


SPOT = Kind(
    PERCENT,
    lambda request: (spot_name(request.spot), spot_title(request.spot), request.spot.target_pct),
    spot_bytes,
    solve_spot,
    "",
)
GAME = Kind(
    MBB,
    _game_outline,
    _game_bytes,
    train_game,
    "this game is trained to its end: start one with more epochs",
    claims=True,
)
# Locks of frequencies are solved again until these hold; a round claims its own folder.
SPOT_IN_ROUNDS = replace(SPOT, run=solve_in_rounds, claims=True)
GAME_IN_ROUNDS = replace(GAME, run=solve_in_rounds)
REVIEW = Kind(
    "hands",
    _review_outline,
    lambda *_: 0,  # it makes its trees to fit into free memory
    review_hands,
    "all hands are reviewed: start another review",
)
