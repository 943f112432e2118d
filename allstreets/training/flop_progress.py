"""Drawing the progress of a job of many flops: bar and flops in work on a terminal, else lines."""

from __future__ import annotations  # rich and the job are imported when something is drawn

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from allstreets.training.progress import LIVE_SECONDS, can_redraw
from allstreets.training.wording import data_size, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

    from allstreets.solvers.flops.model import FlopProgress
    from allstreets.training.postflop_run import FlopsObserver, FlopsProgress

LINE_SECONDS = 5.0  # between two lines where there is no terminal
SHOWN_FLOPS = 6


@contextmanager
def show_flop_progress(stream: TextIO | None = None) -> Iterator[FlopsObserver]:
    """An observer that suits `stream` (by default stderr)."""
    from rich.console import Console

    stream = stream or sys.stderr
    console = Console(file=stream, highlight=False)
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
            print(flops_line(progress), file=stream, flush=True)
            printed, due = progress.done, clock() + seconds

    try:
        yield draw
    finally:
        if latest is not None and latest.done != printed:
            print(flops_line(latest), file=stream, flush=True)


@contextmanager
def live_flops(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[FlopsObserver]:
    """A bar and the flops in work, drawn over themselves; the last state stays."""
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


def flop_line(progress: FlopProgress, several_sprs: bool = False) -> str:
    """One flop in work: "Flop 'AsKh7d' CFR expl=0.0032 (45/200)"."""
    spr = f" SPR {progress.spr:g}" if several_sprs else ""
    found = progress.exploitability
    expl = "…" if found is None else f"{found:.4f}"
    return (
        f"Flop '{progress.flop.text}'{spr} CFR expl={expl} ({progress.iteration}/{progress.total})"
    )


def flops_line(progress: FlopsProgress) -> str:
    """The job in one line that can be searched for."""
    parts = [f"flops {progress.done:,} of {progress.total:,}", *_figures(progress)]
    if progress.running:
        parts.append(flop_line(progress.running[0], progress.several_sprs))
    return " | ".join(parts)


def flops_picture(progress: FlopsProgress, width: int) -> RenderableType:
    """A bar, the figures, and the flops in work, none wider than `width`."""
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
    lines += [text(flop_line(one, progress.several_sprs)) for one in progress.running[:SHOWN_FLOPS]]
    lines += [text(f"flop {fault.flop} failed: {fault.message}", "red")
              for fault in progress.faults[-3:]]  # fmt: skip
    return Group(*lines)


def _figures(progress: FlopsProgress) -> list[str]:
    parts = []
    if progress.rows:
        weights = [row["multiplicity"] for row in progress.rows]
        found = [row["exploitability"] for row in progress.rows]
        mean = sum(w * e for w, e in zip(weights, found, strict=True)) / sum(weights)
        parts.append(f"expl mean {mean:.4f} max {max(found):.4f} of pot")
    if progress.faults:
        parts.append(f"{len(progress.faults):,} failed")
    parts.append(f"ETA {duration(progress.eta_seconds)}")
    parts.append(data_size(progress.process_bytes))
    return parts
