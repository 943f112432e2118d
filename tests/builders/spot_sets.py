"""Sets of spots without solving each: one solution on every board, with figures of a test."""

from collections.abc import Mapping
from pathlib import Path

from builders.explorer_solutions import solver

from allstreets.storage import Entry, SpotSetBundle, save_spot


def put_set(root: Path, spots: Mapping[str, Mapping[str, float]], unfinished: str = "") -> Path:
    """A set: name of a spot → board → its exploitability in % of the pot.

    A board that is `unfinished` is saved, and has no row yet.
    """
    bundle = SpotSetBundle(root, resume=False)
    boards = [(name, board) for name, figures in spots.items() for board in figures]
    entries = [Entry(name, board, 1.0, f"{name}-{board}", "") for name, board in boards]
    bundle.begin(entries)
    for one in entries:
        figure, name = spots[one.name][one.board], f"{one.name} {one.board}"
        save_spot(solver("turn"), root / one.folder, exploitability=figure / 100, name=name)
        if one.board != unfinished:
            bundle.save(one.folder, {"exploitability_pct": figure})
    return root
