"""allstreets solve as a person and a program meet it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import RIVER, TURN
from harness.pressing import press_in

from allstreets.cli.main import main
from allstreets.jobs import Here
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, spot_bundle
from allstreets.storage.mapped import write_mapped
from allstreets.storage.spot_bundle import read_spot_manifest

KEYS = [
    "exploitability_pct",
    "exploitability_chips",
    "iterations",
    "seconds",
    "seconds_per_iteration",
    "ev_oop",
    "ev_ip",
    "memory_bytes",
    "nodes",
    "threads",
    "algorithm",
]
NAMES = {"oop_range": "--oop", "ip_range": "--ip"}


def flags(keys: dict[str, Any]) -> list[str]:
    """The keys of a spot as flags."""
    words = []
    for key, value in keys.items():
        text = ",".join(value) if isinstance(value, list) else str(value)
        words += [NAMES.get(key, f"--{key}"), text]
    return words


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["solve", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    assert len(out.splitlines()) == 1
    answer: dict[str, Any] = json.loads(out)
    return answer


def test_a_warm_solve_does_not_wake_the_compiler(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["solve", *flags(RIVER), "--max-iterations", "25", "--threads", "1"]
    assert main(command) == 0  # it may have to compile
    capsys.readouterr()
    script = (
        "import sys; from allstreets.cli.main import main;"
        f"main({command!r});"
        "compiler = ('numba.np.arraymath', 'scipy.linalg');"
        "print([part for part in compiler if part in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "First decision" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.fixture
def river(tmp_path: Path) -> Path:
    path = tmp_path / "river.yaml"
    path.write_text(json.dumps({"name": "small river", **RIVER}))
    return path


def test_json_keys_and_values(capsys: pytest.CaptureFixture[str], river: Path) -> None:
    found = figures(capsys, str(river), "--target", "0.5%", "--threads", "1")
    assert list(found) == KEYS
    assert 0 < found["exploitability_pct"] <= 0.5
    assert found["exploitability_chips"] == pytest.approx(found["exploitability_pct"])
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(100, abs=1e-3)
    assert (found["threads"], found["algorithm"]) == (1, "ahead")
    assert found["nodes"] == load_count()


def load_count() -> int:
    from builders.small_spots import spot

    return sum(spot(RIVER).tree.decision_counts().values())


def test_file_and_flags_give_the_same(capsys: pytest.CaptureFixture[str], river: Path) -> None:
    ends = ["--target", "0", "--max-iterations", "30", "--threads", "1"]
    first, second = figures(capsys, str(river), *ends), figures(capsys, *flags(RIVER), *ends)
    for found in (first, second):
        del found["seconds"], found["seconds_per_iteration"]
    assert first == second
    third = figures(capsys, str(river), "--pot", "50", *ends)
    assert third["ev_oop"] + third["ev_ip"] == pytest.approx(50, abs=1e-3)


def test_rake_is_missing_from_the_sum(capsys: pytest.CaptureFixture[str], river: Path) -> None:
    found = figures(capsys, str(river), "--rake", "0.05", "--rake-cap", "3", "--target", "1%")
    assert 96.9 < found["ev_oop"] + found["ev_ip"] < 99


def test_for_people(capsys: pytest.CaptureFixture[str], river: Path, tmp_path: Path) -> None:
    code, out, err = run(capsys, str(river), "--output", str(tmp_path / "solved"))
    assert code == 0
    assert "small river: Ks7d4c9h2s, pot 100, stack 300" in err
    assert "boards 1 river" in err
    assert "memory" in err
    assert "exploitability" in err.splitlines()[-1]
    lines = out.splitlines()
    assert lines[0].startswith("Solved to 0.")
    assert "% of pot" in lines[0]
    assert lines[1].startswith("EV OOP ")
    assert "First decision, OOP:" in out
    assert "bet 50 (50 %)" in out
    assert sum(line[:2] in {f"{rank} " for rank in "AKQJT98765432"} for line in lines) == 13
    assert lines[-2:] == [
        f"Look further: allstreets report {tmp_path / 'solved'} --line x",
        f"In the browser: allstreets explore {tmp_path / 'solved'}",
    ]
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    assert load_spot(tmp_path / "solved").exploitability <= 0.003


def test_a_target_that_is_not_reached_is_said(
    capsys: pytest.CaptureFixture[str], river: Path
) -> None:
    code, out, _ = run(capsys, str(river), "--max-iterations", "3")
    assert code == 0
    assert out.startswith("Stopped at ")
    assert "The target of 0.3 % is not reached." in out
    assert "--output DIR saves a solution" in out


def test_all_in_already(capsys: pytest.CaptureFixture[str], river: Path) -> None:
    code, out, _ = run(capsys, str(river), "--stack", "0")
    assert code == 0
    assert "No player has chips left to bet" in out
    assert figures(capsys, str(river), "--stack", "0")["exploitability_pct"] < 1e-3


def test_resume(capsys: pytest.CaptureFixture[str], river: Path, tmp_path: Path) -> None:
    ends = ["--target", "0", "--output", str(tmp_path / "solved"), "--max-iterations"]
    figures(capsys, str(river), *ends, "20")
    assert figures(capsys, *flags(RIVER), *ends, "50", "--resume")["iterations"] == 50
    whole = figures(capsys, str(river), "--target", "0", "--max-iterations", "50")
    assert read_spot_manifest(tmp_path / "solved")["evs"] == [whole["ev_oop"], whole["ev_ip"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.yaml"], "nowhere.yaml does not exist"),
        ([], "board, oop_range, ip_range, pot, stack are missing"),
        (["--board", "Ks7d4c"], "oop_range, ip_range, pot, stack are missing"),
        ([*flags(RIVER), "--board", "Ks7d"], "has 2 cards: a flop has 3"),
        ([*flags(RIVER), "--oop", "KsKd"], "oop: the range 'KsKd' is blocked"),
        ([*flags(RIVER), "--oop", "AsAh", "--ip", "AsAh"], "the two ranges block each other"),
        ([*flags(RIVER), "--bets", "33"], "bet sizes"),
        ([*flags(RIVER), "--precision", "int8"], "'int8' is not known"),
        ([*flags(RIVER), "--target", "0.3"], "write 0.3% if you mean it"),
        ([*flags(RIVER), "--time", "soon"], "time 'soon': write 60s"),
        ([*flags(RIVER), "--max-iterations", "0"], "iterations must be 1 or more"),
        ([*flags(RIVER), "--algorithm", "magic"], "unknown algorithm 'magic'"),
        ([*flags(RIVER), "--threads", "0"], "threads"),
        ([*flags(RIVER), "--resume"], "--resume needs --output"),
        ([*flags(RIVER), "--pot", "ten"], "Invalid value for '--pot'"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_an_unknown_key_is_told_with_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "spot.yaml"
    path.write_text("board: Ks7d4c\nstak: 100\n")
    code, _, err = run(capsys, str(path))
    assert code == 2
    assert "line 2: stak: unknown key; did you mean 'stack'?" in err


def test_what_does_not_fit_is_refused(
    capsys: pytest.CaptureFixture[str], river: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allstreets.jobs.spot.available_bytes", lambda: 1_000_000)
    code, _, err = run(capsys, str(river))
    assert code == 2
    assert "needs 250 MB and 1 MB are free" in err
    assert "fewer bet and raise sizes" in err


def trained(solver: SpotSolver) -> bool:
    """Whether there is something that could be lost: its figures are asked for before, too."""
    return solver.iterations > 0


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signals_keep_what_is_solved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """One after the first check, one in the middle of the save."""
    folder, number = tmp_path / "solved", signal.Signals[name]
    press_in(monkeypatch, SpotSolver, "metrics", number, when=trained)
    press_in(monkeypatch, spot_bundle, "write_mapped", number)
    endless = ["--target", "0", "--max-iterations", "100000000"]
    code, out, err = run(capsys, *flags(TURN), *endless, "--output", str(folder), "--json")
    assert code == 130
    assert f"Saving to {folder} …; Ctrl-C twice more leaves at once." in err
    assert f"Still saving to {folder} …; once more leaves at once, and the solution is lost." in err
    assert "Continue with the same command and --resume." in err
    assert "Traceback" not in err
    found = json.loads(out.splitlines()[-1])
    kept = load_spot(folder)
    assert kept.iterations == found["iterations"] == 25
    assert kept.at("x x | 2h |").decision.strategy.sum(axis=0) == pytest.approx(1)


LEAVING = """
import signal, sys
from harness.pressing import press_in
from pytest import MonkeyPatch
from allstreets.cli.main import main
from allstreets.solvers import SpotSolver
from allstreets.storage import spot_bundle
trained = lambda solver: solver.iterations > 0
press_in(MonkeyPatch(), SpotSolver, "metrics", signal.SIGINT, when=trained)
press_in(MonkeyPatch(), spot_bundle, "write_mapped", signal.SIGINT, signal.SIGINT)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.long
def test_a_third_leaves_and_the_next_run_clears_up(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Long: processes are interrupted."""
    folder = tmp_path / "solved"
    command = ["solve", *flags(RIVER), "--max-iterations", "50", "--output", str(folder)]
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", LEAVING, *command],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr.endswith("\nLeft at once: the solution is lost.\n")
    assert "Traceback" not in done.stderr
    left = {path.name for path in folder.iterdir()}
    assert len(left) == 2  # a lock, and what was half written
    assert run(capsys, *command[1:])[0] == 0
    assert {path.name for path in folder.iterdir()} & left == {".lock"}
    assert load_spot(folder).iterations == 50


def test_a_full_disk_does_not_hide_the_result(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the user may name another folder at a terminal."""
    folder, other = tmp_path / "solved", tmp_path / "other"
    command = [*flags(RIVER), "--max-iterations", "10", "--output", str(folder)]

    def full(path: Path, *arguments: Any, **options: Any) -> Any:
        if other not in path.parents:
            raise OSError(28, "No space left on device")
        return write_mapped(path, *arguments, **options)

    monkeypatch.setattr(spot_bundle, "write_mapped", full)
    code, out, err = run(capsys, *command)
    assert code == 2
    assert "EV OOP" in out
    assert f"Error: cannot write the solution to {folder}: No space left on device" in err
    assert "The solution is not saved" in err
    assert "Traceback" not in err
    assert not folder.exists()
    answers = iter([str(folder), str(other)])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(answers))
    code, out, err = run(capsys, *command)
    assert code == 0
    assert f"allstreets report {other}" in out
    assert load_spot(other).iterations == 10
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "")
    assert run(capsys, *command)[0] == 2


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    assert "Examples:" in out
    assert "allstreets solve " in out


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spots are solved by this process; `jobs/test_spots` has others solve them."""
    monkeypatch.setattr("allstreets.jobs.spots.Processes", Here)


@pytest.mark.usefixtures("here")
def test_many_spots(capsys: pytest.CaptureFixture[str], river: Path, tmp_path: Path) -> None:
    boards, folder = tmp_path / "boards.csv", tmp_path / "spots"
    boards.write_text("board,weight\nKs7d4c9h2s,2\nKs7d4c9h2,1\nQs7d4c9h2s,1\n")
    ends = ["--target", "1%", "--processes", "1", "--threads", "1"]
    words = [str(river), "--boards", str(boards), "--output", str(folder), *ends]
    code, out, err = run(capsys, *words)
    assert code == 2
    assert f"Not solved: small river Ks7d4c9h2: {boards}, line 3: 'Ks7d4c9h2' has an odd" in err
    assert "spots 3 of 3" in err
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["board", "Ks7d4c9h2s", "Qs7d4c9h2s", "mean"]
    assert f"Rows: {folder / 'spots.csv'}" in lines
    one = run(capsys, str(river), "--target", "1%", "--threads", "1", "--json")
    code, out, _ = run(capsys, *words, "--resume", "--json")
    rows = json.loads(out)["spots"]
    assert rows[0]["ev_oop"] == pytest.approx(json.loads(one[1])["ev_oop"], abs=1e-4)
    assert [row["weight"] for row in rows] == [2, None, 1]
    assert rows[0]["x"] + rows[0]["b50"] + rows[0]["a"] == pytest.approx(1)


@pytest.mark.usefixtures("here")
def test_what_many_spots_refuse(
    capsys: pytest.CaptureFixture[str], river: Path, tmp_path: Path
) -> None:
    code, _, err = run(capsys, str(river), "--processes", "2")
    assert (code, err) == (
        2,
        "Error: --processes is for many spots: name several files, or --boards\n",
    )
    code, _, err = run(capsys, str(river), "--cluster", "local")
    assert (code, err) == (
        2,
        "Error: --cluster is for many spots: name several files, or --boards\n",
    )
    words = [str(river), "--boards", "Ks7d4c9h2s,Qs7d4c9h2s", "--cluster", "nowhere"]
    code, _, err = run(capsys, *words, "--output", str(tmp_path / "run"))
    assert code == 2
    assert "--cluster nowhere is not an address; write auto, local, or HOST:PORT" in err
    assert not (tmp_path / "run").exists()
    code, _, err = run(capsys, str(river), "--boards", "QsJh")
    assert code == 2
    assert "none of the spots can be solved: the board 'QsJh' has 2 cards" in err
    other = tmp_path / "other.yaml"
    other.write_text("board: QsJh2h\n")
    words = [str(river), str(other), "--max-iterations", "25", "--processes", "1"]
    code, out, err = run(capsys, *words)
    assert code == 2
    assert "Not solved: other: oop_range, ip_range, pot, stack are missing" in err
    assert "Ks7d4c9h2s" in out
