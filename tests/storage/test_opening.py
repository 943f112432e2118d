"""One function opens every kind of folder."""

import json
from pathlib import Path

import pytest
from builders.small_spots import RIVER, spot
from builders.whole_solution import raked

import allstreets
from allstreets.base import InputError
from allstreets.solutions import SpotSolution
from allstreets.solutions.whole_game import WholeSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import save_spot, save_unified


def test_every_kind(tmp_path: Path) -> None:
    solver = SpotSolver(spot(RIVER))
    solver.train_batch(2)
    save_spot(solver, tmp_path / "spot")
    assert isinstance(allstreets.load(tmp_path / "spot"), SpotSolution)
    save_unified(raked(), tmp_path / "game", config={})
    assert isinstance(allstreets.load(str(tmp_path / "game")), WholeSolution)
    assert allstreets.load(tmp_path / "game", WholeSolution).is_game
    with pytest.raises(InputError, match="game contains a whole game, not a spot"):
        allstreets.load(tmp_path / "game", SpotSolution)


def test_a_spot_saves_itself(tmp_path: Path) -> None:
    result = allstreets.solve(spot(RIVER), max_iterations=10, threads=1)
    result.save(tmp_path / "spot", name="river")
    loaded = allstreets.load(tmp_path / "spot", SpotSolution)
    assert loaded.exploitability == result.exploitability
    assert loaded.at("x").decision.taken == pytest.approx(result.at("x").decision.taken)
    with pytest.raises(InputError, match="only what was solved in this program can be saved"):
        loaded.save(tmp_path / "again")


def test_not_a_solution(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no solution"):
        allstreets.load(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"kind": "tournament"}))
    with pytest.raises(InputError, match="does not know \\('tournament'\\)"):
        allstreets.load(tmp_path)
