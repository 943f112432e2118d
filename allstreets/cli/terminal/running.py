"""A job on a terminal: its plan, its progress, and another folder if it cannot be saved."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import typer
from rich.console import Console

from allstreets.base import INTERRUPTED, InputError, Place
from allstreets.cli.terminal.decisions import print_charts
from allstreets.cli.terminal.output import console, written_path
from allstreets.jobs import COMPILING, Callbacks, Job, Outcome, must_announce, show_progress

Folder = TypeVar("Folder", bound=Place)
Ended = TypeVar("Ended", bound=Outcome)


def run_on_terminal(job: Job[Ended]) -> Ended:
    """Print the plan of a job and run it, with its progress on stderr."""
    plan, err = job.plan(), console(stderr=True)
    for line in plan.lines:
        err.print(line)
    with show_progress() as view:
        return job.run(
            Callbacks(
                ready=partial(announce_compiling, plan.kernels),
                progress=(view,),
                setup=(view,),
                charts=partial(print_charts, view.console),
                answer=partial(print_answer, view.console),
                message=view.console.print,
            )
        )


def print_answer(out: Console, outcome: Outcome) -> None:
    """Print a first answer, while the work continues."""
    for line in outcome.lines():
        out.print(line)


def announce_compiling(kernels: str | None) -> None:
    """Announce once that kernels are being compiled; a marker file next to them remembers it."""
    if kernels is not None and must_announce(kernels):
        typer.echo(f"{COMPILING} …", err=True)


def exit_code(outcome: Outcome) -> int:
    """The exit code of a job that has ended or was interrupted."""
    return INTERRUPTED if outcome.interrupted else 0


def kept_in(
    output: Folder | None, unsaved: str | None, keep: Callable[[Path], None]
) -> Folder | Path | None:
    """The folder of a solution: `output`, or another one; None: it is not saved.

    `unsaved` says why it could not be written. At a terminal the user may name another folder, as
    often as it takes: the result is still in memory.
    """
    if unsaved is None:
        return output
    typer.echo(f"Error: {unsaved}", err=True)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        typer.echo("The solution is not saved; only the result above remains.", err=True)
        return None
    while True:
        question = "Another folder for the solution (empty: do not save)"
        name = typer.prompt(question, default="", show_default=False, err=True).strip()
        if not name:
            return None
        try:
            folder = written_path(name).expanduser()
            keep(folder)
        except InputError as error:
            typer.echo(f"Error: {error}", err=True)
        except typer.BadParameter as error:
            typer.echo(f"Error: {error.message}", err=True)
        else:
            return folder
