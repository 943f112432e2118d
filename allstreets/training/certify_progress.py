"""What is said of a certification while it goes on."""

from __future__ import annotations  # the type is of a file that imports this one

from typing import TYPE_CHECKING

from allstreets.training.cluster_nodes import node_lines
from allstreets.training.count_progress import CountProgress
from allstreets.training.flop_progress import LINE_SECONDS
from allstreets.training.wording import data_size, duration

if TYPE_CHECKING:
    from allstreets.training.certify_run import CertifyProgress


def _figures(progress: CertifyProgress) -> list[str]:
    judged = progress.done - progress.before
    parts = [f"{progress.seconds / judged:.1f} s a flop"] if judged else []
    if progress.flop is not None:
        parts += [f"ETA {duration(progress.eta_seconds)}"]
    parts.append(data_size(progress.process_bytes))
    if progress.flop is not None:
        parts.append(progress.flop)
    return parts


def _machines(progress: CertifyProgress) -> list[str]:
    return node_lines(progress.nodes, "flops")


CERTIFY_PROGRESS = CountProgress("flops", _figures, LINE_SECONDS, _machines)
show_certify_progress, certify_line = CERTIFY_PROGRESS.shown, CERTIFY_PROGRESS.line
