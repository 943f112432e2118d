"""Small solutions of every kind in folders, solved once, for tests of the explorer."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from builders.small_spots import FLOP, RIVER, TURN, spot
from builders.solutions import MAKERS
from harness.made_once import copied

from allstreets.explorer.views.descriptions import Description
from allstreets.explorer.views.view import SolutionView, open_view
from allstreets.solutions import SpotSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import save_spot

SPOTS = {"river": RIVER, "turn": TURN, "flop": FLOP, "raked": {**TURN, "rake": 0.05}}
KINDS = (
    *("river", "turn", "flop", "raked", "all-in", "trimmed"),
    *("classes", "buckets", "exact", "raked game", "forgotten", "preflop"),
    *("models", "bucket models"),
)
"""What `folder` and `view` know."""


@cache
def _root() -> Path:
    root = Path(tempfile.mkdtemp(prefix="allstreets-explorer-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


@cache
def folder(name: str) -> Path:
    """A solution on disk; tests may not change it."""
    to = _root() / name.replace(" ", "-")
    if name in MADE_HERE:
        return copied(f"explored {name}", MADE_HERE[name], to)
    return copied(f"solution {name}", MAKERS[name], to)


@cache
def solver(name: str) -> SpotSolver:
    """The solver of a spot."""
    return _solved(SPOTS[name], 40)


def _solved(keys: dict[str, object], iterations: int) -> SpotSolver:
    found = SpotSolver(spot(keys))
    found.train_batch(iterations)
    return found


MADE_HERE: dict[str, Callable[[Path], Any]] = {
    **{
        name: lambda path, name=name: save_spot(  # type: ignore[misc]
            solver(name), path, metrics=[{"iteration": 40, "exploitability": 1.0}]
        )
        for name in SPOTS
    },
    "all-in": lambda path: save_spot(_solved({**TURN, "stack": 0}, 1), path),
    "trimmed": lambda path: save_spot(solver("flop"), path, "flop"),
}


@cache
def view(name: str) -> SolutionView:
    """A view of a solution."""
    return open_view(folder(name))


def view_of(solution: SpotSolution) -> SolutionView:
    """A view of a spot without a manifest."""

    def describe() -> Description:
        raise NotImplementedError

    return SolutionView(solution, describe)
