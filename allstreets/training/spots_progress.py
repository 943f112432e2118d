"""What is said of a run of many spots while it goes on."""

from __future__ import annotations  # the type is of a file that imports this one

from typing import TYPE_CHECKING

from allstreets.training.cluster_nodes import node_lines
from allstreets.training.count_progress import CountProgress
from allstreets.training.flop_progress import LINE_SECONDS
from allstreets.training.wording import duration, figure

if TYPE_CHECKING:
    from allstreets.training.many_spots import SpotsProgress


def _figures(progress: SpotsProgress) -> list[str]:
    parts, solved, row = [], progress.done - progress.before, progress.row
    if solved and row is not None:
        pace = progress.seconds / solved
        parts.append(f"{figure(pace)} s a spot" if pace >= 1 else f"{figure(1 / pace)} spots/s")
        parts.append(f"ETA {duration(progress.eta_seconds)}")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if row is not None:
        parts.append(f"{row.name} {row.board}".strip())
        if row.exploitability_pct is not None:
            parts.append(f"exploitability {figure(row.exploitability_pct)} % of pot")
    return parts


def _machines(progress: SpotsProgress) -> list[str]:
    return node_lines(progress.nodes, "spots")


SPOTS_PROGRESS = CountProgress("spots", _figures, LINE_SECONDS, _machines)
show_spots_progress, spots_line = SPOTS_PROGRESS.shown, SPOTS_PROGRESS.line
