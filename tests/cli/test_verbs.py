"""The output of commands: the numbers that the library computes."""

import csv
import io
import json
from pathlib import Path
from typing import get_args

import pytest

from allstreets.cards import Range, all_flops, equity, parse_board, read_subset
from allstreets.cli.machine import Jobs
from allstreets.cli.main import main
from allstreets.jobs import KINDS


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def test_equity(capsys: pytest.CaptureFixture[str]) -> None:
    shown = figures(capsys, "equity", "AKs,QQ:0.5", "22+", "--board", "Qs Jh 2h")
    computed = equity(Range.parse("AKs,QQ:0.5"), Range.parse("22+"), parse_board("QsJh2h"))
    assert shown["equity_first"] == computed.first
    assert shown["equity_second"] == computed.second
    assert (shown["win"], shown["tie"], shown["lose"]) == (
        computed.win,
        computed.tie,
        computed.lose,
    )
    assert (shown["board"], shown["runouts"], shown["pairs"]) == ("QsJh2h", 990, computed.pairs)
    assert (shown["first"], shown["second"]) == ("QQ:0.5,AKs", "22+")


def test_equity_as_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equity", "AA", "KK", "--board", "Ks7d2c"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Board Ks7d2c"
    assert "First: AA" in lines
    assert "6 combos, equity 8.59 %" in lines
    assert "3 combos, equity 91.41 %" in lines
    assert sum(line.startswith("A ") for line in lines) == 2  # one grid a player
    assert next(line for line in lines if line.startswith("A ")).split()[:2] == ["A", "9"]
    assert all(len(line) <= 80 for line in lines)


def test_equity_before_the_flop(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equity", "AA", "KK"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Before the flop")
    assert "equity 81.95 %" in out


def test_range(capsys: pytest.CaptureFixture[str]) -> None:
    shown = figures(capsys, "range", "QQ,KK,AA,AKs:0.5", "--board", "QsJh2h")
    assert shown["combos"] == 17
    assert shown["percent"] == pytest.approx(100 * 17 / 1176)
    assert shown["hands"] == {"AA": 1.0, "KK": 1.0, "QQ": 0.5, "AKs": 0.5}
    assert main(["range", "TT+,AQs+"]) == 0
    out = capsys.readouterr().out
    assert len([line for line in out.splitlines() if "·" in line]) == 13
    assert out.splitlines()[-2:] == ["TT+,AQs+", "38 combos = 2.87 % of 1,326"]


def test_flops_lists(capsys: pytest.CaptureFixture[str]) -> None:
    shown = figures(capsys, "flops")
    assert shown["count"] == 1755
    assert main(["flops", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 1755
    assert sum(int(row["multiplicity"]) for row in rows) == 22100
    assert [row["flop"] for row in rows] == [flop.text for flop in all_flops()]
    assert main(["flops"]) == 0
    assert "unpaired  1,430  18,304  82.8 %" in capsys.readouterr().out


def test_flops_that_stand_for_all(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shown = figures(capsys, "flops", "subset_25")
    assert (shown["set"], shown["count"]) == ("subset_25", 25)
    rows = shown["flops"]
    assert isinstance(rows, list)
    assert sum(row["weight"] for row in rows) == pytest.approx(22100)
    assert shown["error"] == read_subset(25)["error"]  # `cards/test_flop_choice` computes it
    assert main(["flops", "subset_25"]) == 0
    out = capsys.readouterr().out
    assert "25 flops stand for 22,100" in out
    assert "to within 5.07 % of a standard deviation" in out
    for wrong in (
        ["--choose", "7", "AhKd7s"],
        ["--choose", "0"],
        ["--from", "x"],
        ["--choose", "7", "--from", str(tmp_path)],
        ["subset_26"],
    ):
        assert main(["flops", *wrong]) == 2
    assert "there is no subset_26: there are subset_15" in capsys.readouterr().err


@pytest.mark.long
def test_flops_that_are_chosen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Long: the margins of all flops are counted, once on a machine."""
    file = tmp_path / "chosen.json"
    assert main(["flops", "--choose", "7", "--output", str(file), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    kept = json.loads(file.read_text())
    assert kept["flops"] == {row["flop"]: float(row["weight"]) for row in rows}
    assert (len(rows), kept["made"]) == (7, "allstreets flops --choose 7")
    before = file.read_text()
    assert main(["flops", "--choose", "7", "--output", str(file)]) == 2
    assert file.read_text() == before


def test_one_flop(capsys: pytest.CaptureFixture[str]) -> None:
    shown = figures(capsys, "flops", "7s Ah Kd")
    assert (shown["flop"], shown["multiplicity"]) == ("AsKh7d", 24)
    assert shown["suit_map"] == {"c": "c", "d": "h", "h": "s", "s": "d"}
    assert main(["flops", "7sAhKd"]) == 0
    assert "7sAhKd is AsKh7d" in capsys.readouterr().out


def test_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[str], int | None]] = []

    def compile_ahead(kinds: list[str], processes: int | None) -> None:
        asked.append((kinds, processes))

    monkeypatch.setattr("allstreets.jobs.compile_ahead", compile_ahead)
    assert main(["compile"]) == 0
    assert main(["compile", "first-run", "--processes", "3"]) == 0
    assert asked == [(["all"], None), (["first-run"], 3)]
    assert {kind for kinds, _ in asked for kind in kinds} <= set(KINDS)
    assert set(get_args(Jobs)) == set(KINDS)
