"""Saying once that kernels are compiled, since the first run of a kind has to wait for it."""

from contextlib import suppress

import typer

from allstreets.kernels.jit import compiled_folder


def announce_compiling(what: str) -> None:
    """Say once that kernels are compiled; a marker file next to them remembers it."""
    marker = compiled_folder() / what
    if not marker.exists():
        typer.echo("compiling kernels, once, about a minute …", err=True)
        with suppress(OSError):
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
