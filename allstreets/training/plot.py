"""The convergence curve as a picture: exploitability against iterations, both axes logarithmic."""

from __future__ import annotations  # matplotlib is imported when something is drawn, not before

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from allstreets.base import InputError, write_atomic
from allstreets.training.records import Check

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = {".png": "png", ".svg": "svg"}
CURVE, TARGET, INK, FAINT = "#1f5fa8", "#c2410c", "#333333", "#d8d8d8"


def check_plot_path(path: Path) -> None:
    """Refuse a file that could not be written, before the run rather than after it."""
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
    from matplotlib import rc_context

    kind = FORMATS[path.suffix.lower()]
    # No date and no random names in the file: the same run gives the same bytes.
    metadata = {"Date": None} if kind == "svg" else {}
    try:
        with rc_context({"svg.hashsalt": "allstreets"}):
            figure = _draw(points, unit, title, target)
            write_atomic(path, lambda file: figure.savefig(file, format=kind, metadata=metadata))
    except OSError as error:
        raise InputError(f"cannot write the plot {path}: {error.strerror}") from error


def _draw(
    points: Sequence[tuple[int, float]], unit: str, title: str, target: float | None
) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatterMathtext

    class PlainNumbers(LogFormatterMathtext):
        """Labels the same ticks, but with 1,000 and 0.001 where others have powers of ten."""

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
