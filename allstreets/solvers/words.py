"""Solutions in a few plain lines: what `print` shows of a decision, of any kind."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from allstreets.solvers.reached import LEAST_SHARE

DASH = "–"
SELDOM = 5e-4  # what is taken less often is told with more digits
TAKERS, RANGE = "EV of takers", "EV of range"
EV_LEGEND = (
    f"{TAKERS}: mean of the hands that take it, if {100 * LEAST_SHARE:g} % of the range do.\n"
    f"{RANGE}: what the whole range would get by it."
)

Floats = NDArray[np.float64]


def percent_text(share: float, digits: int = 1) -> str:
    """A share in per cent, "33.3 %"; a dash where there is none."""
    return DASH if math.isnan(share) else f"{round(100 * share, digits) + 0.0:.{digits}f} %"


def number_text(value: float, sign: str = "") -> str:
    """A number with two digits; a dash where there is none, no minus before a zero."""
    return DASH if math.isnan(value) else f"{round(value, 2) + 0.0:{sign},.2f}"


def mix_lines(
    labels: Sequence[str],
    frequencies: Floats,
    evs: tuple[Floats, Floats] | None,
    notes: Sequence[str],
    number: Callable[[float], str] = number_text,
) -> list[str]:
    """A head and a line an action: how often it is taken, `evs` [A] of takers and range, notes."""
    width = max(map(len, labels))
    heads = (TAKERS, RANGE) if evs is not None else ()
    lines = [f"{'':{width}}{'taken':>10}" + "".join(f"{head:>14}" for head in heads)]
    for place, label in enumerate(labels):
        taken = float(frequencies[place])
        line = f"{label:{width}}{percent_text(taken, 3 if 0 < taken < SELDOM else 1):>10}"
        for column in evs or ():
            line += f"{number(float(column[place])):>14}"
        lines.append(f"{line}   {notes[place]}".rstrip())
    return lines
