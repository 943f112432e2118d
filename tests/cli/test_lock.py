"""allstreets lock: one command from a question to what it costs."""

import json
from pathlib import Path

import pytest
from builders.small_spots import RIVER, spot

from allstreets.cli.main import main
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, read_spot_manifest, save_spot


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    solver = SpotSolver(spot(RIVER), threads=1)
    solver.train_batch(50)
    folder = tmp_path_factory.mktemp("lock") / "solved"
    save_spot(solver, folder)
    return folder


def run(folder: Path, *words: str) -> int:
    return main(["lock", str(folder), "--max-iterations", "50", "--threads", "1", *words])


def test_what_it_costs_always_to_bet(
    solved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "locked"
    assert run(solved, "--always", "b50%", "--output", str(output)) == 0
    text = capsys.readouterr().out
    assert "IP gains" in text
    assert "bet 50 (50 %)" in text
    assert read_spot_manifest(output)["before"] == {"folder": str(solved), "line": ""}
    locked = load_spot(output)
    assert locked.node("").frequencies()[1] == pytest.approx(1)
    assert locked.evs[0] < load_spot(solved).evs[0]


def test_frequencies_from_flags_and_from_a_file(
    solved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "seen.csv"
    file.write_text("node,action,frequency\n,b50%,60%\nb50%,fold,20%\n")
    assert run(solved, "--locks", str(file), "--json") == 0
    places = json.loads(capsys.readouterr().out)["difference"]["places"]
    assert [place["line"] for place in places] == ["", "b50%"]
    assert places[0]["actions"][1]["frequency_after"] == pytest.approx(0.6, abs=0.01)
    assert run(solved, "--line", "x", "--at-most", "b50%=10%", "--json") == 0
    (place,) = json.loads(capsys.readouterr().out)["difference"]["places"]
    assert place["actions"][1]["frequency_after"] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hands", "AA=check"], ""),
        (["--as-is"], ""),
        ([], "give one way to lock"),
        (["--always", "x", "--as-is"], "give one way to lock"),
        (["--hands", "AA"], "--hands 'AA': write HANDS=ACTION"),
        (["--at-most", "b50%=150%"], "--at-most: a frequency of <=150% is more than 1"),
        (["--always", "b60%"], "no action 'b60%' there"),
    ],
)
def test_ways_to_lock(
    solved: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(solved, *words) == (2 if message else 0)
    assert message in capsys.readouterr().err
