"""Reviews that are begun from the page: what is asked for, checked before it begins."""

from pathlib import Path

from allstreets.base import InputError
from allstreets.explorer.errors import BusyError, FormError
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import Problem
from allstreets.explorer.models.reviews import ReviewForm, ReviewSource
from allstreets.explorer.solves.reading import HandCount, count_hands
from allstreets.storage import folder_kind

HANDS = "hands"  # the unit of its progress


def read_review(form: ReviewForm, library: Library) -> ReviewSource:
    """What a form asks for; a `FormError` where that cannot be reviewed."""
    problems = []
    folders = [library.folder(one) for one in form.solutions]
    for folder in folders:
        if folder_kind(folder) != "unified":
            problems.append(
                Problem(message=f"{folder.name} is no whole game: choose one", field="solutions")
            )
    try:
        found = count_hands(form.text)
        if not found.hands:
            raise InputError(_nothing(found))
    except BusyError:
        raise
    except InputError as error:
        problems.append(Problem(message=str(error), field="text"))
    if problems:
        raise FormError(problems)
    return ReviewSource(
        name=" ".join(form.name.split()) or f"{found.hands:,} hands",
        hero=form.hero.strip(),
        seconds_per_spot=form.seconds_per_spot,
        target_pct=form.target_pct,
        folders=[str(folder) for folder in folders],
    )


def _nothing(found: HandCount) -> str:
    reasons = "; ".join(f"{count:,} × {reason}" for reason, count in found.reasons)
    return f"no hand of this text can be reviewed: {reasons}"


def review_outline(source: ReviewSource) -> tuple[str, str]:
    """Name and title of a review."""
    names = ", ".join(Path(folder).name for folder in source.folders)
    return source.name, f"{source.hero or 'who wrote them down'}, graded by {names}"
