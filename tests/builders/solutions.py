"""Small solutions of every kind, solved once for all processes and opened once in each."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from builders.host_device import HostDevice, compiler
from builders.small_flops import BUCKETED, run_small
from builders.small_spots import FLOP, RIVER, TURN, spot
from builders.whole_solution import (
    buckets,
    combos,
    forgotten,
    raked,
    result,
    save_classes,
    solver_of,
    trips,
    whole_game,
)
from harness.made_once import copied

from allstreets.analysis import Simplification, simplify_spot
from allstreets.cfr import parse_schedule
from allstreets.engines import CardModel
from allstreets.games import Lock
from allstreets.solutions import (
    Origin,
    PreflopRoots,
    Solution,
    SpotSolution,
    WholeSolution,
    flop_spot,
)
from allstreets.solvers import SpotSolver, WholeGameSolver
from allstreets.storage import load, new_kept, save_preflop, save_spot, save_unified

SPOTS: dict[str, dict[str, Any]] = {
    "river": RIVER,
    "turn": TURN,
    "flop": FLOP,
    "raked": {**TURN, "rake": 0.05},
    "locked": {**RIVER, "lock": [{"line": "", "strategy": {"x": 1}}]},
}
GAMES: dict[str, Callable[[], WholeGameSolver]] = {
    "buckets": buckets,
    "exact": combos,
    "raked game": raked,
    "forgotten": forgotten,
}
EXACT_FLOP = "7s7h7d"
"""The flop of `trips` that is solved exactly beside it."""


@cache
def _root() -> Path:
    root = Path(tempfile.mkdtemp(prefix="allstreets-solutions-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


@cache
def spot_solver(name: str) -> SpotSolver:
    """The solver of a spot, after a few iterations."""
    solver = SpotSolver(spot(SPOTS[name]), threads=1)
    solver.train_batch(60)
    return solver


@cache
def boards() -> WholeGameSolver:
    """A flop with real boards; buckets are few."""
    model = CardModel("boards", groups=16, rows=16)
    return solver_of(whole_game(["7s7h7d"], 5, "100%", ()), 8, model)


def _on_a_gpu(path: Path) -> None:
    """A game with real boards by the kernels of GPUs, which are compiled for this processor."""
    if compiler() is None:
        pytest.skip("no C++ compiler on this machine")
    game, model = whole_game(["7s7h7d"], 3, "100%", ()), CardModel("boards", groups=16, rows=32)
    with patch("allstreets.engines.spec.open_device", lambda _: HostDevice()):
        engine = game.build(game.engine(model, device="cuda"))
    solver = WholeGameSolver(game, engine, parse_schedule("tuned"))
    assert solver.device_use is not None
    solver.train_batch(6)
    save_unified(solver, path, config={})


@cache
def push_fold() -> WholeGameSolver:
    """Ten big blinds, all-in or fold: no pot sees a flop."""
    game = whole_game(["Ks7h2d"], 10, "50%", ())
    rules = replace(game.preflop, limp=False)
    return solver_of(replace(game, preflop=rules), 60)


@cache
def locked_game() -> WholeGameSolver:
    """A whole game whose small blind always limps with aces."""
    game = whole_game(["Ks7h2d"], 6, "50%", ())
    return solver_of(replace(game, lock=(Lock("", hands={"AA": {"c": 1.0}}),)), 20)


def _simple(path: Path) -> None:
    solver = SpotSolver(spot(RIVER), threads=1)
    solver.train_batch(60)
    simple = simplify_spot(solver, Simplification(grid=0.25))
    assert isinstance(simple.solution, SpotSolution)
    assert simple.solution.solver is not None
    save_spot(simple.solution.solver, path)


def _with_exact_flop(path: Path) -> None:
    save_unified(trips(), path, config={})
    game = load(path)
    assert isinstance(game, WholeSolution)
    found = flop_spot(game, "c x", EXACT_FLOP)
    solver = SpotSolver(found.spot, threads=1)
    solver.train_batch(200)
    origin = Origin.of(game, found, SpotSolution.of(solver)).mapping()
    save_spot(solver, new_kept(path, found), origin=origin)


MAKERS: dict[str, Callable[[Path], Any]] = {
    **{name: lambda path, name=name: save_spot(spot_solver(name), path) for name in SPOTS},  # type: ignore[misc]
    "trimmed": lambda path: save_spot(spot_solver("flop"), path, "flop"),
    "simple": _simple,
    "classes": save_classes,
    **{
        name: lambda path, make=make: save_unified(make(), path, config={})  # type: ignore[misc]
        for name, make in GAMES.items()
    },
    "boards": lambda path: save_unified(boards(), path, config={}),
    "push or fold": lambda path: save_unified(push_fold(), path, config={}),
    "locked game": lambda path: save_unified(locked_game(), path, config={}),
    "exact flop": _with_exact_flop,
    "preflop": lambda path: save_preflop(
        WholeSolution(PreflopRoots(result().rules, result().before), None, result().facts),
        path,
        identity={},
    ),
    "models": lambda path: run_small(path, postflop_sprs=[1, 2]),
    "bucket models": lambda path: run_small(path, **{**BUCKETED, "flops": ["Ks7d2c"]}),
    "boards of a GPU": _on_a_gpu,
}
KINDS = tuple(MAKERS)


@cache
def folder(name: str) -> Path:
    """A solution on disk; tests may not change it."""
    return copied(f"solution {name}", MAKERS[name], _root() / name.replace(" ", "-"))


@cache
def solution(name: str) -> Solution:
    """A solution, opened from its folder."""
    loaded = load(folder(name))
    assert isinstance(loaded, Solution)
    return loaded
