"""The progress of a job on stderr: redrawn in place on a terminal, lines of a log elsewhere."""

from __future__ import annotations  # rich is imported when something is drawn, not before

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from allstreets import base  # whose consoles need rich
from allstreets.base import data_size, duration, figure
from allstreets.jobs.job import ITERATIONS, Progress

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from allstreets.jobs.job import Observer

LIVE_SECONDS = 0.1  # between two drawings on a terminal
LINE_SECONDS = {ITERATIONS: 2.0}  # between two lines elsewhere, so that a log stays readable
PIECE_SECONDS = 5.0  # the same where pieces are counted
UNBROKEN = 10_000  # columns where the output is no terminal: programs read unwrapped lines
SHOWN_PIECES = 4
SHOWN_FAULTS = 3


@dataclass(frozen=True)
class ProgressView:
    """An observer that draws progress, and the place for output: above a table, after a line."""

    observer: Observer
    console: Console

    def __call__(self, progress: Progress) -> None:
        """Draw."""
        self.observer(progress)


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[ProgressView]:
    """An observer that suits `stream` (by default stderr): table, or lines if it is no terminal."""
    stream = stream or sys.stderr
    console = base.PlainConsole(file=stream)
    # `is_terminal` alone can be forced by the environment.
    if stream.isatty() and console.is_terminal and not console.is_dumb_terminal:
        with live_progress(console) as observer:
            yield ProgressView(observer, console)
    else:
        # Set explicitly: the environment may claim a terminal.
        plain = base.PlainConsole(file=stream, force_terminal=False, width=UNBROKEN)
        with line_progress(stream) as observer:
            yield ProgressView(observer, plain)


@contextmanager
def line_progress(
    stream: TextIO, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Observer]:
    """At most one line every `seconds`, one for every fault, and always the last one."""
    printed: Progress | None = None
    latest: Progress | None = None
    shown_faults, began = 0, clock()

    def draw(progress: Progress) -> None:
        nonlocal latest, shown_faults
        latest = progress
        for fault in progress.faults[shown_faults:]:
            print(fault, file=stream, flush=True)
        shown_faults = len(progress.faults)
        between = seconds or LINE_SECONDS.get(progress.noun, PIECE_SECONDS)
        if progress.ended or clock() >= began + between:
            put(progress)

    def put(progress: Progress) -> None:
        nonlocal printed, began
        known = printed is not None and progress.check is printed.check
        # The lines of machines change with checks.
        lines = [] if progress.noun == ITERATIONS and known else node_lines(progress)
        print(progress_line(progress), *lines, sep="\n", file=stream, flush=True)
        printed, began = progress, clock()

    try:
        yield draw
    finally:
        if latest is not None and (printed is None or _differ(latest, printed)):
            put(latest)


def _differ(one: Progress, other: Progress) -> bool:
    return (one.done, one.noun) != (other.done, other.noun) or one.check is not other.check


@contextmanager
def live_progress(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[Observer]:
    """A small table or bar that is redrawn in place; the last state stays on the screen."""
    from rich.live import Live

    latest: Progress | None = None
    due = clock()
    # stdout is not caught: it may be a file that takes the result.
    with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:

        def draw(progress: Progress) -> None:
            nonlocal latest, due
            if latest is not None and latest.noun == ITERATIONS != progress.noun:
                console.print(progress_table(latest, console.width))  # the trained iterations stay
            latest = progress
            if progress.ended or clock() >= due:
                live.update(progress_table(progress, console.width), refresh=True)
                due = clock() + LIVE_SECONDS

        try:
            yield draw
        finally:
            if latest is not None:
                live.update(progress_table(latest, console.width), refresh=True)


def progress_line(progress: Progress) -> str:
    """One line of plain text that can be searched for."""
    if progress.noun != ITERATIONS:
        count = f"{progress.noun} {progress.done:,} of {progress.total:,}"
        return " | ".join([count, *progress.figures, *in_work(progress)])
    parts = [standing(progress)]
    if progress.check is not None and progress.check.metrics.avg_positive_regret is not None:
        regret = figure(progress.check.metrics.avg_positive_regret)
        parts.append(f"avg +regret {regret}{_behind(progress)}")
    parts += [f"{figure(progress.iterations_per_second)} it/s", f"ETA {_eta(progress)}"]
    parts.append(data_size(_memory(progress)))
    if progress.device is not None:
        parts.append(f"{progress.device.name} {device_text(progress)}")
    return " | ".join(parts)


def device_text(progress: Progress) -> str:
    """Format the run's use of a GPU: its memory, and how fast stored numbers move."""
    use, rate = progress.device, progress.iterations_per_second
    assert use is not None
    text = data_size(use.used_bytes)
    if rate is not None:
        moved = use.moved_bytes * rate
        text += f", {data_size(round(moved))}/s ({moved / use.peak:.0%} of its peak)"
    return text


def node_lines(progress: Progress) -> list[str]:
    """A line for each machine of a cluster."""
    return [f"  {node.line(progress.noun)}" for node in progress.nodes]


def standing(progress: Progress) -> str:
    """Iteration and exploitability, with the iteration of the check if that is another one."""
    text = f"iteration {_iteration(progress, ' of ')}"
    known = progress.metrics.exploitability if progress.metrics else None
    if known is not None:
        text += f" | exploitability {figure(known)} {progress.unit}{_behind(progress)}"
    return text


def in_work(progress: Progress) -> list[str]:
    """The pieces in progress: "AsKh7d, 9s8s2h and 30 more: iteration 75 of 200 | …"."""
    if not progress.running:
        return []
    names = list(dict.fromkeys(name for name, *_ in progress.running))
    text = ", ".join(names[:SHOWN_PIECES])
    if len(names) > SHOWN_PIECES:
        text += f" and {len(names) - SHOWN_PIECES} more"
    if progress.nodes:
        return [f"{text} in progress"]
    return [f"{text}: {standing(progress.part) if progress.part else 'setting up'}"]


def progress_table(progress: Progress, width: int) -> RenderableType:
    """Headings, figures and a bar, none wider than `width`; of pieces a bar and figures."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    def text(line: str, style: str = "") -> Text:
        return Text(line, style=style, no_wrap=True, overflow="ellipsis")

    def bar(beside: Text, room: int) -> Table:
        row = Table.grid(padding=(0, 1, 0, 0))
        total = max(progress.total or 0, 1)
        row.add_row(ProgressBar(total, progress.done, max(min(width, 80) - room, 1)), beside)
        return row

    nodes = [text(line, "dim") for line in node_lines(progress)]
    if progress.noun != ITERATIONS:
        count = f"{progress.done:,} / {progress.total:,} {progress.noun}"
        return Group(
            bar(text(count, "bold"), len(count) + 1),
            text("  ".join(progress.figures), "dim"),
            *(text(line) for line in in_work(progress)),
            *nodes,
            *(text(line, "red") for line in progress.faults[-SHOWN_FAULTS:]),
        )
    heads, values = _fitting(_columns(progress), width)
    if progress.total is not None:
        percent = f"{100 * progress.done // progress.total:3d} %"
        last: RenderableType = bar(Text(percent, no_wrap=True, overflow="ignore"), 6)
    else:
        until = " or ".join(rule.describe(progress.unit) for rule in progress.rules)
        last = text(f"until {until}", "dim")
    return Group(text(heads, "dim"), text(values, "bold"), last, *nodes)


def _columns(progress: Progress) -> list[tuple[str, str, int]]:
    """(heading, value, smallest width) of each column, the most important first.

    The smallest width fits most values, so that columns keep their places.
    """
    metrics = progress.metrics
    exploitability = figure(metrics.exploitability if metrics else None)
    if metrics and metrics.exploitability is not None:
        exploitability += f" {progress.unit}"
    regret = figure(metrics.avg_positive_regret if metrics else None)
    total = len(f"{progress.total:,}") * 2 + 3 if progress.total else 9
    return [
        ("iteration", _iteration(progress, " / "), total),
        ("exploitability", exploitability, 9 + len(progress.unit)),
        ("ETA", _eta(progress), 7),
        ("it/s", figure(progress.iterations_per_second), 6),
        ("avg +regret", regret, 8),
        ("memory", data_size(_memory(progress)), 7),
        *([(progress.device.name, device_text(progress), 7)] if progress.device else []),
    ]


def _fitting(columns: list[tuple[str, str, int]], width: int) -> tuple[str, str]:
    """The two lines of the table: as many columns as fit, with two spaces between or one."""
    widths = [max(len(head), len(value), least) for head, value, least in columns]
    while len(widths) > 1 and sum(widths) + len(widths) - 1 > width:
        widths.pop()
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= width else " "
    heads = gap.join(head.ljust(n) for (head, _, _), n in zip(columns, widths, strict=False))
    values = gap.join(value.ljust(n) for (_, value, _), n in zip(columns, widths, strict=False))
    return heads[:width], values[:width]


def _behind(progress: Progress) -> str:
    """The iteration of the latest check, if there have been others since."""
    check = progress.check
    return f" (at {check.iteration:,})" if check and check.iteration != progress.done else ""


def _iteration(progress: Progress, between: str) -> str:
    total = "" if progress.total is None else f"{between}{progress.total:,}"
    return f"{progress.done:,}{total}"


def _eta(progress: Progress) -> str:
    """The time to the nearer of the two ends; "~" marks a guess from the curve's slope."""
    fixed, guessed = progress.eta_seconds, progress.target_eta_seconds
    if guessed is not None and (fixed is None or guessed < fixed):
        return f"~{duration(guessed)}"
    return duration(fixed)


def _memory(progress: Progress) -> int:
    return progress.solver_bytes if progress.process_bytes is None else progress.process_bytes
