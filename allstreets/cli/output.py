"""Where output goes: figures to stdout, talk to stderr; with --json one object, last on stdout."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")
]


def console(*, stderr: bool = False) -> "Console":
    """A console for people; on something that is not a terminal it writes plain text."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    # What a program reads is not wrapped.
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=10_000)


def print_json(figures: dict[str, Any]) -> None:
    """One JSON object on one line; numbers that do not exist become null, never NaN."""
    typer.echo(json.dumps(figures, allow_nan=False))
