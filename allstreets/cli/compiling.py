"""What the first run of a kind has to wait for: kernels that are compiled, tables of flops."""

import sys
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


def count_tables(done: int, total: int) -> None:
    """Progress of the table of flops, in place on a terminal; elsewhere nothing."""
    if sys.stderr.isatty():
        sys.stderr.write(
            f"\rtables of flops, once: {done:,} of {total:,} " if done < total else "\r\033[K"
        )
        sys.stderr.flush()
