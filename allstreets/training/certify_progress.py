"""Drawing the progress of a certification: a bar, or lines of a log."""

from __future__ import annotations  # rich is imported when something is drawn, not before

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from allstreets.training.flop_progress import LINE_SECONDS
from allstreets.training.progress import can_redraw
from allstreets.training.wording import data_size, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

    from allstreets.training.certify_run import CertifyObserver, CertifyProgress


@contextmanager
def show_certify_progress(stream: TextIO | None = None) -> Iterator[CertifyObserver]:
    """An observer that suits `stream` (by default stderr)."""
    from rich.console import Console

    stream = stream or sys.stderr
    console = Console(file=stream, highlight=False)
    if can_redraw(stream, console):
        with _live(console) as observer:
            yield observer
    else:
        yield certify_lines(stream)


def certify_lines(
    stream: TextIO,
    seconds: float = LINE_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> CertifyObserver:
    """One line at most every so many `seconds`, and the last."""
    due = clock() + seconds

    def draw(progress: CertifyProgress) -> None:
        nonlocal due
        if clock() >= due or progress.done == progress.total:
            print(certify_line(progress), file=stream, flush=True)
            due = clock() + seconds

    return draw


@contextmanager
def _live(console: Console) -> Iterator[CertifyObserver]:
    """A bar that is drawn over itself; the last state stays."""
    from rich.live import Live

    with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:

        def draw(progress: CertifyProgress) -> None:
            live.update(_picture(progress, console.width), refresh=True)

        yield draw


def certify_line(progress: CertifyProgress) -> str:
    """The job in one line that can be searched for."""
    return " | ".join([f"flops {progress.done:,} of {progress.total:,}", *_figures(progress)])


def _picture(progress: CertifyProgress, width: int) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    count = f"{progress.done:,} / {progress.total:,} flops"
    row = Table.grid(padding=(0, 1, 0, 0))
    bar = ProgressBar(
        max(progress.total, 1), progress.done, max(min(width, 80) - len(count) - 1, 1)
    )
    row.add_row(bar, Text(count, "bold"))
    figures = Text("  ".join(_figures(progress)), "dim", no_wrap=True, overflow="ellipsis")
    return Group(row, figures)


def _figures(progress: CertifyProgress) -> list[str]:
    judged = progress.done - progress.before
    parts = [f"{progress.seconds / judged:.1f} s a flop"] if judged else []
    if progress.flop is not None:
        parts += [f"ETA {duration(progress.eta_seconds)}"]
    parts.append(data_size(progress.process_bytes))
    if progress.flop is not None:
        parts.append(progress.flop)
    return parts
