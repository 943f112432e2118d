"""Ranges of the page's editor, as text and grid, and those that a user keeps under names.

Kept ranges are one file beside his solves:

ranges.json    {"version": 1, "ranges": {"BB calls 2.5": "22+,A2s+:0.5"}}

The file is read at every request and replaced as a whole, so that servers may share it and a user
may repair it by hand. A file that cannot be read is refused and not changed.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from allstreets.base import (
    DamagedFileError,
    InputError,
    held,
    read_json_object,
    shortened,
    write_atomic,
)
from allstreets.cards import COMBO_COUNT, HAND_COUNT, HAND_OF_COMBO, Range, parse_hand
from allstreets.explorer.models.base import FormError, MissingError, Problem
from allstreets.explorer.models.params import RangeName
from allstreets.explorer.models.solves import KeptRange, KeptRangeForm, RangeForm, RangeGrid

NAME = "ranges.json"
VERSION = 1
MOST = 1000
REMOVE = "repair it, or move it away"


class KeptRanges:
    """The ranges in a folder."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME

    def list(self) -> list[KeptRange]:
        """The ranges that are kept, by name."""
        kept = self._read()
        return [_described(name, kept[name]) for name in sorted(kept, key=str.lower)]

    def keep(self, form: KeptRangeForm) -> KeptRange:
        """Keep a range under a name; an earlier one of that name is replaced."""
        name = " ".join(form.name.split())
        if not name:
            raise FormError([Problem(message="give the range a name", field="name")])
        try:
            text = str(Range.parse(form.text))
        except InputError as error:
            raise FormError([Problem(message=str(error), field="text")]) from None
        with self._turn():
            kept = self._read()
            if len(kept) >= MOST and name not in kept:
                raise InputError(f"{MOST:,} ranges are saved, the most possible: remove some")
            self._write({**kept, name: text})
        return _described(name, text)

    def remove(self, name: RangeName) -> None:
        """Forget a range that is kept."""
        with self._turn():
            kept = self._read()
            if kept.pop(name, None) is None:
                raise MissingError(f"no range is saved as {shortened(name)}")
            self._write(kept)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Hold the file between reading and writing it."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with held(self._file.with_name(f".{NAME}.lock")):
                yield
        except OSError as error:
            raise InputError(f"{self._file} cannot be written: {error.strerror}") from None

    def _read(self) -> dict[str, str]:
        try:
            stored = read_json_object(self._file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InputError(f"{self._file} cannot be read: {error.strerror}; {REMOVE}") from None
        except DamagedFileError as error:
            raise InputError(f"{self._file} is damaged ({error}): {REMOVE}") from None
        if isinstance(stored.get("version"), int):
            if stored["version"] > VERSION:
                raise InputError(f"{self._file} was written by a later version: use that one")
            ranges = stored.get("ranges")
            if isinstance(ranges, dict) and all(isinstance(text, str) for text in ranges.values()):
                return ranges
        raise InputError(f"{self._file} is damaged (it contains no ranges): {REMOVE}")

    def _write(self, ranges: dict[str, str]) -> None:
        text = json.dumps({"version": VERSION, "ranges": ranges}, indent=1, ensure_ascii=False)
        write_atomic(self._file, lambda file: file.write(text.encode()))


def _described(name: str, text: str) -> KeptRange:
    """A range for the page; a user's edit of the file may be wrong."""
    try:
        return KeptRange(name=name, text=text, combos=Range.parse(text).combos)
    except InputError:
        return KeptRange(name=name, text=text, combos=None)


def range_grid(form: RangeForm) -> RangeGrid:
    """A range of any kind as a grid, with changes made to it."""
    # A text that cannot be read is not refused, since it may be half written: it comes back
    # unchanged, with the problem. No text at all is the empty range.
    changes = _read_changes(form)
    try:
        empty = not form.text.strip(" \t\r\n,")
        weights = np.zeros(COMBO_COUNT) if empty else Range.parse(form.text).weights.copy()
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
