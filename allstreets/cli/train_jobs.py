"""A job of `allstreets train` on a terminal: its plan, its progress and its outcome."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from allstreets.base import INTERRUPTED, Place, available_bytes
from allstreets.cli.certify import certify_on_terminal
from allstreets.cli.compiling import announce_compiling, count_tables
from allstreets.cli.keeping import UNSAVED, kept_in
from allstreets.cli.output import command, console, print_json, print_looks
from allstreets.cli.preflop_view import print_charts, print_opening
from allstreets.jobs import (
    FlopsJob,
    FlopsOutcome,
    Job,
    PreflopOutcome,
    UnifiedJob,
    UnifiedOutcome,
    Watch,
    data_size,
    duration,
    figure,
    plan_certify,
    show_flop_progress,
    show_progress,
)
from allstreets.solutions import OWN, locks_text
from allstreets.solvers import require_flop_room

if TYPE_CHECKING:
    from rich.console import Console

FAULTS_SHOWN = 5

More = Callable[["Console", UnifiedOutcome], dict[str, Any]]


@dataclass(frozen=True)
class TrainOptions:
    """What the command line adds to a training file."""

    file: Path | None  # None: the built-in example
    output: Place
    json: bool
    last: bool  # whether no other job follows
    certify: bool = False  # whether a whole game is judged with real cards at the end
    cluster: str | None = None  # where it is given here, not in the file
    again: str | None = None  # the command that goes on with it, where no file has it

    @property
    def to_resume(self) -> str:
        """The command that goes on with an interrupted run."""
        if self.again is not None:
            return self.again
        file = [self.file] if self.file else []
        where = ["--cluster", self.cluster] if self.cluster else []
        return command("train", *file, "--output", self.output, *where, "--resume")

    @property
    def evaluated_flops(self) -> str | None:
        """Which flops are judged: of the built-in example its own, which takes half a minute."""
        return OWN if self.file is None else None


def run_job(job: Job, options: TrainOptions, more: More | None = None) -> int:
    """Run a job and print its outcome; returns the exit code.

    `more` prints what else there is to say of a whole game, and returns it for JSON.
    """
    if isinstance(job, FlopsJob):
        return run_flops(job, options)
    if isinstance(job, UnifiedJob):
        print_unified_plan(job)
    what = f"unified-{job.config.cards}" if isinstance(job, UnifiedJob) else None
    with show_progress() as view:
        watch = Watch(
            ready=partial(announce_compiling, what) if what else None,
            progress=(view,),
            charts=partial(print_charts, view.console),
            tables=count_tables,
            told=partial(view.console.print, markup=False, highlight=False),
        )
        outcome = job.run(watch)
    out = console(stderr=options.json)
    if isinstance(outcome, UnifiedOutcome):
        where = print_unified(out, outcome)
        figures = more(out, outcome) if more is not None else {}
    else:
        where, figures = print_preflop(out, outcome), {}
    return end_run(out, outcome, options, where, figures)


def run_flops(job: FlopsJob, options: TrainOptions) -> int:
    """Solve flops; 130 when the user ended it, 1 when a flop failed."""
    print_flops_plan(job)
    with show_flop_progress() as observer:
        watch = Watch(
            ready=partial(announce_compiling, f"flops-{job.model.kind}"),
            flops=observer,
            told=partial(typer.echo, err=True),
        )
        outcome = job.run(watch)
    print_flops(console(stderr=options.json), outcome, options)
    code = INTERRUPTED if outcome.interrupted else 1 if outcome.faults else 0
    if options.json and (options.last or code):
        print_json(outcome.to_json())
    return code


def end_run(
    out: "Console",
    outcome: UnifiedOutcome | PreflopOutcome,
    options: TrainOptions,
    where: list[str],
    more: dict[str, Any],
) -> int:
    """The end of a run, after its figures: where it is saved; returns the exit code."""
    kept = kept_in(options.output, outcome.unsaved, outcome.save)
    if outcome.training.unsaved is not None:
        typer.echo(f"Warning: {outcome.training.unsaved}", err=True)
    figures, interrupted = {**outcome.to_json(), **more}, outcome.interrupted
    if kept is not None:
        print_way_on(out, options, kept, where, interrupted=interrupted)
        if options.certify and not interrupted:
            assert isinstance(kept, Path)  # `train` has refused others
            judged = certify_on_terminal(out, plan_certify(kept, options.evaluated_flops))
            interrupted = judged.interrupted
            figures["certificate"] = judged.to_json()
    if options.json:
        print_json(figures)
    if kept is None:
        return UNSAVED
    return INTERRUPTED if interrupted else 0


def print_unified_plan(job: UnifiedJob) -> None:
    """Print what is solved, and its memory and time."""

    config, need = job.config, job.need
    out = console(stderr=True)
    name = f"{job.name}: " if job.name else ""
    which = "all 1,755 flops" if job.game.flops.is_all else f"{need.flops:,} flops"
    out.print(
        f"{name}{config.stack_depth:g} bb, {which}, cards {config.cards}, {need.pots} pots that "
        f"see a flop, {need.postflop_decisions:,} decisions on each flop"
    )
    free = available_bytes()
    room = f", {data_size(free)} free" if free is not None else ""
    kept = {"resident": "in memory", "memmap": "on disk", "per_batch": "for one batch"}
    out.print(
        f"{data_size(need.memory_bytes)} of regrets and strategies {kept[config.memory]}, "
        f"{data_size(need.resident_bytes)} of memory in all{room}"
    )
    if config.card_model().goes_by_ranges:
        times = config.regroupings()
        again = f"; as ranges move, again (at most {times}×)" if times else ""
        out.print(
            "grouping the hands of all river boards comes first: "
            f"{duration(need.setup_seconds)}{again}"
        )
    there = job.on_device()
    if there is not None:
        out.print(there.text, soft_wrap=True)
    threads = f"{job.threads} thread{'s' if job.threads > 1 else ''}"
    where = threads if there is None else "the GPU"
    limit = config.time_limit_seconds
    seconds = need.seconds_to(job.iterations)
    sooner = config.exploitability_threshold is not None
    most = limit if limit and limit < seconds else seconds
    until = f"at most {duration(most)}" if sooner or most < seconds else duration(seconds)
    out.print(
        f"{job.iterations:,} iterations of about {need.seconds_per_iteration:.2g} s on {where}: "
        f"{until}, without the checks"
    )


def print_unified(out: "Console", outcome: UnifiedOutcome) -> list[str]:
    """The game, its exploitability and the first charts; returns a decision for a report."""

    job, figures = outcome.job, outcome.figures
    seconds = outcome.training.progress.seconds
    result = outcome.result()
    out.print()
    print_opening(out, result)
    which = "all 1,755 flops" if job.game.flops.is_all else f"{job.need.flops:,} flops"
    cards = f"{which}, cards {job.config.cards}" if job.game.pots else "no flop is seen"
    reached = (
        "unknown, since strategies of flops outside the batch are not stored"
        if figures.exploitability is None
        else f"{figure(figures.exploitability)} mbb/hand"
    )
    own = ", in its own game" if job.game.pots and figures.exploitability is not None else ""
    out.print(f"\nExploitability of the whole game: {reached}{own}")
    if figures.values is not None and figures.preflop_exploitability is not None:
        out.print(
            f"Of the preflop strategy alone: {figure(figures.preflop_exploitability)} mbb/hand. "
            f"The game is worth {figures.values[1]:+.1f} mbb/hand to the small blind."
        )
    if job.config.cards == "classes" and job.game.pots:
        out.print(
            "This is an abstraction by hand classes, a quick picture: it is blind to turn and "
            "river, and its figures say nothing about real cards; allstreets certify does "
            "(docs/certificates.md).",
            soft_wrap=True,
        )
    out.print(
        f"Solved: {job.config.stack_depth:g} bb, {cards}, "
        f"{outcome.solver.iterations:,} iterations in {duration(seconds)}.",
        soft_wrap=True,
    )
    if job.game.lock:
        out.print(f"Given, not found: {locks_text(job.game.lock)}.", markup=False, soft_wrap=True)
    if outcome.solver.saved_bytes:
        out.print(
            f"Unplayed hands were dropped: regrets and strategies take "
            f"{data_size(outcome.solver.memory_bytes)}, {outcome.saved_share:.0%} saved.",
            soft_wrap=True,
        )
    flop = job.game.flops.flops[0].text if result.has_flops else None
    lines = result.flop_lines() if flop else result.opening_lines()[1:]
    return ["--line", lines[0], *(["--flop", flop] if flop else [])] if lines else []


def print_preflop(out: "Console", outcome: PreflopOutcome) -> list[str]:
    """The same for the separated pipeline."""

    out.print()
    print_opening(out, outcome.solution)
    out.print(
        f"\nExploitability within the models of flops: "
        f"{figure(outcome.solution.exploitability)} mbb/hand, "
        f"{outcome.solver.iterations:,} iterations in "
        f"{duration(outcome.training.progress.seconds)}. In the whole game it is larger.",
        soft_wrap=True,
    )
    lines = outcome.solution.opening_lines()[1:]
    return ["--line", lines[0]] if lines else []


def print_way_on(
    out: "Console", options: TrainOptions, kept: Place, where: list[str], *, interrupted: bool
) -> None:
    """How to continue an interrupted run, and how to open the solution."""
    if interrupted:
        again = options.to_resume
        out.print(f"Interrupted; saved in {kept}. Go on: {again}", markup=False, soft_wrap=True)
    print_looks(out, kept, *where)


def print_flops_plan(job: FlopsJob) -> None:
    """Say what the job takes, and refuse what does not fit."""

    bundle = job.bundle
    missing, wanted = len(bundle.missing), len(bundle.wanted)
    need, free = job.estimate(missing), available_bytes()
    on_cluster = job.config.cluster is not None
    sprs = ", ".join(f"{pot.pot.spr:g}" for pot in job.pots)
    done = f" ({wanted - missing:,} of {wanted:,} are solved)" if missing < wanted else ""
    console(stderr=True).print(
        f"{f'{job.name}: ' if job.name else ''}{len(job.flops):,} flops at SPR {sprs}{done}, "
        f"{job.config.cards}, {need.nodes:,} tree nodes, "
        f"about {data_size(need.memory_bytes)}, at most about "
        f"{duration(max(need.seconds, 1)) if missing else '0:00'} on {job.threads} "
        f"thread{'s' if job.threads > 1 else ''}{' of a cluster' if on_cluster else ''}"
    )
    if not on_cluster:  # where the machines are asked what they have
        require_flop_room(need, free)


def print_flops(out: "Console", outcome: FlopsOutcome, options: TrainOptions) -> None:

    job, figures = outcome.job, outcome.to_json()
    goal = job.targets.exploitability
    if outcome.rows:
        out.print(
            f"Solved {figures['solved']:,} of {len(job.places):,} flops in "
            f"{duration(outcome.seconds)}: exploitability {_percent(figures, 'mean')} of the pot "
            f"on average, {_percent(figures, 'max')} at most; "
            f"{figures['iterations_mean']:.0f} iterations"
        )
        above = figures["solved"] - figures["converged"]
        if above and goal:
            out.print(
                f"{above:,} of them ended after {job.iterations:,} iterations above the "
                f"threshold of {100 * goal:g} %."
            )
    for fault in outcome.faults[:FAULTS_SHOWN]:
        out.print(f"Flop {fault.flop} at SPR {fault.spr:g} failed: {fault.message}", markup=False)
    if len(outcome.faults) > FAULTS_SHOWN:
        out.print(f"… and {len(outcome.faults) - FAULTS_SHOWN:,} more failed.")
    if outcome.missing:
        word = "Interrupted" if outcome.interrupted else "Not everything is solved"
        count = len(outcome.missing)
        left = "1 flop is" if count == 1 else f"{count:,} flops are"
        out.print(f"{word}, {left} missing. Go on with: {options.to_resume}", soft_wrap=True)
    if outcome.rows:
        first = outcome.rows[0]
        spr = ["--spr", f"{first['spr']:g}"] if len(job.pots) > 1 else []
        print_looks(out, job.output, "--flop", first["flop"], *spr)


def _percent(figures: dict[str, Any], which: str) -> str:
    return f"{100 * figures[f'exploitability_{which}']:.2f} %"
