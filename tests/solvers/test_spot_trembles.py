"""Spots with trembles: answers to off-path play, and everything else unchanged."""

from pathlib import Path

import numpy as np
import pytest
from builders.small_spots import RIVER, TURN, spot
from reference.local_gains import LocalGains, local_gains

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.jobs import Here, solve_many
from allstreets.solvers import SpotSolver
from allstreets.storage import require_resumable, save_spot, spot_identity
from allstreets.storage.spot_bundle import open_spot_solver

# Every suit has its own part in the ranges: no runouts are folded together.
PLAIN_TURN = {**TURN, "oop_range": "99+,AQs+,KTs+,QhJh,8h7h", "ip_range": "88+,AJs+,KQ,QdTd,TcTd"}


def solved(keys: dict[str, object], tremble: float, iterations: int) -> SpotSolver:
    solver = SpotSolver(spot(keys), threads=1, tremble=tremble)
    solver.train_batch(iterations)
    return solver


@pytest.mark.parametrize("keys", [RIVER, PLAIN_TURN])
def test_local_gains_at_the_root_are_those_of_best_responses(keys: dict[str, object]) -> None:
    solver = solved(keys, 0.0, 20)
    for player in Player:
        other = solver.reach[player.opponent]
        played, best = LocalGains(solver, player, mistakes=0.0).root
        for slow, fast in (
            (played, solver.subgame.evaluate(player, other)),
            (best, solver.subgame.best_response(player, other)),
        ):
            np.testing.assert_allclose(fast, slow, atol=1e-5 * solver.spot.pot * other.sum())


@pytest.mark.parametrize(("keys", "iterations"), [(RIVER, 300), (PLAIN_TURN, 100)])
def test_answers_to_what_nobody_does_are_learned(keys: dict[str, object], iterations: int) -> None:
    without, trembling = (solved(keys, tremble, iterations) for tremble in (0.0, 0.001))
    off_path, _, count = local_gains(without)
    trained, _, _ = local_gains(trembling)
    assert count > 3
    assert off_path > 1.0  # % of pot
    assert trained < off_path / 2
    # What is played costs little: both are judged without trembles.
    assert trembling.exploitability() < 0.004 * trembling.spot.pot


def test_no_tremble_changes_nothing() -> None:
    default = SpotSolver(spot(TURN), threads=1)
    default.train_batch(5)
    for name, array in solved(TURN, 0.0, 5).state().items():
        np.testing.assert_array_equal(array, default.state()[name])
    assert "tremble" not in default.identity
    assert "tremble" not in spot_identity(default.spot)


def test_a_bundle_knows_its_tremble(tmp_path: Path) -> None:
    solver = solved(RIVER, 0.002, 20)
    save_spot(solver, tmp_path / "solved")
    again = open_spot_solver(tmp_path / "solved", threads=1)
    assert again.tremble == 0.002
    for one in (solver, again):
        one.train_batch(20)
    for name, array in solver.state().items():
        np.testing.assert_array_equal(array, again.state()[name])
    with pytest.raises(InputError, match="tremble"):
        require_resumable(tmp_path / "solved", spot_identity(solver.spot))


def test_a_job_trembles(tmp_path: Path) -> None:
    solve_many(
        [{**RIVER, "tremble": 0.01}],
        0.0,
        max_iterations=10,
        threads=1,
        executor=Here(),
        output=tmp_path / "many",
    )
    (folder,) = (path.parent for path in tmp_path.glob("many/*/manifest.json"))
    solver, expected = open_spot_solver(folder, threads=1), solved(RIVER, 0.01, 10)
    for name, array in expected.state().items():
        np.testing.assert_array_equal(array, solver.state()[name])


def test_too_much_is_refused() -> None:
    with pytest.raises(InputError, match=r"tremble: 0\.5 .*up to"):
        SpotSolver(spot(RIVER), tremble=0.5)
    with pytest.raises(InputError, match="tremble"):
        SpotSolver(spot(RIVER), tremble=-0.001)
