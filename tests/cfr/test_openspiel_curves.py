"""Vanilla CFR and CFR+ go through the same exploitabilities as OpenSpiel's C++ solvers.

What OpenSpiel gives is kept in tests/data/openspiel_curves.json; `python` on this file writes it
again. OpenSpiel's CFR+ weighs iteration t by t, so ours is asked for the same exponent here.
"""

import json
from pathlib import Path

import pytest

from allstreets.cfr import CfrSolver, compile_game, load_game, sequence_form

DATA = Path(__file__).parent.parent / "data" / "openspiel_curves.json"
GAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}
SOLVERS = {"vanilla": "CFRSolver", "cfr+(1)": "CFRPlusSolver"}
POINTS = (1, 10, 100)
CASES = [(game, schedule) for game in GAMES for schedule in SOLVERS]


def openspiel_curve(game: str, schedule: str, points: tuple[int, ...]) -> dict[str, float]:
    """Exploitability of OpenSpiel's average strategy after these iterations."""
    import pyspiel

    inside = pyspiel.load_game(GAMES[game])
    solver = getattr(pyspiel, SOLVERS[schedule])(inside)
    curve = {}
    for iteration in range(1, max(points) + 1):
        solver.evaluate_and_update_policy()
        if iteration in points:
            curve[str(iteration)] = pyspiel.exploitability(inside, solver.average_policy())
    return curve


@pytest.mark.parametrize(("game", "schedule"), CASES)
def test_same_curve(game: str, schedule: str) -> None:
    kept = json.loads(DATA.read_text())[game][schedule]
    solver = CfrSolver(sequence_form(compile_game(load_game(game))), schedule)
    for point in POINTS:
        solver.train_batch(point - solver.iterations)
        figure = solver.metrics().exploitability
        assert figure == pytest.approx(kept[str(point)], abs=1e-6)


@pytest.mark.parametrize(("game", "schedule"), CASES)
def test_what_is_kept_is_what_openspiel_gives(game: str, schedule: str) -> None:
    pytest.importorskip("pyspiel")
    kept = json.loads(DATA.read_text())[game][schedule]
    for point, figure in openspiel_curve(game, schedule, (1, 10)).items():
        assert kept[point] == pytest.approx(figure, abs=1e-9)


def test_squared_weights_are_not_openspiels() -> None:
    kept = json.loads(DATA.read_text())["leduc"]["cfr+(1)"]
    solver = CfrSolver(load_game("leduc"), "cfr+")
    solver.train_batch(100)
    figure = solver.metrics().exploitability
    assert figure is not None
    assert abs(figure - kept["100"]) > 1e-4


if __name__ == "__main__":
    curves = {
        game: {schedule: openspiel_curve(game, schedule, POINTS) for schedule in SOLVERS}
        for game in GAMES
    }
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text(json.dumps(curves, indent=2) + "\n")
