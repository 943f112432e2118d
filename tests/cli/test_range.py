"""allstreets range and allstreets export: texts, files, pipes and solutions."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_spots import TURN, spot
from builders.whole_solution import SAME, result, save_classes

from allstreets import range_at
from allstreets.betting import Player
from allstreets.cards import HAND_OF_COMBO, Range, RangeKind, live_combos, parse_board
from allstreets.cli.main import main
from allstreets.solutions import WholeSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import load, load_spot, save_spot

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classes(tmp_path_factory.mktemp("range") / "game")


@pytest.fixture(scope="module")
def turn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    solver = SpotSolver(spot(TURN), threads=1)
    solver.train_batch(10)
    folder = tmp_path_factory.mktemp("range") / "turn"
    save_spot(solver, folder)
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    assert main([*map(str, arguments)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    assert main([*map(str, arguments)]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") <= 2
    return message


@pytest.mark.parametrize("kind", list(RangeKind))
def test_a_text_becomes_any_kind_and_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: RangeKind
) -> None:
    text = "QQ+,AKs,AhKh:0.2,[30]76s[/30]"
    written = run(capsys, "range", text, "--to", kind)
    assert Range.parse(written) == Range.parse(text)
    file = tmp_path / f"range{kind.suffix}"
    file.write_text(written)
    assert run(capsys, "range", file, "--to", "text") == f"{Range.parse(text)}\n"


def test_a_range_through_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = io.TextIOWrapper(io.BytesIO(b'{"AA": 0.5, "AKs": 1}'))
    monkeypatch.setattr(sys, "stdin", pipe)
    assert run(capsys, "range", "-", "--to", "gto+") == "AKs,[50]AA[/50]\n"


def test_the_range_that_sees_a_flop(capsys: pytest.CaptureFixture[str], game: Path) -> None:
    reach = result().before.reach
    root = result().roots.read("r2.5 c")
    for name, player in (("bb", Player.OOP), ("IP", Player.IP)):
        way = ("range", "--from", game, "--line", "r2.5 c", "--player", name)
        expected = np.round(reach[root, player], 4)[HAND_OF_COMBO]
        exact = Range.parse(run(capsys, *way, "--to", "pio", "--digits", "4"))
        np.testing.assert_array_equal(exact.weights, expected)
        read = Range.parse(run(capsys, *way, "--to", "pio"))  # as people want it
        np.testing.assert_array_equal(read.weights, np.round(expected, 2))
        assert read.weights[read.weights > 0].min() >= 0.01 > expected[expected > 0].min()
        told = json.loads(run(capsys, *way, "--json"))
        assert told["combos"] == pytest.approx(read.combos)
        assert run(capsys, *way).splitlines()[-2] == told["range"]


def test_the_part_that_acts_so(capsys: pytest.CaptureFixture[str], game: Path) -> None:
    node = result().at("").decision
    way = ("range", "--from", game, "--to", "json", "--digits", "4", "--action")
    raised = Range.parse(run(capsys, *way, "raise"))
    assert raised == Range.parse(run(capsys, *way, "r2.5"))
    expected = np.round(node.combo_weights(Player.IP, node.actions.index("r2.5")), 4)
    np.testing.assert_array_equal(raised.weights, expected)
    limped = Range.parse(run(capsys, *way, "limp"))
    assert limped == Range.parse(run(capsys, *way, "c"))


def test_a_flop_beside_the_line_or_in_it(capsys: pytest.CaptureFixture[str], game: Path) -> None:
    way = ("range", "--from", game, "--to", "pio", "--digits", "4", "--player", "ip", "--line")
    beside = run(capsys, *way, "r2.5 c | x", "--flop", SAME)
    assert beside == run(capsys, *way, f"r2.5 c | {SAME} | x")
    node, board = result().at(f"r2.5 c | {SAME} | x").decision, parse_board(SAME)
    expected = np.round(node.combo_weights(Player.IP), 4)
    read = Range.parse(beside).on(board)
    np.testing.assert_array_equal(read.weights, np.where(live_combos(board), expected, 0))


def test_a_spot(capsys: pytest.CaptureFixture[str], turn: Path) -> None:
    node = load_spot(turn).at("x").decision
    bets = [place for place, word in enumerate(node.actions) if word.startswith("b")]
    expected = np.round(sum(node.combo_weights(Player.IP, place) for place in bets), 4)
    for kind in RangeKind:
        way = ("range", "--from", turn, "--line", "x", "--action", "bet", "--to", kind)
        exact = (*way, "--digits", "4")
        read = Range.parse(run(capsys, *exact)).on(node.board)
        np.testing.assert_array_equal(read.weights, expected)
    found = range_at(turn, "x", action="bet")
    np.testing.assert_array_equal(found.range.weights, expected)
    assert found.combos == pytest.approx(expected.sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no range: write one, such as 'TT+,AQs+', name a file, or give --from DIR"),
        (["nonsense"], "range, character 1: 'nonsense' is not a hand or a combo"),
        (["AA", "--to", "excel"], "Invalid value for '--to'"),
        (["AA", "--digits", "2"], "--digits is for ranges of a solution"),
        (["AA", "--line", "x"], "--line is for ranges of a solution: name its folder with --from"),
        ([str(DATA / "spots.json")], "spots.json: range, "),
        (["AA", "--from", "GAME"], "give a range or --from DIR, not both"),
        (["--from", "GAME", "--board", "QsJh2h"], "--board is for ranges you type"),
        (["--from", "GAME", "--line", "r2.5 c"], "no player acts there: say OOP or IP"),
        (["--from", "GAME", "--player", "bu"], "--player bu: "),
        (["--from", "GAME", "--line", "r9"], "'r9' is not offered"),
        (["--from", "GAME", "--action", "bet"], "'bet' is not offered here"),
        (["--from", "GAME", "--action", "call", "--player", "bb"], "oop does not act here"),
        (["--from", "GAME", "--line", "c x", "--flop", "2c2d2h"], "of this solution; nearest: "),
        (["--from", "/nowhere/at/all"], "/nowhere/at/all"),
    ],
)
def test_what_is_wrong_is_said(
    capsys: pytest.CaptureFixture[str], game: Path, arguments: list[str], message: str
) -> None:
    given = [str(game) if one == "GAME" else one for one in arguments]
    assert message in refused(capsys, "range", *given)


def test_export(capsys: pytest.CaptureFixture[str], game: Path, turn: Path, tmp_path: Path) -> None:
    out = tmp_path / "ranges"
    said = run(capsys, "export", game, out, "--kind", "gto+", "--digits", "4")
    assert said.startswith("92 files in ")
    read = Range.parse((out / "r2.5" / "c" / "BB.txt").read_text())
    same = ("range", "--from", game, "--line", "r2.5 c", "-p", "bb", "--to", "text")
    assert read == Range.parse(run(capsys, *same, "--digits", "4"))
    assert "exists: name a new folder" in refused(capsys, "export", game, out)
    run(capsys, "export", game, tmp_path / "short")
    short = Range.parse((tmp_path / "short" / "r2.5" / "c" / "BB.txt").read_text())
    assert short == read.rounded(2) == Range.parse(run(capsys, *same)) != read
    assert "contains no betting before the flop" in refused(capsys, "export", turn, tmp_path / "no")


def test_a_pio_tree_becomes_a_spot_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    viewer = Path(__file__).parents[2] / "sample_spots" / "pio_tree.txt"
    assert main(["config", "from-pio", str(viewer)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("board: AhKd9c\n")
    assert told.err.startswith("Left out: AllinThreshold 60 (")
    assert told.err.count("\n") == 1
    broken = tmp_path / "tree.txt"
    broken.write_bytes(b"#Pot#\xff")
    assert "tree.txt: the file is not UTF-8 text (line 1)" in refused(
        capsys, "config", "from-pio", broken
    )
    broken.write_text("set_pot 1\n")
    assert "tree.txt: line 1: set_pot takes 3 numbers, not 1" in refused(
        capsys, "config", "from-pio", broken
    )


def test_ranges_of_ready_made_solutions(capsys: pytest.CaptureFixture[str]) -> None:
    way = ("range", "--from", "pf-10bb", "--line", "a", "--player", "sb", "--to", "text")
    told = run(capsys, *way, "--digits", "4")
    expected = load("pf-10bb", WholeSolution).at("a").ranges.hands[Player.IP].reach
    weights = Range.parse(told).hand_weights
    np.testing.assert_allclose(weights, expected, atol=1e-4)
