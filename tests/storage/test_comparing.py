"""Two solutions side by side: figures by hand, and what cannot be compared."""

import json
import math
from pathlib import Path

import pytest
from builders import whole_solution
from builders.small_spots import RIVER, spot

from allstreets.analysis import compare_decisions
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import combo_text
from allstreets.cli.main import main
from allstreets.solutions import PreflopRoots, SpotSolution, WholeSolution, solve
from allstreets.solvers import SpotSolver
from allstreets.storage import compare, game_keys, save_preflop, save_spot, stored_keys

CHECKS = [{"line": "x", "strategy": {"check": 1}}]


def solved(iterations: int, **changes: object) -> SpotSolver:
    solver = SpotSolver(spot(RIVER, **changes), threads=1)
    solver.train_batch(iterations)
    return solver


@pytest.fixture(scope="module")
def pair() -> tuple[SpotSolution, SpotSolution]:
    return SpotSolution.of(solved(60)), SpotSolution.of(solved(60, lock=CHECKS))


def test_figures_by_hand(pair: tuple[SpotSolution, SpotSolution]) -> None:
    found = compare(*pair)
    nodes = [one.at("").decision for one in pair]
    assert found.notes[0].startswith("locks differ: none and ")
    for side, node in enumerate(nodes):
        assert list(found.frequencies[side]) == pytest.approx(node.taken.tolist())
        assert [found.evs[p][side] for p in Player] == pytest.approx([node.ev(p) for p in Player])
    assert found.gains[0] > 0  # OOP may check for free
    assert found.gains[0] == pytest.approx(-found.gains[1], abs=1e-3)
    assert sum(hand.share for hand in found.hands) == pytest.approx(1)
    weighted = [hand.weighted for hand in found.hands]
    assert weighted == sorted(weighted, reverse=True)
    by_name = {hand.name: hand for hand in found.hands}
    total = 0.0
    for place, combo in enumerate(nodes[0].combos.tolist()):
        hand = by_name[combo_text(combo)]
        mixes = [list(node.hand(hand.name).frequencies.values()) for node in nodes]
        apart = sum(abs(a - b) for a, b in zip(*mixes, strict=True)) / 2
        assert hand.distance == pytest.approx(apart)
        share = [float(node.own.weights[place] / node.own.weights.sum()) for node in nodes]
        total += sum(share) / 2 * apart
    assert found.distance == pytest.approx(total)
    assert compare(pair[0], pair[0]).distance == 0
    assert compare(pair[0], pair[0]).gain_text() == "EVs are the same."
    oop, ip = found.gains
    assert found.gain_text() == f"OOP gains {oop:.2f}, IP loses {-ip:.2f} chips."


def test_where_nobody_acts_there_are_evs_alone(pair: tuple[SpotSolution, SpotSolution]) -> None:
    first, second = (one.at("x x").ranges for one in pair)
    found = compare_decisions(first, second)
    assert (found.player, found.seat, found.hands, found.actions) == (None, "nobody", (), ())
    assert math.isnan(found.distance)
    for player in Player:  # hands are shown: a share of the pot
        expected = [node.mean(node.equity(player), player) * node.pot for node in (first, second)]
        assert list(found.evs[player]) == pytest.approx(expected)
    with pytest.raises(InputError, match="differ in who acts: nobody and OOP"):
        compare_decisions(first, pair[1].at("").decision)


def test_the_game_of_a_solution_is_in_its_manifest(
    pair: tuple[SpotSolution, SpotSolution], tmp_path: Path
) -> None:
    save_spot(pair[1], tmp_path / "spot")
    assert stored_keys(tmp_path / "spot") == game_keys(pair[1])
    whole_solution.save_classes(tmp_path / "game")
    game = whole_solution.result()
    assert stored_keys(tmp_path / "game") == game_keys(game)
    before = WholeSolution(PreflopRoots(game.rules, game.before), None, game.facts)
    save_preflop(before, tmp_path / "preflop", identity={})
    assert stored_keys(tmp_path / "preflop") == game_keys(before)
    assert game_keys(before).apart(game_keys(game)) == {}


def test_whole_games_by_class() -> None:
    result = whole_solution.result()
    line = f"{result.flop_lines()[0]} | x"
    same = compare(result, result, line, whole_solution.FLOP)
    assert same.distance == 0
    assert same.notes == ()
    node = result.at("r2.5").decision
    earlier = WholeSolution.of(whole_solution.solver_of(whole_solution.whole_game("spread_2"), 5))
    found = compare(result, earlier, "r2.5")
    assert found.notes[0].startswith("flops and cards differ: 3 flops")
    assert list(found.frequencies[0]) == pytest.approx(node.taken.tolist())
    for side in range(2):  # hands add up to the range
        before = (result if side == 0 else earlier).at("r2.5").decision
        weights = before.own.weights / before.own.weights.sum()
        assert found.frequencies[side][0] == pytest.approx(float(weights @ before.strategy[0]))
    assert 0 < found.distance < 1


def test_different_games(pair: tuple[SpotSolution, SpotSolution]) -> None:
    other = SpotSolution.of(solved(2, pot=60, stack=200))
    with pytest.raises(InputError, match=r"differ in\n  pot: 100 and 60\n  stack: 300 and 200$"):
        compare(pair[0], other)
    with pytest.raises(InputError, match="a spot and a whole game cannot be compared"):
        compare(pair[0], whole_solution.result())
    deeper = WholeSolution.of(whole_solution.trips())
    with pytest.raises(InputError, match="stack: 2000 and 300"):
        compare(whole_solution.result(), deeper)
    with pytest.raises(InputError, match="--flop is for whole games"):
        compare(*pair, flop="AhKd7s")


def test_the_command(
    pair: tuple[SpotSolution, SpotSolution], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, one in zip("ab", pair, strict=True):
        save_spot(one, tmp_path / name)
    words = ["compare", str(tmp_path / "a"), str(tmp_path / "b")]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = compare(*pair)
    assert told["distance"] == pytest.approx(found.distance)
    assert told["hands"][0]["hand"] == found.hands[0].name
    assert main([*words, "--top", "3", "--csv", str(tmp_path / "hands.csv")]) == 0
    out = capsys.readouterr().out
    assert f"A hand acts differently {100 * found.distance:.1f} % of the time" in out
    assert f"In B: {found.gain_text()}" in out
    assert told["noise"] > found.noise == 0  # saving measures, solving in memory did not
    assert main([words[0], words[1], words[1]]) == 0
    assert "In B: EVs are the same." in capsys.readouterr().out
    assert out.splitlines()[-4].startswith(found.hands[0].name)
    lines = (tmp_path / "hands.csv").read_text().splitlines()
    assert len(lines) == len(found.hands) + 1


def test_evs_within_the_accuracy_of_both_are_no_difference() -> None:
    rough, close = (
        solve(spot(RIVER), max_iterations=count, target=1e-9, threads=1) for count in (8, 100)
    )
    found = compare(rough, close)
    pot = found.evs[0][0] + found.evs[1][0]
    assert found.noise == pytest.approx(2 * pot * (rough.exploitability + close.exploitability))
    assert max(found.gains) < found.noise  # one equilibrium
    assert found.gain_text() == f"No difference beyond {found.noise:.2f} chips."
    assert found.gain_text(0.0) != found.gain_text()
    whole = whole_solution.result()
    assert compare(whole, whole).noise == 2 * (whole.figures.accuracy or 0) / 1000  # bb
