"""The output of `print`: short, the important things first."""

from pathlib import Path

import numpy as np
import pytest
from builders.small_flops import FLOPS, run_small
from builders.small_spots import RIVER, spot
from builders.whole_solution import FLOP, classes, result

from allstreets.solutions import PreflopRoots, PreflopStrategies, SpotSolution, WholeSolution, solve
from allstreets.solutions.format import mix_lines, number_text, percent_text
from allstreets.solvers import SpotSolver
from allstreets.storage import load_flops

LONGEST = 200  # letters of a line


@pytest.fixture(scope="module")
def locked() -> SpotSolution:
    locks = [
        {"line": "", "strategy": {"bet": 1}},
        {"line": "b50", "hands": {"AA": {"call": 1}}},
    ]
    return solve(spot(RIVER, lock=locks), 0.01, threads=1)


def short(text: str, lines: int) -> str:
    """The text, which must be so short."""
    assert len(text.splitlines()) <= lines
    assert max(map(len, text.splitlines())) <= LONGEST
    assert "array" not in text
    assert "nan" not in text
    return text


def test_a_spot(locked: SpotSolution) -> None:
    text = short(str(locked), 11)
    assert text.startswith("Ks7d4c9h2s, pot 100, stack 300, 2 locks: exploitable for 0.")
    assert "EV OOP " in text
    assert "strategies are locked at the first decision, 'b50'" in text
    assert text.endswith(str(locked.at("").decision))
    assert short(repr(locked), 1).startswith("<SpotSolution Ks7d4c9h2s, pot 100")
    fresh = SpotSolution.of(SpotSolver(spot(RIVER), threads=1))
    assert "an unknown part of the pot after 0 iterations" in short(str(fresh), 10)
    allin = solve(spot(RIVER, stack=0), max_iterations=1, threads=1)
    assert str(allin).endswith("all-in already: there is no decision")


def test_a_decision_of_a_spot(locked: SpotSolution) -> None:
    text = short(str(locked.at("").decision), 8)
    assert "first decision on Ks7d4c9h2s: OOP to act, pot 100 chips" in text
    assert "locked: OOP's strategy here was given for all hands, not solved" in text
    check, bet = (line for line in text.splitlines() if line.startswith(("check", "bet 50")))
    assert check.split() == ["check", "0.0", "%", "–", "–", "not", "reached"]
    assert bet.split()[4:6] == ["100.0", "%"]
    assert "for 6.0 of 93.0 combos" in str(locked.at("b50").decision)
    away = short(str(locked.at("x").decision), 8)
    assert "not reached: OOP gets here with nothing of his starting range" in away
    assert repr(locked.at("x").decision) == "<Decision 'x' on Ks7d4c9h2s: IP has x, b50, a>"


def test_a_whole_game() -> None:
    text = short(str(result()), 11)
    assert text.startswith("20 bb deep, 3 flops, classes, exploitable for ")
    assert "mbb/hand to BB" in text
    assert text.endswith(str(result().at("").decision))
    assert short(repr(result()), 1).startswith("<WholeSolution 20 bb deep")
    node = result().at("c x", FLOP).decision
    assert f"c x | {FLOP}: BB to act, pot 2 bb" in short(str(node), 8)
    assert repr(node) == f"<Decision 'c x | {FLOP}': BB has x, b100%>"
    page = node._repr_html_()
    assert "BB to act · pot 2 bb · EV " in page
    assert page.count("<td") == 169
    before = PreflopStrategies.of(classes().preflop, None)
    chart = WholeSolution(PreflopRoots(classes().game.preflop, before), None, result().facts)
    assert "betting before the flop" in short(str(chart), 10)


def test_a_model_of_flops(tmp_path: Path) -> None:
    run_small(tmp_path / "model", flops=FLOPS[:1], postflop_sprs=[1])
    model = load_flops(tmp_path / "model")
    assert "SPR 1: 1 flops, exploitable for " in short(str(model), 3)
    assert short(repr(model), 1).startswith("<WholeSolution ")
    found = model.at("", FLOPS[0]).decision
    assert found.reached
    assert f"spr1 | {FLOPS[0]}: OOP to act, pot 1 (starting pot = 1)" in short(str(found), 8)
    assert short(repr(found), 1).startswith(f"<Decision 'spr1 | {FLOPS[0]}': OOP has x, ")


def test_numbers() -> None:
    nan = float("nan")
    assert (number_text(-0.001), number_text(1234.5, "+"), number_text(nan)) == (
        "0.00",
        "+1,234.50",
        "–",
    )
    assert (percent_text(1 / 3), percent_text(0.00012, 3), percent_text(nan)) == (
        "33.3 %",
        "0.012 %",
        "–",
    )
    head, seldom = mix_lines(["fold"], np.array([2e-4]), None, ["not reached"])
    assert (head.split(), seldom) == (["taken"], "fold   0.020 %   not reached")


def test_solving_tells_how_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    solve(spot(RIVER), target=0, max_iterations=25, threads=1)
    assert capsys.readouterr().out == ""
    result = solve(spot(RIVER), target=0, max_iterations=25, threads=1, progress=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"iteration {n}" for n in (10, 20, 25)]
    assert f"exploitability {100 * result.exploitability:.3g} % of pot" in lines[-1]


def test_no_number_is_less_than_nothing_where_it_rounds_to_nothing() -> None:
    assert [number_text(-0.004), number_text(-0.004, "+"), number_text(-0.0)] == [
        "0.00",
        "+0.00",
        "0.00",
    ]
    assert [number_text(-0.04, "+", 1), number_text(-0.06, "+", 1)] == ["+0.0", "-0.1"]
    assert number_text(-0.0004, digits=3) == "0.000"
