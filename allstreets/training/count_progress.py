"""Drawing the progress of a job that does one thing after the other: a bar, or lines of a log."""

from __future__ import annotations  # rich is imported when something is drawn, not before

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TextIO, TypeVar

from allstreets import base  # whose consoles need rich
from allstreets.training.progress import can_redraw

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class Counted(Protocol):
    """How far a job is."""

    @property
    def done(self) -> int:
        """Things that are done."""

    @property
    def total(self) -> int:
        """Of so many."""


P = TypeVar("P", bound=Counted)


@dataclass(frozen=True)
class CountProgress(Generic[P]):
    """How a kind of job is drawn."""

    things: str  # that are counted: "flops"
    figures: Callable[[P], list[str]]  # what is said beside the count
    seconds: float  # between two lines where there is no terminal
    below: Callable[[P], list[str]] = field(default=lambda _: [])  # lines that follow

    @contextmanager
    def shown(self, stream: TextIO | None = None) -> Iterator[Callable[[P], None]]:
        """An observer that suits `stream` (by default stderr)."""
        stream = stream or sys.stderr
        console = base.PlainConsole(file=stream)
        if can_redraw(stream, console):
            with self._live(console) as observer:
                yield observer
        else:
            yield self.lines(stream)

    def lines(
        self, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> Callable[[P], None]:
        """One line at most every so many `seconds`, and the last."""
        due = clock() + self.seconds

        def draw(progress: P) -> None:
            nonlocal due
            if clock() >= due or progress.done == progress.total:
                print(
                    self.line(progress),
                    *self.below(progress),
                    sep="\n",
                    file=stream,
                    flush=True,
                )
                due = clock() + self.seconds

        return draw

    def line(self, progress: P) -> str:
        """The job in one line that can be searched for."""
        count = f"{self.things} {progress.done:,} of {progress.total:,}"
        return " | ".join([count, *self.figures(progress)])

    @contextmanager
    def _live(self, console: Console) -> Iterator[Callable[[P], None]]:
        """A bar that is drawn over itself; the last state stays."""
        from rich.live import Live

        with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:

            def draw(progress: P) -> None:
                live.update(self._picture(progress, console.width), refresh=True)

            yield draw

    def _picture(self, progress: P, width: int) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        count = f"{progress.done:,} / {progress.total:,} {self.things}"
        row = Table.grid(padding=(0, 1, 0, 0))
        bar = ProgressBar(
            max(progress.total, 1), progress.done, max(min(width, 80) - len(count) - 1, 1)
        )
        row.add_row(bar, Text(count, "bold"))
        lines = ["  ".join(self.figures(progress)), *self.below(progress)]
        return Group(row, *(Text(line, "dim", no_wrap=True, overflow="ellipsis") for line in lines))
