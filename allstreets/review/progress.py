"""What is said of a review while it goes on."""

from __future__ import annotations  # the type is of a file that imports this one

from typing import TYPE_CHECKING

from allstreets.training import CountProgress, duration

if TYPE_CHECKING:
    from allstreets.review.run import ReviewProgress

LINE_SECONDS = 10.0


def _figures(progress: ReviewProgress) -> list[str]:
    reviewed = progress.done - progress.before
    parts = [f"{progress.before:,} kept from before"] if progress.before else []
    if reviewed and progress.seconds > 0:
        parts.append(f"{60 * reviewed / progress.seconds:.3g} hands a minute")
        if progress.done < progress.total:
            parts.append(f"ETA {duration(progress.eta_seconds)}")
    parts.append(f"{progress.loss_bb:.2f} bb lost")
    if progress.hand is not None and progress.done < progress.total:
        parts.append(progress.hand)
    return parts


REVIEW_PROGRESS = CountProgress("hands", _figures, LINE_SECONDS)
show_review_progress, review_line = REVIEW_PROGRESS.shown, REVIEW_PROGRESS.line
