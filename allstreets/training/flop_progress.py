"""Drawing the progress of a job of many flops: a bar and the group in work, or lines of a log."""

from __future__ import annotations  # rich is imported when something is drawn, not before

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from allstreets import base  # whose consoles need rich
from allstreets.solutions import row_weight
from allstreets.training.cluster_nodes import node_lines
from allstreets.training.progress import LIVE_SECONDS, can_redraw, standing
from allstreets.training.wording import data_size, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

    from allstreets.training.flops_run import FlopsProgress

    FlopsObserver = Callable[[FlopsProgress], None]

LINE_SECONDS = 5.0  # between two lines where there is no terminal
SHOWN_FLOPS = 4


@contextmanager
def show_flop_progress(stream: TextIO | None = None) -> Iterator[FlopsObserver]:
    """An observer that suits `stream` (by default stderr)."""
    stream = stream or sys.stderr
    console = base.PlainConsole(file=stream)
    if can_redraw(stream, console):
        with live_flops(console) as observer:
            yield observer
    else:
        with flop_lines(stream) as observer:
            yield observer


@contextmanager
def flop_lines(
    stream: TextIO,
    seconds: float = LINE_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[FlopsObserver]:
    """One line at most every so many `seconds`, a line for every fault, and the last state."""
    printed, latest, faults = -1, None, 0
    due = clock() + seconds

    def draw(progress: FlopsProgress) -> None:
        nonlocal printed, latest, faults, due
        latest = progress
        for fault in progress.faults[faults:]:
            print(f"flop {fault.flop} failed: {fault.message}", file=stream, flush=True)
        faults = len(progress.faults)
        if clock() >= due:
            _print(progress, stream)
            printed, due = progress.done, clock() + seconds

    try:
        yield draw
    finally:
        if latest is not None and latest.done != printed:
            _print(latest, stream)


def _print(progress: FlopsProgress, stream: TextIO) -> None:
    print(
        flops_line(progress),
        *node_lines(progress.nodes, "flops"),
        sep="\n",
        file=stream,
        flush=True,
    )


@contextmanager
def live_flops(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[FlopsObserver]:
    """A bar and the group in work, drawn over themselves; the last state stays."""
    from rich.live import Live

    latest: FlopsProgress | None = None
    due = clock()
    with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:

        def draw(progress: FlopsProgress) -> None:
            nonlocal latest, due
            latest = progress
            if clock() >= due:
                live.update(flops_picture(progress, console.width), refresh=True)
                due = clock() + LIVE_SECONDS

        try:
            yield draw
        finally:
            if latest is not None:
                live.update(flops_picture(latest, console.width), refresh=True)


def group_line(progress: FlopsProgress) -> str:
    """The group in work: "AsKh7d, 9s8s2h and 30 more: iteration 75 of 200 | exploitability …"."""
    flops = list(dict.fromkeys(flop for flop, _ in progress.running))
    names = ", ".join(flops[:SHOWN_FLOPS])
    more = f" and {len(flops) - SHOWN_FLOPS} more" if len(flops) > SHOWN_FLOPS else ""
    if progress.nodes:
        return f"{names}{more} in work"
    return f"{names}{more}: {standing(progress.group) if progress.group else 'setting up'}"


def flops_line(progress: FlopsProgress) -> str:
    """The job in one line that can be searched for."""
    parts = [f"flops {progress.done:,} of {progress.total:,}", *_figures(progress)]
    if progress.running:
        parts.append(group_line(progress))
    return " | ".join(parts)


def flops_picture(progress: FlopsProgress, width: int) -> RenderableType:
    """A bar, the figures, and the group in work, none wider than `width`."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    def text(line: str, style: str = "") -> Text:
        return Text(line, style=style, no_wrap=True, overflow="ellipsis")

    total = max(progress.total, 1)
    count = f"{progress.done:,} / {progress.total:,} flops"
    row = Table.grid(padding=(0, 1, 0, 0))
    bar = ProgressBar(total, progress.done, max(min(width, 80) - len(count) - 1, 1))
    row.add_row(bar, text(count, "bold"))
    lines: list[RenderableType] = [row, text("  ".join(_figures(progress)), "dim")]
    if progress.running:
        lines.append(text(group_line(progress)))
    lines += [text(line, "dim") for line in node_lines(progress.nodes, "flops")]
    lines += [text(f"flop {fault.flop} failed: {fault.message}", "red")
              for fault in progress.faults[-3:]]  # fmt: skip
    return Group(*lines)


def _figures(progress: FlopsProgress) -> list[str]:
    parts = []
    if progress.rows:
        weights = [row_weight(row) for row in progress.rows]
        found = [row["exploitability"] for row in progress.rows]
        mean = sum(w * e for w, e in zip(weights, found, strict=True)) / sum(weights)
        parts.append(f"expl mean {mean:.4f} max {max(found):.4f} of pot")
    if progress.faults:
        parts.append(f"{len(progress.faults):,} failed")
    parts.append(f"ETA {duration(progress.eta_seconds)}")
    parts.append(data_size(progress.process_bytes))
    return parts
