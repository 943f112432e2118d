"""Tools of agents: the same answers as the rest of the program, and refusals of large work."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from builders.explorer_solutions import folder as solved_folder
from builders.whole_solution import FLOP, save_classes

from allstreets.agents import Bounds, Tools, make_server
from allstreets.agents.tools import rounded
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import HAND_OF_COMBO, Range
from allstreets.cli.main import main
from allstreets.explorer import range_at
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.storage import load

HISTORY = Path("sample_hands/session.txt").read_text().split("\n\n\n")
RIVER = ("Ks7h2d3c8d", "AA,KQs,76s", "KK,QQ,AK")


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classes(tmp_path_factory.mktemp("agents") / "game")


@pytest.fixture(scope="module")
def tools(game: Path) -> Tools:
    return Tools([game])


def test_solutions_are_listed_by_name(tools: Tools, game: Path) -> None:
    rows = tools.list_solutions(limit=100)["solutions"]
    assert rows[0]["name"] == game.name
    assert rows[0]["about"] == load(game, WholeSolution).headline
    ready = {row["name"]: row for row in tools.list_solutions("20bb")["solutions"]}
    assert {"hu-20bb", "pf-20bb"} <= set(ready)
    assert ready["hu-20bb"]["exploitability_mbb_with_real_cards"] == pytest.approx(4.76, abs=0.01)
    few = tools.list_solutions("pf-", limit=2)
    assert len(few["solutions"]) == 2
    assert few["more"] == len(tools.list_solutions("pf-", limit=100)["solutions"]) - 2


@pytest.mark.parametrize(
    ("line", "flop", "hand"),
    [("", "", "AKs"), ("r2.5", "", "77"), ("c x | x", FLOP, "AhKh"), (f"c x | {FLOP} | x", "", "")],
)
def test_a_node_is_that_of_the_solution(
    tools: Tools, game: Path, line: str, flop: str, hand: str
) -> None:
    answer = tools.get_node("game", line, flop, hand, with_ranges=True)
    node = load(game, WholeSolution).at(line, flop or None)
    decision = node.decision
    assert answer["line"] == node.line
    assert answer["to_act"] == decision.seat
    assert answer["pot"] == decision.pot
    assert [row["next_line"] for row in answer["actions"]] == [
        child.line for child in node.children
    ]
    for row, taken, chances in zip(
        answer["actions"], decision.taken, decision.strategy, strict=True
    ):
        assert row["frequency"] == pytest.approx(taken)
        weights = Range.parse(row["range"]).weights if row["range"] else np.zeros(1326)
        expected = (decision.own.reach * np.nan_to_num(chances))[HAND_OF_COMBO]
        seen = decision.combo_weights(decision.player) > 0
        np.testing.assert_allclose(weights[seen], expected[seen], atol=0.0051)
    if hand:
        assert answer["hand"]["frequencies"] == decision.hand(hand).frequencies
    json.dumps(rounded(answer), allow_nan=False)


def test_nodes_where_nobody_acts_say_how_play_goes_on(tools: Tools) -> None:
    deal = tools.get_node("game", "c x")
    assert deal["kind"] == "chance"
    assert len(deal["next_lines"]) == 3
    assert tools.get_node("game", deal["next_lines"][0])["kind"] == "decision"
    assert tools.get_node("game", "f")["kind"] == "end"
    with pytest.raises(InputError, match="no player acts there"):
        tools.get_node("game", "f", hand="AA")


def test_ranges_are_those_of_the_command(tools: Tools, game: Path) -> None:
    answer = tools.get_range("game", "r2.5 c", "bb")
    expected = range_at(game, "r2.5 c", "oop").range
    np.testing.assert_allclose(Range.parse(answer["range"]).weights, expected.weights)
    assert answer["combos"] == pytest.approx(expected.combos, abs=0.01)
    raised = tools.get_range("game", action="raise")
    assert raised["range"] == str(range_at(game, action="raise").range)
    with pytest.raises(InputError, match="player 'btn'"):
        tools.get_range("game", player="btn")


def test_a_solved_spot_can_be_looked_into(tools: Tools) -> None:
    answer = tools.solve_spot(*RIVER, pot=10, stack=20, target_percent=0.5)
    assert answer["target_reached"]
    assert answer["exploitability_percent_of_pot"] <= 0.5
    assert sum(answer["evs"].values()) == pytest.approx(10, rel=1e-4)
    name = answer["solution"]
    assert name in [row["name"] for row in tools.list_solutions("solved")["solutions"]]
    answer = tools.get_node(name, "x")
    assert answer["to_act"] == "IP"
    assert tools.get_range(name, "x", "oop")["combos"] < 12
    again = tools.solve_spot(*RIVER, pot=10, stack=20, target_percent=2)
    assert again["solution"] != name


def test_large_spots_are_refused_before_they_begin() -> None:
    wide = ("Ks7h2d", "22+,A2+,K2+,Q2+", "22+,A2+,K2+")
    deep = "10%,20%,30%,40%,50%,60%,a"
    with pytest.raises(InputError, match="more than 200,000 nodes: use fewer sizes"):
        Tools().solve_spot("QsJh2h", "random", "random", 60, 100_000, deep)
    with pytest.raises(InputError, match=r"needs \d+\.\d GB and 2\.0 GB are allowed here: name a"):
        Tools().solve_spot(*wide, pot=10, stack=200)
    roomy = Tools(bounds=Bounds(memory_bytes=10**12, seconds=5))
    with pytest.raises(InputError, match="for 30 iterations and 5 s are allowed"):
        roomy.solve_spot(*wide, pot=10, stack=200, seconds=1000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"oop": "zz"}, "oop: range"),
        ({"board": "Ks7h"}, "has 2 cards"),
        ({"bets": "x"}, "bet"),
        ({"target_percent": 0}, "target_percent"),
        ({"pot": -1}, "pot"),
    ],
)
def test_spots_that_make_no_game_are_refused(
    tools: Tools, changes: dict[str, object], message: str
) -> None:
    board, oop, ip = RIVER
    given = {"board": board, "oop": oop, "ip": ip, "pot": 10, "stack": 20, **changes}
    with pytest.raises(InputError, match=message):
        tools.solve_spot(**given)  # type: ignore[arg-type]


def test_a_played_hand_is_graded(tools: Tools) -> None:
    review = tools.review_hand(HISTORY[0], "pf-10bb")
    (decision,) = review["decisions"]
    push_or_fold = load(tools._folder("pf-10bb"), WholeSolution).at().decision.hand("Q9s")
    assert (decision["cards"], decision["seat"]) == ("Qh9h", "SB")
    assert decision["best"] == max(push_or_fold.evs, key=lambda word: push_or_fold.evs[word])
    assert decision["loss_bb"] == pytest.approx(push_or_fold.ev - push_or_fold.evs["f"], abs=1e-3)
    assert review["lost_bb"] == decision["loss_bb"]


@pytest.mark.parametrize(
    ("history", "solution", "message"),
    [
        ("no hand at all", "pf-10bb", "no hand can be read"),
        ("x" * 60_000, "pf-10bb", "60,000 characters"),
        ("\n\n\n".join(HISTORY * 2), "pf-10bb", "review 3 at a time"),
        (HISTORY[0], "pf-10b", "nearest: pf-10bb"),
    ],
)
def test_histories_that_cannot_be_graded(
    tools: Tools, history: str, solution: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        tools.review_hand(history, solution)


def test_equities_are_exact(tools: Tools) -> None:
    # Three of a kind against one overcard and a flush draw with nothing more.
    result = tools.equity("QsQd", "AhKh", "QhJh2c")
    assert result["equity_first"] + result["equity_second"] == pytest.approx(1)
    assert result["win"] + result["tie"] + result["lose"] == pytest.approx(1)
    # All 45 · 44 / 2 runouts of a drawing dead hand.
    assert tools.equity("AsAh", "KsKh", "AdAcKd")["equity_first"] == 1
    with pytest.raises(InputError):
        tools.equity("QQ", "ZZ")


def test_only_named_folders_are_opened(game: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no solution is called"):
        Tools().get_node(str(game))
    with pytest.raises(InputError, match="contains no solution"):
        Tools([tmp_path])
    with pytest.raises(InputError, match="is not a folder"):
        Tools([tmp_path / "missing"])
    several = Tools([game.parent])
    assert several.get_node("game")["line"] == ""


def test_spots_are_opened_too() -> None:
    path = solved_folder("turn")
    tools = Tools([path])
    decision = load(path, SpotSolution).at().decision
    answer = tools.get_node(path.name)
    assert answer["unit"] == "chips"
    assert answer["stacks"]["OOP"] == decision.stacks[Player.OOP]


def test_numbers_have_six_digits() -> None:
    assert rounded({"a": [0.12345678, -1e-19], "b": (1, None, "x")}) == {
        "a": [0.123457, 0.0],
        "b": [1, None, "x"],
    }


def test_without_the_package_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(InputError, match=r"pip install 'allstreets\[mcp\]'"):
        make_server(Tools())
    assert main(["mcp"]) == 2
    assert "pip install 'allstreets[mcp]'" in capsys.readouterr().err
