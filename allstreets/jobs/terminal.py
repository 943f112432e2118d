"""The progress of a job on stderr: drawn over itself on a terminal, lines of a log elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TextIO, TypeVar

from allstreets import base
from allstreets.jobs.format import data_size, duration, figure
from allstreets.jobs.progress import Progress
from allstreets.solutions import row_weight

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from allstreets.jobs import NodeWork
    from allstreets.jobs.certificate import CertifyProgress
    from allstreets.jobs.flops import FlopsProgress
    from allstreets.jobs.loop import Observer
    from allstreets.jobs.spots import SpotsProgress


LIVE_SECONDS = 0.1  # between two drawings on a terminal
RUN_LINE_SECONDS = 2.0  # between two lines elsewhere, so that a log stays readable
UNBROKEN = 10_000  # columns of what is no terminal: what a program reads is not wrapped


@dataclass(frozen=True)
class ProgressView:
    """An observer that draws progress, and where to print between: above a table, after a line."""

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
    if can_redraw(stream, console):
        with live_progress(console) as observer:
            yield ProgressView(observer, console)
    else:
        # Set explicitly: the environment may claim a terminal.
        plain = base.PlainConsole(file=stream, force_terminal=False, width=UNBROKEN)
        with line_progress(stream) as observer:
            yield ProgressView(observer, plain)


def can_redraw(stream: TextIO, console: Console) -> bool:
    """Whether a drawing can be drawn over: `is_terminal` alone can be forced by the environment."""
    return stream.isatty() and console.is_terminal and not console.is_dumb_terminal


@contextmanager
def line_progress(
    stream: TextIO,
    seconds: float = RUN_LINE_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Observer]:
    """One line at most every so many `seconds`, and always the last one."""
    printed: Progress | None = None
    latest: Progress | None = None
    due = clock() + seconds

    def draw(progress: Progress) -> None:
        nonlocal printed, latest, due
        latest = progress
        if progress.holding or clock() >= due:
            checked = progress.check is not (printed.check if printed else None)
            lines = run_node_lines(progress) if checked else []
            print(*[progress_line(progress), *lines], sep="\n", file=stream, flush=True)
            printed, due = progress, clock() + seconds

    try:
        yield draw
    finally:
        if latest is not None and latest is not printed:
            print(progress_line(latest), file=stream, flush=True)


@contextmanager
def live_progress(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[Observer]:
    """A small table that is drawn over itself; the last state stays on the screen."""
    from rich.live import Live

    latest: Progress | None = None
    due = clock()
    # stdout is not caught: it may be a file that takes the result.
    with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:

        def draw(progress: Progress) -> None:
            nonlocal latest, due
            latest = progress
            if progress.holding or clock() >= due:
                live.update(progress_table(progress, console.width), refresh=True)
                due = clock() + LIVE_SECONDS

        try:
            yield draw
        finally:
            if latest is not None:
                live.update(progress_table(latest, console.width), refresh=True)


def progress_line(progress: Progress) -> str:
    """One line of plain text that can be searched for."""
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
    """What the run makes of a GPU: its memory, and how fast stored numbers move."""
    use, rate = progress.device, progress.iterations_per_second
    assert use is not None
    text = data_size(use.used_bytes)
    if rate is not None:
        moved = use.moved_bytes * rate
        text += f", {data_size(round(moved))}/s ({moved / use.peak:.0%} of its peak)"
    return text


def run_node_lines(progress: Progress) -> list[str]:
    """A line for each machine of a cluster."""
    return [
        f"  {node.name}: {node.flops:,} flops | {figure(node.iterations_per_second)} it/s | "
        f"{data_size(node.memory_bytes)} | waiting {node.waiting:.0%}"
        for node in progress.nodes
    ]


def standing(progress: Progress) -> str:
    """Iteration and exploitability, with the iteration that it is of where that is another one."""
    text = f"iteration {_iteration(progress, ' of ')}"
    known = progress.metrics.exploitability if progress.metrics else None
    if known is not None:
        text += f" | exploitability {figure(known)} {progress.unit}{_behind(progress)}"
    return text


def progress_table(progress: Progress, width: int) -> RenderableType:
    """Headings, figures and a bar, none wider than `width`."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    heads, values = _fitting(_columns(progress), width)
    lines: list[RenderableType] = [
        Text(heads, style="dim", no_wrap=True, overflow="ellipsis"),
        Text(values, style="bold", no_wrap=True, overflow="ellipsis"),
    ]
    if progress.total is not None:
        percent = f"{100 * progress.iteration // progress.total:3d} %"
        bar = ProgressBar(progress.total, progress.iteration, max(min(width, 80) - 6, 1))
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_row(bar, Text(percent, no_wrap=True, overflow="ignore"))
        lines.append(row)
    else:
        until = " or ".join(rule.describe(progress.unit) for rule in progress.rules)
        lines.append(Text(f"until {until}", style="dim", no_wrap=True, overflow="ellipsis"))
    for line in run_node_lines(progress):
        lines.append(Text(line, style="dim", no_wrap=True, overflow="ellipsis"))
    return Group(*lines)


def _columns(progress: Progress) -> list[tuple[str, str, int]]:
    """(heading, value, smallest width) of each column, the most important first.

    The smallest width is what most values fit in, so that columns keep their places.
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
    return f" (at {check.iteration:,})" if check and check.iteration != progress.iteration else ""


def _iteration(progress: Progress, between: str) -> str:
    total = "" if progress.total is None else f"{between}{progress.total:,}"
    return f"{progress.iteration:,}{total}"


def _eta(progress: Progress) -> str:
    """To the nearer of the two ends; "~" marks the one that is guessed from the curve's slope."""
    fixed, guessed = progress.eta_seconds, progress.target_eta_seconds
    if guessed is not None and (fixed is None or guessed < fixed):
        return f"~{duration(guessed)}"
    return duration(fixed)


def _memory(progress: Progress) -> int:
    return progress.solver_bytes if progress.process_bytes is None else progress.process_bytes


LINE_SECONDS = 5.0  # between two lines where there is no terminal
SHOWN_FLOPS = 4
SHOWN_FAULTS = 3


class Counted(Protocol):
    """How far a job is."""

    @property
    def done(self) -> int:
        """Things that are done."""

    @property
    def total(self) -> int:
        """Of so many."""


P = TypeVar("P", bound=Counted)


def _no_lines(_: Any) -> list[str]:
    return []


@dataclass(frozen=True)
class CountProgress(Generic[P]):
    """How a kind of job is drawn."""

    things: str  # that are counted: "flops"
    figures: Callable[[P], list[str]]  # stand beside the count
    seconds: float = LINE_SECONDS  # between two lines where there is no terminal
    in_work: Callable[[P], list[str]] = _no_lines  # stand behind the figures, or below them
    below: Callable[[P], list[str]] = _no_lines  # lines that follow
    faults: Callable[[P], list[str]] = _no_lines  # a line for each so far

    @contextmanager
    def shown(self, stream: TextIO | None = None) -> Iterator[Callable[[P], None]]:
        """An observer that suits `stream` (by default stderr)."""
        stream = stream or sys.stderr
        console = base.PlainConsole(file=stream)
        drawing = self.live(console) if can_redraw(stream, console) else self.lines(stream)
        with drawing as observer:
            yield observer

    @contextmanager
    def lines(
        self, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> Iterator[Callable[[P], None]]:
        """One line at most every so many `seconds`, a line for every fault, and the last state."""
        printed, latest, faults = -1, None, 0
        due = clock() + self.seconds

        def draw(progress: P) -> None:
            nonlocal latest, faults
            latest, told = progress, self.faults(progress)
            for fault in told[faults:]:
                print(fault, file=stream, flush=True)
            faults = len(told)
            if clock() >= due or progress.done == progress.total:
                put(progress)

        def put(progress: P) -> None:
            nonlocal printed, due
            lines = [self.line(progress), *self.below(progress)]
            print(*lines, sep="\n", file=stream, flush=True)
            printed, due = progress.done, clock() + self.seconds

        try:
            yield draw
        finally:
            if latest is not None and latest.done != printed:
                put(latest)

    @contextmanager
    def live(
        self, console: Console, clock: Callable[[], float] = time.monotonic
    ) -> Iterator[Callable[[P], None]]:
        """A bar that is drawn over itself; the last state stays."""
        from rich.live import Live

        latest: P | None = None
        due = clock()
        with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:

            def draw(progress: P) -> None:
                nonlocal latest, due
                latest = progress
                if clock() >= due:
                    live.update(self.picture(progress, console.width), refresh=True)
                    due = clock() + LIVE_SECONDS

            try:
                yield draw
            finally:
                if latest is not None:
                    live.update(self.picture(latest, console.width), refresh=True)

    def line(self, progress: P) -> str:
        """The job in one line that can be searched for."""
        count = f"{self.things} {progress.done:,} of {progress.total:,}"
        return " | ".join([count, *self.figures(progress), *self.in_work(progress)])

    def picture(self, progress: P, width: int) -> RenderableType:
        """A bar, the figures, and what is in work, none wider than `width`."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        def text(line: str, style: str = "") -> Text:
            return Text(line, style=style, no_wrap=True, overflow="ellipsis")

        count = f"{progress.done:,} / {progress.total:,} {self.things}"
        room = max(min(width, 80) - len(count) - 1, 1)
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_row(ProgressBar(max(progress.total, 1), progress.done, room), text(count, "bold"))
        return Group(
            row,
            text("  ".join(self.figures(progress)), "dim"),
            *(text(line) for line in self.in_work(progress)),
            *(text(line, "dim") for line in self.below(progress)),
            *(text(line, "red") for line in self.faults(progress)[-SHOWN_FAULTS:]),
        )


def node_lines(nodes: Sequence[NodeWork], things: str) -> list[str]:
    """A line for each machine of a cluster; `things` are what it does: "flops"."""
    return [
        f"  {node.name}: {node.solved:,} {things} solved | {node.per_minute:.3g} {things}/min | "
        f"{data_size(node.memory_bytes)} | waiting {node.waiting:.0%}"
        for node in nodes
    ]


def _certify_figures(progress: CertifyProgress) -> list[str]:
    pace = progress.seconds_per_piece
    parts = [] if pace is None else [f"{pace:.1f} s a flop"]
    if progress.latest is None:
        return [*parts, data_size(progress.process_bytes)]
    eta, size = duration(progress.eta_seconds), data_size(progress.process_bytes)
    return [*parts, f"ETA {eta}", size, progress.latest]


def _spots_figures(progress: SpotsProgress) -> list[str]:
    parts, pace, row = [], progress.seconds_per_piece, progress.latest
    if pace is not None and row is not None:
        parts.append(f"{figure(pace)} s a spot" if pace >= 1 else f"{figure(1 / pace)} spots/s")
        parts.append(f"ETA {duration(progress.eta_seconds)}")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if row is not None:
        parts.append(f"{row.name} {row.board}".strip())
        if row.exploitability_pct is not None:
            parts.append(f"exploitability {figure(row.exploitability_pct)} % of pot")
    return parts


def _flops_figures(progress: FlopsProgress) -> list[str]:
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


def _flops_in_work(progress: FlopsProgress) -> list[str]:
    """The group in work: "AsKh7d, 9s8s2h and 30 more: iteration 75 of 200 | exploitability …"."""
    if not progress.running:
        return []
    flops = list(dict.fromkeys(flop for flop, _ in progress.running))
    names = ", ".join(flops[:SHOWN_FLOPS])
    more = f" and {len(flops) - SHOWN_FLOPS} more" if len(flops) > SHOWN_FLOPS else ""
    if progress.nodes:
        return [f"{names}{more} in work"]
    return [f"{names}{more}: {standing(progress.group) if progress.group else 'setting up'}"]


CERTIFY_PROGRESS = CountProgress["CertifyProgress"](
    "flops", _certify_figures, below=lambda progress: node_lines(progress.nodes, "flops")
)
SPOTS_PROGRESS = CountProgress["SpotsProgress"](
    "spots", _spots_figures, below=lambda progress: node_lines(progress.nodes, "spots")
)
FLOPS_PROGRESS = CountProgress["FlopsProgress"](
    "flops",
    _flops_figures,
    in_work=_flops_in_work,
    below=lambda progress: node_lines(progress.nodes, "flops"),
    faults=lambda progress: [
        f"flop {fault.flop} failed: {fault.message}" for fault in progress.faults
    ],
)
show_certify_progress = CERTIFY_PROGRESS.shown
show_spots_progress = SPOTS_PROGRESS.shown
show_flop_progress = FLOPS_PROGRESS.shown
