"""What a run has to wait for: kernels that are compiled, tables of flops, flop after flop."""

import sys

import typer

from allstreets.jobs import must_announce


def announce_compiling(what: str) -> None:
    """Say once that kernels are compiled; a marker file next to them remembers it."""
    if must_announce(what):
        typer.echo("compiling kernels, once, about a minute …", err=True)


def count_tables(done: int, total: int) -> None:
    """Progress of the table of flops."""
    _count("tables of flops, once", done, total)


def count_class_flops(done: int, total: int) -> None:
    """Progress of all flops played with hand classes, which drawn flops are compared with."""
    _count("all flops with hand classes", done, total)


def count_simple_flops(done: int, total: int) -> None:
    """Progress of flops on which simple strategies are judged."""
    _count("flops", done, total)


def _count(what: str, done: int, total: int) -> None:
    """In place on a terminal; elsewhere nothing."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{what}: {done:,} of {total:,} " if done < total else "\r\033[K")
        sys.stderr.flush()
