"""Preflop charts while a game is being solved, as a log and as a terminal show them."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from builders.small_games import write_small
from harness.terminals import Terminal, needs_terminals, screen

from allstreets.cards import HAND_NAMES, grid_cell
from allstreets.cli.main import main
from allstreets.jobs.config.train import read_train_config
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.whole_game import plan_unified

RANKS = "AKQJT98765432"
MODEL = {
    "bet_sizes": [1.0],
    "postflop_sprs": [1],
    "flops": ["Ks7d2c"],
    "iterations": 20,
    "threads": 1,
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert main(["train", *arguments]) == 0
    captured = capsys.readouterr()
    return captured.out, captured.err


def headings(text: str) -> list[str]:
    """The heads of the charts during the run."""
    lines = text.splitlines()
    return [
        lines[place].rstrip()
        for place in range(len(lines) - 1)
        if lines[place + 1].startswith("SB, first to act:") and lines[place].startswith("iteration")
    ]


def cells(grid: list[str]) -> dict[str, tuple[str, int]]:
    """Hand → the action and the per cent that its cell names."""
    found = {}
    for hand, name in enumerate(HAND_NAMES):
        row, column = grid_cell(hand)
        cell = grid[row][2 + 5 * column : 7 + 5 * column]
        if cell.strip() != "·":
            found[name] = cell[0], int(cell[1:])
    return found


def test_charts_in_a_log(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Plain lines on stderr, and in them the averages of that iteration."""
    file = write_small(tmp_path / "game.yaml", chart_interval=5)
    out, err = run(capsys, str(file), "-o", str(tmp_path / "out"), "--json")
    assert json.loads(out)["iterations"] == 12
    assert "\x1b" not in err
    first, second = headings(err)
    assert re.fullmatch(r"iteration 5 of 12 \| exploitability \S+ mbb/hand \(at 4\)", first)
    assert re.fullmatch(r"iteration 10 of 12 \| exploitability \S+ mbb/hand \(at 8\)", second)
    lines = err.splitlines()
    start = lines.index(second)
    chart = lines[start : start + 60]
    tops = [place for place, line in enumerate(chart) if line.split() == list(RANKS)][:2]
    for top in tops:
        assert [line[0] for line in chart[top + 1 : top + 14]] == list(RANKS)
    assert "BB after " in chart[tops[0] + 14]
    # The small blind's chart, number by number.
    config = read_train_config(file).solver
    assert isinstance(config, UnifiedConfig)
    solver = plan_unified(config).solver()
    solver.train_batch(10)
    mix = solver.preflop.average()[0]
    shown = cells(chart[tops[0] + 1 : tops[0] + 14])
    assert len(shown) == 169
    for hand, name in enumerate(HAND_NAMES):
        most = int(mix[:, hand].argmax())
        assert shown[name] == ("fcra"[most], round(float(100 * mix[most, hand]))), name


def test_how_many_charts_there_are(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """By default, by the file, and by the flag, which goes before the file."""

    def seen(number: int, *arguments: str, **keys: Any) -> list[int]:
        file = write_small(tmp_path / "game.yaml", **keys)
        out, err = run(capsys, str(file), "-o", str(tmp_path / str(number)), *arguments)
        assert headings(out) == []
        assert out.count("SB, first to act:") == 1  # the end, as ever
        return [int(line.split()[1]) for line in headings(err)]

    assert seen(1) == [3, 6, 9]
    assert seen(2, chart_interval=0) == []
    assert seen(3, chart_interval=8) == [8]
    assert seen(4, "--chart-interval", "6", chart_interval=8) == [6]
    assert seen(5, "--chart-interval", "0", chart_interval=8) == []


def test_charts_of_odd_games(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """No exploitability yet, and none at all."""
    games: list[tuple[dict[str, Any], list[str]]] = [
        ({"chart_interval": 3, "epochs": 4}, ["iteration 3 of 4 | exploitability not known yet"]),
        (
            {"memory": "per_batch", "flop_batch_size": 1, "epochs": 4, "chart_interval": 6},
            ["iteration 6 of 8 | exploitability not known"],
        ),
    ]
    for number, (keys, told) in enumerate(games):
        file = write_small(tmp_path / "game.yaml", **keys)
        _, err = run(capsys, str(file), "-o", str(tmp_path / str(number)))
        assert headings(err) == told


def test_charts_of_the_separated_pipeline(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    solver = {"type": "preflop_cfr", "stack_depth": 6, "raise_cap": 1, "iterations": 60}
    file = tmp_path / "parts.yaml"
    file.write_text(json.dumps({"solver": solver, "postflop_model": MODEL}))
    out, err = run(
        capsys, str(file), "-o", str(tmp_path / "out"), "--json", "--chart-interval", "25"
    )
    assert json.loads(out)["iterations"] == 60
    first, second = headings(err)
    assert first == "iteration 25 of 60 | exploitability not known yet"
    assert second.startswith("iteration 50 of 60 | exploitability ")
    assert err.count("BB after ") == 3


def test_flops_have_no_such_charts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "flops.yaml").write_text(json.dumps({"postflop_model": MODEL}))
    arguments = ["train", str(tmp_path / "flops.yaml"), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--chart-interval", "5"]) == 2
    assert capsys.readouterr().err == (
        "Error: --chart-interval: flops one by one have no preflop charts\n"
    )
    assert not (tmp_path / "out").exists()


@needs_terminals
@pytest.mark.parametrize("columns", [80, 150])
def test_charts_above_the_table(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
) -> None:
    """On a true terminal: whole charts one after the other, and one table below them."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))
    file = write_small(tmp_path / "game.yaml", chart_interval=4)
    with Terminal() as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal.stream)
        assert main(["train", str(file), "-o", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 12
    assert re.search(r"\x1b\[(38;|[34]\d|9\d)", terminal.output)  # in colour
    left = [line.rstrip() for line in screen(terminal.output)]
    # The table once, after both pairs of charts and before the closing lines.
    (table,) = [place for place, line in enumerate(left) if line.startswith("12 / 12 ")]
    assert max(len(line) for line in left[: table + 2]) <= columns
    assert left[table - 1].split()[:2] == ["iteration", "exploitability"]
    assert left[table + 1].endswith("100 %")
    found = [place for place, line in enumerate(left) if re.match(r"iteration \d+ of 12", line)]
    assert [left[place].partition(" | ")[0] for place in found] == [
        "iteration 4 of 12",
        "iteration 8 of 12",
    ]
    assert max(found) < table
    for start in found:
        titles = [line for line in left[start:] if "BB after " in line]
        tops = [
            start + place for place, line in enumerate(left[start:]) if line.strip()[:4] == "A   "
        ]
        beside = columns > 140
        assert left[tops[0]].split() == list(RANKS) * (2 if beside else 1)
        assert titles[0].startswith("SB, first to act:" if beside else "BB after ")
        for top in tops[: 1 if beside else 2]:
            rows = left[top + 1 : top + 14]
            assert [row[0] for row in rows] == list(RANKS)
            if beside:
                assert [row[71] for row in rows] == list(RANKS)
                assert len(cells([row[71:] for row in rows])) > 100
            assert len(cells([row.ljust(70) for row in rows])) > 100
