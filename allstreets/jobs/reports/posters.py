"""Posters: every decision of a solution before the flop as a picture, and all of them as one PDF.

DIR/01-sb-first.png
    02-bb-after-r2.png
    …
    charts.pdf                          a page for each
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from allstreets.base import InputError, write_atomic
from allstreets.betting import Street, line_in_words
from allstreets.jobs.reports.pictures import draw_chart, plot_chart
from allstreets.solutions import Chart, Node, Solution, node_chart

PDF = "charts.pdf"
UNSET = "-._"  # stand in the names of files, beside letters and digits


def decisions_below(node: Node) -> Iterator[Node]:
    """A decision before the flop and all that follow it there, street by street of replies."""
    level = [node]
    while level:
        yield from (each for each in level if each.kind == "decision")
        level = [
            child
            for each in level
            if each.kind == "decision"
            for child in each.children
            if child.street == Street.PREFLOP
        ]


class Posters:
    """The charts of all decisions of a solution from a line on, before the flop.

    Those that are hardly ever reached are left out, unless `everything` is wanted.
    """

    def __init__(self, solution: Solution, line: str = "", *, everything: bool = False) -> None:
        start = solution.at(line)
        if start.unit.name != "bb" or start.street != Street.PREFLOP:
            raise InputError(
                "posters show the betting before the flop: name a preflop or whole game, and a "
                "line of it; allstreets report --chart draws any decision"
            )
        if start.kind != "decision":
            raise InputError(f"line '{line}': nothing is decided there")
        nodes = list(decisions_below(start))
        self.nodes = [
            node for node in nodes if everything or node is start or not node.decision.is_rare
        ]
        self.left_out = len(nodes) - len(self.nodes)
        self.name = f"{solution.name}: " if solution.name else ""

    def charts(self) -> Iterator[tuple[str, Chart]]:
        """Each chart with the name of its file."""
        for number, node in enumerate(self.nodes, start=1):
            decision = node.decision
            chart = node_chart(node.solution, decision)
            after = f"after {line_in_words(node.line)}" if node.line else "first to act"
            rare = " (hardly ever reached)" if decision.is_rare else ""
            title = f"{self.name}{decision.seat} {after}{rare}"
            letters = f"after-{node.line}" if node.line else "first"
            plain = "".join(
                letter if letter.isalnum() or letter in UNSET else "-" for letter in letters
            )
            yield f"{number:02}-{decision.seat.lower()}-{plain}", replace(chart, title=title)

    def write(self, folder: Path) -> Iterator[Path]:
        """Write pictures and the PDF of all; each file is given as soon as it is there."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write to {folder}: {error.strerror}") from None
        charts = []
        for name, chart in self.charts():
            charts.append(chart)
            plot_chart(folder / f"{name}.png", chart)
            yield folder / f"{name}.png"
        write_pdf(folder / PDF, charts)
        yield folder / PDF


def write_pdf(path: Path, charts: list[Chart]) -> None:
    """Write charts as the pages of a PDF; the same charts give the same bytes."""
    from matplotlib.backends.backend_pdf import PdfPages

    def write(out: BinaryIO) -> None:
        with PdfPages(out, metadata={"CreationDate": None}) as pages:
            for chart in charts:
                pages.savefig(draw_chart(chart))

    try:
        write_atomic(path, write)
    except OSError as error:
        raise InputError(f"cannot write the charts {path}: {error.strerror}") from error
