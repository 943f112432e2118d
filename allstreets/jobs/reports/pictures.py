"""Pictures: the convergence curve of a run, a decision as 13×13 cells, and posters.

In a chart each cell is split by the frequencies of the hand's actions. Fold is blue, check and call
green, raises go from orange to red by size, all-in is dark: colours that colour-blind people can
tell apart. A cell is filled up to the share of the hand that gets to the decision.

Posters are every decision of a solution before the flop as a picture, and all of them as one PDF:

    DIR/01-sb-first.png
        02-bb-after-r2.png
        …
        charts.pdf                      a page for each
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from allstreets.base import InputError, write_atomic
from allstreets.betting import Street, line_in_words
from allstreets.cards import HAND_NAMES, grid_cell
from allstreets.jobs.job import Check
from allstreets.solutions import LEAST_SHOWN, Chart, Node, Solution, node_chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = {".png": "png", ".svg": "svg"}
CURVE, TARGET, INK, FAINT = "#1f5fa8", "#c2410c", "#333333", "#d8d8d8"


def check_plot_path(path: Path) -> None:
    """Refuse a file that cannot be written, before the run rather than after it."""
    if path.suffix.lower() not in FORMATS:
        what = f"ends in '{path.suffix}'" if path.suffix else "has no ending"
        raise InputError(f"the plot file {path} {what}; name a .png or .svg file")
    if path.is_dir():
        raise InputError(f"the plot file {path} is a folder; name a .png or .svg file")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} for the plot does not exist; create it first")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"the folder {path.parent} for the plot cannot be written to")


def plot_convergence(
    path: Path,
    history: Sequence[Check],
    *,
    unit: str,
    title: str = "Convergence",
    target: float | None = None,
) -> None:
    """Write the curve of `history` to a PNG or SVG file.

    Checks without exploitability are left out, as are those at exactly 0, which has no place on a
    logarithmic axis.
    """
    check_plot_path(path)
    known = [(check.iteration, check.metrics.exploitability) for check in history]
    points = [(x, y) for x, y in known if y is not None and y > 0]
    if not points:
        raise InputError(
            f"there is no exploitability to draw in {path}: none of the {len(known)} checks has one"
        )
    _write(path, "plot", lambda: _draw(points, unit, title, target))


def _write(path: Path, what: str, draw: Callable[[], Figure]) -> None:
    """Write a picture without a date or random names: the same picture gives the same bytes."""
    from matplotlib import rc_context

    kind = FORMATS[path.suffix.lower()]
    metadata = {"Date": None} if kind == "svg" else {}
    try:
        with rc_context({"svg.hashsalt": "allstreets"}):
            figure = draw()
            write_atomic(path, lambda file: figure.savefig(file, format=kind, metadata=metadata))
    except OSError as error:
        raise InputError(f"cannot write the {what} {path}: {error.strerror}") from error


def _draw(
    points: Sequence[tuple[int, float]], unit: str, title: str, target: float | None
) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatterMathtext

    class PlainNumbers(LogFormatterMathtext):
        """Labels the same ticks, with 1,000 and 0.001 instead of powers of ten."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            if not super().__call__(x, pos):
                return ""
            return f"{x:,.0f}" if x >= 1 else f"{x:g}"

    figure = Figure(figsize=(8, 5), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    x, y = zip(*points, strict=True)
    few = len(points) <= 60
    axes.plot(x, y, color=CURVE, linewidth=1.8 if few else 1.2, marker="o" if few else "", ms=3.5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PlainNumbers())
        axis.set_minor_formatter(PlainNumbers(minor_thresholds=(2, 0.4)))
    axes.annotate(
        f"{y[-1]:.3g}",
        (x[-1], y[-1]),
        xytext=(6, 0),
        textcoords="offset points",
        color=CURVE,
        va="center",
    )
    if target is not None:
        axes.axhline(target, color=TARGET, linewidth=1.2, linestyle="--")
        axes.annotate(
            f"target {target:g}",
            (0.01, target),
            xycoords=("axes fraction", "data"),
            xytext=(0, 4),
            textcoords="offset points",
            color=TARGET,
        )
    # Names are text: a dollar sign in one does not begin a formula.
    axes.set_title(title, loc="left", color=INK, fontweight="bold", parse_math=False)
    axes.set_xlabel("iterations", color=INK)
    axes.set_ylabel(f"exploitability ({unit})", color=INK, parse_math=False)
    axes.grid(visible=True, which="major", color=FAINT, linewidth=0.8)
    axes.grid(visible=True, which="minor", color=FAINT, linewidth=0.3)
    axes.tick_params(which="both", colors=INK)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


FOLD, PASSIVE, ALL_IN = "#5590d0", "#66c6a0", "#5a1020"
RAISES = ((242, 179, 64), (207, 74, 28))  # from the smallest to the largest
EMPTY, PALE, LETTERS, LIGHT = "#f0f0f0", "#9a9a9a", "#161616", "#ffffff"
DARK = 0.2  # luminance below which letters are white


def chart_colours(actions: Sequence[str]) -> tuple[str, ...]:
    """One colour per action, given as in a line: "f", "c", "r2.5", "b50%", "a"."""
    raises = [action for action in actions if action[0] in "br"]
    colours = {"f": FOLD, "x": PASSIVE, "c": PASSIVE, "a": ALL_IN}
    for place, action in enumerate(raises):
        share = place / (len(raises) - 1) if len(raises) > 1 else 1.0
        mixed = (round(low + (high - low) * share) for low, high in zip(*RAISES, strict=True))
        colours[action] = "#" + "".join(f"{part:02x}" for part in mixed)
    return tuple(colours[action] for action in actions)


def plot_chart(path: Path, chart: Chart) -> None:
    """Write a chart to a PNG or SVG file."""
    check_plot_path(path)
    _write(path, "chart", lambda: draw_chart(chart))


def draw_chart(chart: Chart) -> Figure:
    """A chart as a figure of matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 9.2), dpi=150)
    axes = figure.add_axes((0.03, 0.1, 0.94, 0.94 * 8 / 9.2))
    axes.set_xlim(0, 13)
    axes.set_ylim(13, 0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    colours = chart_colours(chart.actions)
    _draw_cells(axes, chart, colours)
    # Names are text: a dollar sign in one does not begin a formula.
    figure.text(
        0.03, 0.965, chart.title, color=INK, fontweight="bold", fontsize=14, parse_math=False
    )
    figure.text(0.03, 0.938, chart.subtitle, color=INK, fontsize=10, parse_math=False)
    _draw_legend(figure, chart, colours)
    return figure


def _draw_cells(axes: Axes, chart: Chart, colours: Sequence[str]) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    patches, fills = [], []
    for hand, name in enumerate(HAND_NAMES):
        row, column = grid_cell(hand)
        patches.append(Rectangle((column, row), 1, 1))
        fills.append(EMPTY)
        height, mix = float(chart.reach[hand]), chart.strategy[:, hand].tolist()
        drawn = height >= LEAST_SHOWN and mix[0] == mix[0]
        left = float(column)
        for share, colour in zip(mix, colours, strict=True):
            if drawn and share > 0:
                patches.append(Rectangle((left, row + 1 - height), share, height))
                fills.append(colour)
                left += share
        _write_name(axes, name, (column, row), _behind(mix, colours) if drawn else None, height)
    axes.add_collection(PatchCollection(patches, facecolors=fills, edgecolors="none", linewidths=0))
    for line in range(14):
        axes.axhline(line, color=LIGHT, linewidth=1.2)
        axes.axvline(line, color=LIGHT, linewidth=1.2)


def _behind(mix: Sequence[float], colours: Sequence[str]) -> set[str]:
    """The colours behind the letters, in the middle half of a cell."""
    behind, end = set(), 0.0
    for share, colour in zip(mix, colours, strict=True):
        start, end = end, end + share
        if share > 0 and end > 0.25 and start < 0.75:
            behind.add(colour)
    return behind


def _write_name(
    axes: Axes, name: str, cell: tuple[int, int], behind: set[str] | None, height: float
) -> None:
    from matplotlib.patheffects import withStroke

    dark = {_luminance(colour) < DARK for colour in behind or ()}
    colour = PALE if behind is None else LETTERS
    if dark == {True} and height > 0.6:
        colour = LIGHT
    # Where dark and light meet, dark letters get a light edge.
    effects = (
        [withStroke(linewidth=2, foreground=LIGHT)] if True in dark and colour == LETTERS else []
    )
    axes.text(
        cell[0] + 0.5,
        cell[1] + 0.5,
        name,
        ha="center",
        va="center",
        fontsize=9,
        color=colour,
        path_effects=effects,
    )


def _luminance(colour: str) -> float:
    """The lightness of a colour, 0 to 1."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [((part + 0.055) / 1.055) ** 2.4 if part > 0.04045 else part / 12.92 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _draw_legend(figure: Figure, chart: Chart, colours: Sequence[str]) -> None:
    """The actions with their frequencies, a few in a row."""
    from matplotlib.patches import Patch

    shares = chart.frequencies.tolist()
    names = [
        f"{label}  {100 * share:.1f} %" if share == share else label
        for label, share in zip(chart.labels, shares, strict=True)
    ]
    figure.legend(
        handles=[
            Patch(facecolor=colour, label=name) for name, colour in zip(names, colours, strict=True)
        ],
        loc="lower left",
        bbox_to_anchor=(0.022, 0.01),
        ncols=min(len(names), 4),
        frameon=False,
        fontsize=10,
        labelcolor=INK,
        handlelength=1.2,
        handleheight=1.2,
        columnspacing=1.4,
    )


PDF = "charts.pdf"
UNSET = "-._"  # allowed in the names of files, beside letters and digits


def decisions_below(node: Node) -> Iterator[Node]:
    """A decision before the flop and all that follow it, level by level of replies."""
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

    Decisions that are hardly ever reached are left out, unless `everything` is requested.
    """

    def __init__(self, solution: Solution, line: str = "", *, everything: bool = False) -> None:
        start = solution.at(line)
        if start.unit.name != "bb" or start.street != Street.PREFLOP:
            raise InputError(
                "posters show the betting before the flop: name a preflop or whole game, and a "
                "line of it; allstreets report --chart draws any decision"
            )
        if start.kind != "decision":
            raise InputError(f"line '{line}': no player decides there")
        nodes = list(decisions_below(start))
        self.nodes = [
            node for node in nodes if everything or node is start or not node.decision.is_rare
        ]
        self.left_out = len(nodes) - len(self.nodes)
        self.name = f"{solution.name}: " if solution.name else ""

    def charts(self) -> Iterator[tuple[str, Chart]]:
        """The charts with the names of their files."""
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
        """Write pictures and the PDF of all; yield each file as soon as it is written."""
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
