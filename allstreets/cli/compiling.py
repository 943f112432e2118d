"""What the first run of a kind has to wait for: kernels that are compiled, tables of flops."""

import sys

import typer

from allstreets.training import must_announce


def announce_compiling(what: str) -> None:
    """Say once that kernels are compiled; a marker file next to them remembers it."""
    if must_announce(what):
        typer.echo("compiling kernels, once, about a minute …", err=True)


def count_tables(done: int, total: int) -> None:
    """Progress of the table of flops, in place on a terminal; elsewhere nothing."""
    if sys.stderr.isatty():
        sys.stderr.write(
            f"\rtables of flops, once: {done:,} of {total:,} " if done < total else "\r\033[K"
        )
        sys.stderr.flush()
