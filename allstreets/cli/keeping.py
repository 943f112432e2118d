"""A solution that could not be written: another folder is requested."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import typer

from allstreets.base import InputError, Place
from allstreets.cli.output import written_path

Folder = TypeVar("Folder", bound=Place)

UNSAVED = 2  # the exit code, that of a folder which cannot be used


def kept_in(
    output: Folder | None, unsaved: str | None, keep: Callable[[Path], None]
) -> Folder | Path | None:
    """Where a solution is: in `output`, or elsewhere; None if it is not saved.

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
