"""Ranges as the editor of the page sees them: text and grid, one following the other."""

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.cards import COMBO_COUNT, HAND_COUNT, HAND_OF_COMBO, Range, parse_hand
from allstreets.explorer.errors import FormError
from allstreets.explorer.models.base import Problem
from allstreets.explorer.models.solves import RangeForm, RangeGrid


def range_grid(form: RangeForm) -> RangeGrid:
    """A range text as a grid, with changes made to it.

    A text that cannot be read is no refusal, since it may be half written: it comes back as it is,
    with the problem. No text at all is the empty range.
    """
    changes = _read_changes(form)
    try:
        weights = _weights(form.text)
    except InputError as error:
        problem = Problem(message=str(error), field="text")
        return _grid(Range(np.zeros(COMBO_COUNT)), form.text, problem)
    for hand, weight in changes.items():
        weights[hand == HAND_OF_COMBO] = weight
    changed = Range(weights)
    return _grid(changed, str(changed))


def _read_changes(form: RangeForm) -> dict[int, float]:
    changes: dict[int, float] = {}
    problems: list[Problem] = []
    for name, weight in form.changes.items():
        try:
            changes[parse_hand(name)] = weight
        except InputError as error:
            problems.append(Problem(message=str(error), field="changes"))
    if problems:
        raise FormError(problems)
    return changes


def _weights(text: str) -> Floats:
    """[1326], to be written to."""
    if not text.strip(" \t\r\n,"):
        return np.zeros(COMBO_COUNT)
    return Range.parse(text).weights.copy()


def _grid(given: Range, text: str, problem: Problem | None = None) -> RangeGrid:
    weights = given.weights
    lowest, highest = np.ones(HAND_COUNT), np.zeros(HAND_COUNT)
    np.minimum.at(lowest, HAND_OF_COMBO, weights)
    np.maximum.at(highest, HAND_OF_COMBO, weights)
    return RangeGrid(
        text=text,
        weights=given.hand_weights.tolist(),
        mixed=np.flatnonzero(lowest < highest).tolist(),
        combos=given.combos,
        percent=100 * given.fraction,
        problem=problem,
    )
