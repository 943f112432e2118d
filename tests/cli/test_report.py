"""allstreets report: a node as picture, JSON and CSV."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import RIVER, TURN, spot

from allstreets.cli.main import main
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, save_spot


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("report")
    solver = SpotSolver(spot(TURN))
    solver.train_batch(200)
    save_spot(solver, folder / "full")
    save_spot(solver, folder / "turn", "turn")
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["report", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--format", "json")
    assert code == 0, err
    answer: dict[str, Any] = json.loads(out.splitlines()[-1])
    return answer


def test_text(capsys: pytest.CaptureFixture[str], solved: Path) -> None:
    code, out, err = run(capsys, str(solved / "full"), "--line", "x b75%", "--combos")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "x b75"
    assert lines[1] == "board Ks7d4c9h   OOP to act   pot 175 chips, 75 to call"
    assert any(line.startswith("OOP ") for line in lines)
    for label in ("fold", "call", "all-in"):
        assert any(label in line and "%" in line for line in lines)
    assert sum(line[:2] in {f"{rank} " for rank in "AKQJT98765432"} for line in lines) == 13
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("combo ")) + 1 :]
    node = load_spot(solved / "full").at("x b75%").decision
    assert len(table) == int((node.reach >= 1e-4).sum())


def test_a_stored_street_is_shown_without_kernels(solved: Path) -> None:
    script = (
        "import sys; from allstreets.cli.main import main;"
        f"main(['report', {str(solved / 'full')!r}, '--line', 'x b75%']);"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "OOP to act" in done.stdout
    assert done.stdout.splitlines()[-1] == "False"


def test_locks_and_lines_that_nobody_takes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    locks = [
        {"line": "", "strategy": {"bet": 1}},
        {"line": "b50%", "hands": {"AA": {"call": 1}}},
    ]
    solver = SpotSolver(spot(RIVER, lock=locks), threads=1)
    solver.train_batch(20)
    save_spot(solver, tmp_path)
    folder = str(tmp_path)
    _, root, _ = run(capsys, folder)
    assert "locked: OOP's strategy here was given for all hands, not solved" in root
    assert re.search(r"x\s+check +0\.0 % +– +– +not reached", root)
    assert "b100*" in root
    _, facing, _ = run(capsys, folder, "--line", "b50%", "--combos")
    assert "for 6.0 of 93.0 combos" in facing
    assert len(re.findall(r"c100\*", facing)) == 1
    assert "AsAh*" in facing
    _, away, _ = run(capsys, folder, "--line", "x")
    assert "not reached: OOP gets here with nothing" in " ".join(away.split())
    assert "strategies are locked at the first decision, 'b50%'" in away
    told = shown(capsys, folder, "--line", "x")
    assert (told["reached"], told["players"][1]["ev"]) == (False, None)
    assert {row["ev"] for row in told["combos"]} == {None}
    told = shown(capsys, folder)
    assert [row["known"] for row in told["actions"]] == [False, True, False]
    assert told["locked_combos"] == pytest.approx(94)


def test_json_is_what_the_library_says(capsys: pytest.CaptureFixture[str], solved: Path) -> None:
    line = "x x | 2h | b75%"
    found = shown(capsys, str(solved / "full"), "--line", line)
    node = load_spot(solved / "full").at(line).decision
    assert (found["line"], found["board"], found["pot"]) == ("x x | 2h | b75", "Ks7d4c9h2h", 175)
    assert found["evs"] == "from here on"
    assert (found["player"], found["to_call"]) == ("IP", 75)
    assert [row["action"] for row in found["actions"]] == list(node.actions)
    assert sum(row["frequency"] for row in found["actions"]) == pytest.approx(1)
    assert sum(row["ev"] for row in found["players"]) == pytest.approx(175, abs=1e-2)
    assert sum(row["equity"] for row in found["players"]) == pytest.approx(1)
    by_combo = {row["combo"]: row for row in found["combos"]}
    rows = {row["combo"]: row for row in node.table()}
    for combo, row in by_combo.items():
        assert row["f"] == rows[combo]["f"]
        assert row["ev_f"] == pytest.approx(0, abs=1e-3)
        assert row["ev"] == pytest.approx(
            sum(row[action] * row[f"ev_{action}"] for action in node.actions), abs=1e-6
        )


def test_numbers_that_do_not_exist_are_null(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """OOP always has the ace that IP needs: IP's AsAh meets nothing."""
    keys = {**TURN, "oop_range": "AsKc", "ip_range": "AsAh,QQ", "board": "Ks7d4c9h"}
    solver = SpotSolver(spot(keys))
    solver.train_batch(3)
    save_spot(solver, tmp_path / "solved")
    found = shown(capsys, str(tmp_path / "solved"), "--line", "x")
    alone = next(row for row in found["combos"] if row["combo"] == "AsAh")
    assert alone["ev"] is None
    assert alone["equity"] is None
    assert run(capsys, str(tmp_path / "solved"), "--line", "x", "--combos")[0] == 0


def test_csv(capsys: pytest.CaptureFixture[str], solved: Path) -> None:
    code, out, _ = run(capsys, str(solved / "full"), "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == [
        "hand", "combo", "locked", "reach", "equity", "ev", "eqr", "x", "ev_x", "b75", "ev_b75",
    ]  # fmt: skip
    node = load_spot(solved / "full").at("").decision
    assert len(rows) == len(node.combos)
    assert sum(float(row["reach"]) for row in rows) == pytest.approx(node.reach.sum())


def test_a_street_that_was_not_kept_is_solved_again(
    capsys: pytest.CaptureFixture[str], solved: Path
) -> None:
    line = "x x | 2h |"
    code, out, err = run(capsys, str(solved / "turn"), "--line", line, "--json")
    assert code == 0
    assert "'x x | 2h' was not saved: solving it again to 0." in err
    again = json.loads(out)
    full = shown(capsys, str(solved / "full"), "--line", line)
    for one, other in zip(again["players"], full["players"], strict=True):
        assert one["ev"] == pytest.approx(other["ev"], abs=1.0)  # 1 % of the pot
        assert one["combos"] == pytest.approx(other["combos"], rel=1e-4)
    assert run(capsys, str(solved / "turn"), "--line", "x")[2] == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b40%", "'b40%' is not offered: OOP may x, b75 (75 %)"),
        ("x x b", "'b': the river card is missing"),
        ("x x | Ks |", "Ks is on the board already"),
        ("x x", "a card is dealt there: write 'x x | 7h |'"),
        ("x b75 f", "no player acts there any more"),
        ("hello", "'hello' is not an action: OOP may x, b75 (75 %)"),
    ],
)
def test_bad_lines(
    capsys: pytest.CaptureFixture[str], solved: Path, line: str, message: str
) -> None:
    for folder in ("full", "turn"):
        code, out, err = run(capsys, str(solved / folder), "--line", line)
        assert (code, out) == (2, "")
        assert message in err
        assert len(err.splitlines()) <= 2


def test_bad_folders(capsys: pytest.CaptureFixture[str], solved: Path, tmp_path: Path) -> None:
    code, _, err = run(capsys, str(tmp_path / "nowhere"))
    assert (code, "does not exist" in err) == (2, True)
    code, _, err = run(capsys, str(tmp_path))
    assert (code, "contains no solution" in err) == (2, True)
    shutil.copytree(solved / "full", tmp_path / "damaged")
    for path in (tmp_path / "damaged").glob("nodes-*"):
        path.write_bytes(path.read_bytes()[:100])
    code, _, err = run(capsys, str(tmp_path / "damaged"))
    assert (code, "is damaged" in err) == (2, True)


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    assert "Examples:" in out
    assert "allstreets report " in out


def test_results_of_the_whole_hand(capsys: pytest.CaptureFixture[str], solved: Path) -> None:
    way = (str(solved / "full"), "--line", "x b75%")
    here, hand = shown(capsys, *way), shown(capsys, *way, "--evs", "hand")
    assert (here["evs"], hand["evs"]) == ("from here on", "over the whole hand")
    # IP has bet 75 chips, OOP none; the starting pot belongs to neither player.
    for place, paid in ((0, 0.0), (1, 75.0)):
        whole = hand["players"][place]["ev"]
        assert whole == pytest.approx(here["players"][place]["ev"] - paid)
        assert hand["players"][place]["eqr"] == pytest.approx(here["players"][place]["eqr"])
    _, out, _ = run(capsys, *way)
    assert "EVs in chips from here on: folding is 0." in out.splitlines()
    _, out, _ = run(capsys, *way, "--evs", "hand")
    told = "EVs in chips over the whole hand: chips already put in count as lost."
    assert told in out.splitlines()


def test_addresses_are_lines(capsys: pytest.CaptureFixture[str], solved: Path) -> None:
    address = "https://app.example.com/solutions?board=Ks7d4c9h&turn_actions=X-B75"
    found = shown(capsys, str(solved / "full"), "--line", address)
    assert found == shown(capsys, str(solved / "full"), "--line", "x b75%")


def test_charts_of_spots(capsys: pytest.CaptureFixture[str], solved: Path, tmp_path: Path) -> None:
    code, out, _ = run(capsys, str(solved / "full"), "--chart", str(tmp_path / "chart.svg"))
    assert (code, f"Chart: {tmp_path / 'chart.svg'}" in out) == (0, True)
    assert (tmp_path / "chart.svg").stat().st_size > 10_000
