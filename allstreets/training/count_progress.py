"""Drawing the progress of a job of many pieces: a bar on a terminal, lines of a log elsewhere."""

from __future__ import annotations  # rich is imported when something is drawn, not before

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TextIO, TypeVar

from allstreets import base  # whose consoles need rich
from allstreets.solutions import row_weight
from allstreets.training.progress import LIVE_SECONDS, can_redraw, standing
from allstreets.training.wording import data_size, duration, figure

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from allstreets.jobs import NodeWork
    from allstreets.training.certify_run import CertifyProgress
    from allstreets.training.flops_groups import FlopsProgress
    from allstreets.training.many_spots import SpotsProgress

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
