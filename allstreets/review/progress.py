"""Drawing the progress of a review: a bar, or lines of a log."""

from __future__ import annotations  # rich is imported when something is drawn, not before

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from allstreets.training import can_redraw, duration

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from allstreets.review.run import ReviewObserver, ReviewProgress

LINE_SECONDS = 10.0


@contextmanager
def show_review_progress(stream: TextIO | None = None) -> Iterator[ReviewObserver]:
    """An observer that suits `stream` (by default stderr)."""
    from rich.console import Console

    stream = stream or sys.stderr
    console = Console(file=stream, highlight=False)
    if can_redraw(stream, console):
        with _live(console) as observer:
            yield observer
    else:
        yield review_lines(stream)


def review_lines(
    stream: TextIO,
    seconds: float = LINE_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> ReviewObserver:
    """One line at most every so many `seconds`, and the last."""
    due = clock() + seconds

    def draw(progress: ReviewProgress) -> None:
        nonlocal due
        if clock() >= due or progress.done == progress.total:
            print(review_line(progress), file=stream, flush=True)
            due = clock() + seconds

    return draw


def review_line(progress: ReviewProgress) -> str:
    """The job in one line that can be searched for."""
    return " | ".join([f"hands {progress.done:,} of {progress.total:,}", *_figures(progress)])


@contextmanager
def _live(console: Console) -> Iterator[ReviewObserver]:
    """A bar that is drawn over itself; the last state stays."""
    from rich.live import Live

    with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:

        def draw(progress: ReviewProgress) -> None:
            live.update(_picture(progress, console.width), refresh=True)

        yield draw


def _picture(progress: ReviewProgress, width: int) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    count = f"{progress.done:,} / {progress.total:,} hands"
    row = Table.grid(padding=(0, 1, 0, 0))
    bar = ProgressBar(
        max(progress.total, 1), progress.done, max(min(width, 80) - len(count) - 1, 1)
    )
    row.add_row(bar, Text(count, "bold"))
    figures = Text("  ".join(_figures(progress)), "dim", no_wrap=True, overflow="ellipsis")
    return Group(row, figures)


def _figures(progress: ReviewProgress) -> list[str]:
    reviewed = progress.done - progress.before
    parts = [f"{progress.before:,} kept from before"] if progress.before else []
    if reviewed and progress.seconds > 0:
        parts.append(f"{60 * reviewed / progress.seconds:.3g} hands a minute")
        if progress.done < progress.total:
            parts.append(f"ETA {duration(progress.eta_seconds)}")
    parts.append(f"{progress.loss_bb:.2f} bb lost")
    if progress.hand is not None and progress.done < progress.total:
        parts.append(progress.hand)
    return parts
