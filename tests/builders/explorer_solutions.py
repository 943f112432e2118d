"""Small solutions of every kind in folders, solved once a process, for tests of the explorer."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from builders.small_spots import FLOP, RIVER, TURN, spot
from builders.solutions import MAKERS

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
    path = _root() / name.replace(" ", "-")
    if name in SPOTS:
        save_spot(solver(name), path, metrics=[{"iteration": 40, "exploitability": 1.0}])
    elif name == "all-in":
        save_spot(_solved({**TURN, "stack": 0}, 1), path)
    elif name == "trimmed":
        save_spot(solver("flop"), path, "flop")
    else:
        MAKERS[name](path)
    return path


@cache
def solver(name: str) -> SpotSolver:
    """The solver of a spot."""
    return _solved(SPOTS[name], 40)


def _solved(keys: dict[str, object], iterations: int) -> SpotSolver:
    found = SpotSolver(spot(keys))
    found.train_batch(iterations)
    return found


@cache
def view(name: str) -> SolutionView:
    """A view of a solution."""
    return open_view(folder(name))


def view_of(solution: SpotSolution) -> SolutionView:
    """A view of a spot without a manifest, which nobody asks what it is."""

    def describe() -> Description:
        raise NotImplementedError

    return SolutionView(solution, describe)
