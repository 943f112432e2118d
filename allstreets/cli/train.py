"""allstreets train: run the job that a training file describes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.base.interrupt import INTERRUPTED
from allstreets.cli.output import JsonOption, command, console, print_json, print_looks
from allstreets.cli.train_game import announce_compiling, train_preflop, train_unified

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.training.postflop_run import FlopsOutcome, PostflopJob
    from allstreets.training.train_config import TrainConfig

FAULTS_SHOWN = 5


@dataclass(frozen=True)
class TrainOptions:
    """What the command line adds to a training file."""

    file: Path | None  # None: the built-in example
    output: Path
    resume: bool
    threads: int | None
    json: bool
    part: Path | None = None  # a folder of its own for a part of the job

    @property
    def folder(self) -> Path:
        """Where the flops go."""
        return self.part or self.output

    def at(self, folder: Path, *, resume: bool) -> "TrainOptions":
        """The same for a part of the job in a folder of its own."""
        return replace(self, part=folder, resume=resume)


def train(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE.yaml]", help="A training file; without it a first example."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for what is solved; default: runs/<time>."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what --output holds.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Goes before the file's key; default: every core.")
    ] = None,
    chart_interval: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Draw the preflop charts every N iterations, 0 = only at the end; goes before "
            "the file's key; default: three times on the way.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Solve the game preflop through river, or many flops, as a training file says.

    \b
    Examples:
      allstreets train
      allstreets train sample_configurations/smoke.yaml --output solved/
      allstreets train sample_configurations/unified_20bb.yaml --output solved/ --resume
      allstreets report solved/ --line "r2.5 c" --flop AhKd7s

    \b
    A file to start with:
      solver:
        type: unified_cfr
        stack_depth: 20
        flops: spread_25

    Ctrl-C keeps what is solved, as SIGTERM and SIGHUP do. docs/training.md and
    docs/postflop-models.md have all keys.
    """
    from allstreets.base import InputError
    from allstreets.cli.train_game import default_output
    from allstreets.training.train_config import FIRST_RUN, read_train_config

    if output is None:
        if resume:
            raise InputError("--resume needs --output, the folder to go on from")
        output = default_output()
    config = read_train_config(file or FIRST_RUN)
    if chart_interval is not None:
        if config.solver is None:
            raise InputError("--chart-interval: this file solves flops, which have no such charts")
        solver = config.solver.model_copy(update={"chart_interval": chart_interval})
        config = config.model_copy(update={"solver": solver})
    code = JOBS[config.job](config, TrainOptions(file, output, resume, threads, json))
    if code:
        raise typer.Exit(code)


def train_flops(config: "TrainConfig", options: TrainOptions) -> int:
    """The job of the section `postflop_model`; returns the exit code."""
    outcome = solve_flops(config, options)
    if options.json:
        print_json(outcome.figures())
    return exit_code(outcome)


def solve_flops(config: "TrainConfig", options: TrainOptions) -> "FlopsOutcome":
    """Solve the flops of the section `postflop_model`, and tell how it goes."""
    from allstreets.training.flop_progress import show_flop_progress
    from allstreets.training.postflop_run import PostflopJob

    assert config.postflop_model is not None
    job = PostflopJob(
        config.postflop_model,
        options.folder,
        resume=options.resume,
        threads=options.threads,
        name=config.name,
        description=config.description,
    )
    _print_plan(job, config.name)
    with show_flop_progress() as observer:
        outcome = job.run([observer])
    _print_outcome(console(stderr=options.json), job, outcome, options)
    return outcome


def exit_code(outcome: "FlopsOutcome") -> int:
    """130 when the user ended it, 1 when a flop failed."""
    if outcome.interrupted:
        return INTERRUPTED
    return 1 if outcome.faults else 0


JOBS: dict[str, Callable[["TrainConfig", TrainOptions], int]] = {
    "unified_cfr": train_unified,
    "preflop_cfr": train_preflop,
    "postflop_model": train_flops,
}
"""What each job of a training file runs."""


def _print_plan(job: "PostflopJob", name: str | None) -> None:
    """Say what the job takes, and refuse what does not fit."""
    from allstreets.solvers.flops.estimate import require_room
    from allstreets.solvers.spot.estimate import available_bytes
    from allstreets.training.wording import data_size, duration

    need, free = job.estimate(), available_bytes()
    sprs = ", ".join(f"{game.spr:g}" for game in job.games)
    there = len(job.bundle.wanted) - len(job.bundle.missing)
    done = f" ({there:,} of {len(job.bundle.wanted):,} are there)" if there else ""
    console(stderr=True).print(
        f"{f'{name}: ' if name else ''}{len(job.flops):,} flops at SPR {sprs}{done}, "
        f"{job.model.solve_type}, {need.nodes:,} tree nodes, "
        f"about {data_size(need.memory_bytes)}, at most about "
        f"{duration(max(need.seconds, 1)) if job.bundle.missing else '0:00'} on {job.threads} "
        f"thread{'s' if job.threads > 1 else ''}"
    )
    require_room(need, free)
    if job.bundle.missing:
        announce_compiling(f"flops-{job.model.solve_type}")


def _print_outcome(
    out: "Console", job: "PostflopJob", outcome: "FlopsOutcome", options: TrainOptions
) -> None:
    from allstreets.training.wording import duration

    figures, goal = outcome.figures(), job.ends.exploitability
    if outcome.rows:
        out.print(
            f"Solved {figures['solved']:,} of {len(job.bundle.wanted):,} flops in "
            f"{duration(outcome.seconds)}: exploitability {_percent(figures, 'mean')} of the pot "
            f"on average, {_percent(figures, 'max')} at most; "
            f"{figures['iterations_mean']:.0f} iterations"
        )
        above = figures["solved"] - figures["converged"]
        if above and goal:
            out.print(
                f"{above:,} of them ended after {job.ends.iterations:,} iterations above the "
                f"threshold of {100 * goal:g} %."
            )
    for fault in outcome.faults[:FAULTS_SHOWN]:
        out.print(f"Flop {fault.flop} at SPR {fault.spr:g} failed: {fault.message}", markup=False)
    if len(outcome.faults) > FAULTS_SHOWN:
        out.print(f"… and {len(outcome.faults) - FAULTS_SHOWN:,} more failed.")
    if outcome.missing:
        word = "Interrupted" if outcome.interrupted else "Not all is solved"
        count = len(outcome.missing)
        left = "1 flop is" if count == 1 else f"{count:,} flops are"
        file = [options.file] if options.file else []
        again = command("train", *file, "--output", options.output, "--resume")
        out.print(f"{word}, {left} missing. Go on with: {again}", soft_wrap=True)
    if outcome.rows:
        first = outcome.rows[0]
        spr = ["--spr", f"{first['spr']:g}"] if len(job.games) > 1 else []
        print_looks(out, options.folder, "--flop", first["flop"], *spr)


def _percent(figures: dict[str, Any], which: str) -> str:
    return f"{100 * figures[f'exploitability_{which}']:.2f} %"
