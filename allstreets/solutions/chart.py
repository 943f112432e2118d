"""A decision as a chart: the 13×13 hands with their mix of actions, as data to be drawn."""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, figure
from allstreets.solutions.decision import Decision
from allstreets.solutions.format import pot_text
from allstreets.solutions.walk import Solution


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart as data: title, actions, and the mix of every hand class."""

    title: str  # "SB, first to act"
    subtitle: str  # stack, exploitability
    actions: tuple[str, ...]  # [A]: as in a line
    labels: tuple[str, ...]  # [A]: in words
    frequencies: Floats  # [A]: over all combos that get here
    strategy: Floats  # [A, 169]; NaN: the hand does not fit beside the flop
    reach: Floats  # [169]: share of a hand that gets here; 1 where hardly any hand does


def node_chart(result: Solution, node: Decision) -> Chart:
    """The chart of a decision."""
    return Chart(
        title=node_title(node) + (" (hardly ever reached)" if node.is_rare else ""),
        subtitle=_subtitle(result, node),
        actions=node.actions,
        labels=node.labels,
        frequencies=node.taken,
        strategy=np.array([node.cells(row) for row in node.strategy]),
        reach=node.shown_reach,
    )


def node_title(node: Decision) -> str:
    """The player who acts, and the line: "BB after r2.5"."""
    return f"{node.seat} after {node.line}" if node.line else f"{node.seat}, first to act"


def _subtitle(result: Solution, node: Decision) -> str:
    figures, parts = result.figures, [pot_text(node)]
    if node.unit.name == "bb":
        parts.insert(0, f"{(node.pot + sum(node.stacks)) / 2:g} bb stacks")
    certificate = result.certificate
    if certificate is not None and not certificate.outdated:
        worth = figure(certificate.real_exploitability_mbb)
        return ", ".join([*parts, f"exploitability {worth} mbb/hand with real cards"])
    known = figures.exploitability
    quality = "not known" if known is None else f"{known:.3g} {figures.unit}"
    return ", ".join([*parts, f"exploitability {quality}"])
