"""allstreets train and report of models of flops, as a person and a program meet them."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_flops import FLOPS, SMALL, TEXTS, failing, press_after
from reference.flop_model import judged
from reference.matrix import NaiveStage

from allstreets.betting import Player
from allstreets.cards import hand_pairs, parse_flop
from allstreets.cli.main import main
from allstreets.cli.terminal import running
from allstreets.cli.terminal.output import console
from allstreets.engines.matrix.cards import class_stages
from allstreets.jobs import ProgressView
from allstreets.jobs.flops import FlopsJob
from allstreets.solvers import flops as estimate
from allstreets.storage import load_flops


def write(path: Path, **keys: Any) -> Path:
    path.write_text(json.dumps({"name": "small", "postflop_model": {**SMALL, **keys}}))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("train")
    file = write(folder / "train.yaml", postflop_sprs=[1, 2])
    assert main(["train", str(file), "--output", str(folder / "solved")]) == 0
    return folder / "solved"


def test_a_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, folder = write(tmp_path / "train.yaml"), tmp_path / "solved"
    code, out, err = run(capsys, "train", str(file), "-o", str(folder), "--threads", "1")
    assert code == 0
    assert err.splitlines()[0].startswith("small: 3 flops at SPR 2, classes, 99 tree nodes, ab")
    assert "on 1 thread" in err.splitlines()[0]
    assert "flops 3 of 3 | expl mean 0.00" in err
    lines = out.splitlines()
    assert lines[0].startswith("Solved 3 of 3 flops in ")
    assert lines[-2:] == [
        f"Look further: allstreets report {folder} --flop Ks7h2d",
        f"In the browser: allstreets explore {folder}",
    ]
    code, out, err = run(capsys, "train", str(file), "-o", str(folder))
    assert (code, out) == (2, "")
    assert "already contains this model; continue it with --resume" in err
    code, out, err = run(capsys, "train", str(file), "-o", str(folder), "--resume")
    assert code == 0
    assert "(3 of 3 are solved)" in err


def test_what_is_kept_is_as_exploitable_as_told(solved: Path) -> None:
    """By a recursion over dense matrices, on the strategies as the folder holds them."""
    result = load_flops(solved)
    for row in result.flops:
        flop, root = parse_flop(row["flop"]).flop, result.models.sprs.index(row["spr"])
        pot, kept = result.models.pot(root), result.models.strategies(root, flop)
        pairs = hand_pairs(flop.cards).astype(np.float64)
        margin = class_stages(flop.cards)[0].margin.astype(np.float64)
        slow = judged(
            pot.tree,
            pot.payoffs,
            [NaiveStage((1, 2, 3), pairs, margin)],
            {node: kept.at(node) for node in pot.tree.decisions()},
        )
        gains = [slow.judge(player, np.ones(169), best=True).sum() for player in Player]
        found = sum(gains) / 2 / pairs.sum() / 1000
        assert found == pytest.approx(row["exploitability"], abs=2e-6)
        assert found <= 0.01


def test_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write(tmp_path / "train.yaml", flops=FLOPS[:2])
    code, out, err = run(capsys, "train", str(file), "-o", str(tmp_path / "out"), "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["flops"], found["solved"], found["converged"]) == (2, 2, 2)
    assert (found["missing"], found["faults"], found["interrupted"]) == (0, [], False)
    assert 0 < found["exploitability_mean"] <= found["exploitability_max"] <= 0.01
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(1)
    assert "Solved 2 of 2 flops" in err


def test_faults_give_an_exit_code_and_the_way_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = write(tmp_path / "train.yaml"), tmp_path / "out"
    with monkeypatch.context() as patch:
        numbers = FloatingPointError("the numbers ran away")
        patch.setattr(FlopsJob, "solver", failing(TEXTS[1], numbers))
        code, out, err = run(capsys, "train", str(file), "-o", str(folder))
    assert code == 1
    fault = "FloatingPointError: the numbers ran away"
    assert f"flop 9s8s2h failed: {fault}" in err
    assert f"Flop 9s8s2h at SPR 2 failed: {fault}" in out
    again = f"allstreets train {file} --output {folder} --resume"
    assert f"Not everything is solved, 1 flop is missing. Continue with: {again}" in out
    code, out, _ = run(capsys, *again.split()[1:])
    assert code == 0
    assert "Solved 3 of 3 flops" in out


def test_ctrl_c_keeps_the_flops_that_are_solved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = write(tmp_path / "train.yaml"), tmp_path / "out"
    command = ["train", str(file), "--output", str(folder)]
    with monkeypatch.context() as patch:
        patch.setattr(estimate, "LARGEST_GROUP", 1)

        @contextmanager
        def pressing() -> Iterator[ProgressView]:
            yield ProgressView(press_after(2), console(stderr=True))

        patch.setattr(running, "show_progress", pressing)
        code, out, err = run(capsys, *command, "--threads", "1")
    assert code == 130
    assert f"Saving to {folder} …" in err
    again = f"allstreets train {file} --output {folder} --resume"
    assert f"Interrupted, 1 flop is missing. Continue with: {again}" in out
    code, _, err = run(capsys, *again.split()[1:])
    assert code == 0
    assert "(2 of 3 are solved)" in err


KILLED = """
import signal, sys
from itertools import count
from harness.pressing import press_in
from pytest import MonkeyPatch
from allstreets.cli.main import main
from allstreets.solvers import flops as estimate
from allstreets.storage import solution_files
written = count()
third = lambda *_: next(written) == 2
estimate.LARGEST_GROUP = 1
press_in(MonkeyPatch(), solution_files, "write_mapped", signal.SIGKILL, when=third)
main(sys.argv[1:])
"""


@pytest.mark.long
def test_a_killed_run_keeps_the_flops_that_are_solved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Long: a process is killed."""
    file, folder = write(tmp_path / "train.yaml", postflop_sprs=[1, 2]), tmp_path / "out"
    command = ["train", str(file), "--output", str(folder), "--threads", "1"]
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *command], env=os.environ | {"PYTHONPATH": paths}
    )
    assert done.returncode == -signal.SIGKILL
    assert len(load_flops(folder).flops) == 2  # one flop at both ratios
    code, _, err = run(capsys, *command, "--resume")
    assert code == 0
    assert "(2 of 6 are solved)" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("postflop_model: {bet_sizes: [33]}", "bet_sizes"),
        ("name: x", "there is no job in this file"),
        ("solve: {}", "solve: unknown key"),
    ],
)
def test_bad_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "train.yaml").write_text(text)
    code, out, err = run(capsys, "train", str(tmp_path / "train.yaml"), "-o", str(tmp_path / "o"))
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "o").exists()


# Reports.


def test_overview(capsys: pytest.CaptureFixture[str], solved: Path) -> None:
    code, out, err = run(capsys, "report", str(solved))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "small"
    assert lines[1] == "classes, ahead; bets 75%, raises 75%, 1 raise per street"
    assert lines[2].startswith("6 flops solved in ")
    for spr in (1, 2):
        assert any(line.startswith(f"SPR {spr}: exploitability 0.") for line in lines)
    assert sum(line.startswith("all ") for line in lines) == 2
    assert sum(line.startswith("paired ") for line in lines) == 2
    ways = [line.split()[1:] for line in lines if line.startswith("allstreets report ")]
    assert [way[2:] for way in ways] == [["--line", "spr1", "--flop", "Ks7h2d"], ["--flops"]]
    for way in ways:
        assert run(capsys, *way)[0] == 0


def test_the_table_over_flops(
    capsys: pytest.CaptureFixture[str], solved: Path, tmp_path: Path
) -> None:
    code, out, _ = run(capsys, "report", str(solved), "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    expected = load_flops(solved).flops
    assert [row["flop"] for row in rows] == [row["flop"] for row in expected]
    assert list(rows[0]) == list(expected[0])
    assert [float(row["exploitability"]) for row in rows] == [
        row["exploitability"] for row in expected
    ]
    code, out, _ = run(capsys, "report", str(solved), "--json", "--spr", "2")
    found = json.loads(out)
    assert code == 0
    assert [row["flop"] for row in found["rows"]] == TEXTS
    weights = [row["multiplicity"] for row in found["rows"]]
    values = [row["exploitability"] for row in found["rows"]]
    assert found["exploitability_mean"] == pytest.approx(np.average(values, weights=weights))
    assert found["exploitability_max"] == max(values)
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    code, out, _ = run(capsys, "report", str(solved), "--parquet", str(tmp_path / "f.parquet"))
    assert (code, out) == (0, "")
    assert parquet.read_table(tmp_path / "f.parquet").to_pylist() == expected


def test_one_flop(capsys: pytest.CaptureFixture[str], solved: Path) -> None:
    arguments = ["report", str(solved), "--flop", "Kd7s2h", "--line", "x b75%", "--spr", "2"]
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Ks7h2d, SPR 2: rainbow, unpaired, represents 24 of 22,100 flops"
    assert lines[1].startswith("exploitability 0.")
    assert "spr2 | Kd7s2h | x b75%" in lines
    table = "flop   OOP to act   pot 1.75, 0.75 to call (starting pot = 1), 2 and 1.25 behind"
    assert table in lines
    assert sum(line[:2] in {f"{rank} " for rank in "AKQJT98765432"} for line in lines) == 13
    assert all(len(line) <= 80 for line in lines)
    found = load_flops(solved).at("spr2 | Ks7d2c | x b75%").decision
    code, out, _ = run(capsys, *arguments, "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["flop"], told["spr"], told["player"]) == ("Kd7s2h", 2, "OOP")
    assert (told["pot"], told["to_call"]) == (1.75, 0.75)
    assert [row["frequency"] for row in told["actions"]] == found.taken.tolist()
    assert {row["hand"]: row["f"] for row in told["hands"]}["AA"] == found.strategy[0, 0]
    code, out, _ = run(capsys, *arguments, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == [
        "hand", "combos", "reach", "ev", "f", "ev_f", "c", "ev_c", "a", "ev_a"
    ]  # fmt: skip
    assert sum(int(row["combos"]) for row in rows) == 1176


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--line", "x"],
            "line 'x' begins with neither a ratio nor a flop: write spr1 |",
        ),
        (["--flop", "AhKd7s"], "AhKd7s (AsKh7d but for suits) is not among the 3 of this solution"),
        (["--flop", "Ks7d2c"], "choose one with --spr"),
        (["--flop", "Ks7d"], "a flop has 3"),
        (["--spr", "9"], "the SPR 9 is not solved here, only 1, 2"),
        (["--combos"], "--combos has no meaning here"),
        (["--flop", "Ks7d2c", "--spr", "2", "--line", "b1%"], "'b1%' is not offered"),
        (["--flop", "Ks7d2c", "--parquet", "x"], "leave --flop out"),
    ],
)
def test_bad_questions(
    capsys: pytest.CaptureFixture[str], solved: Path, arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, "report", str(solved), *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) <= 2


def test_options_of_models_are_refused_for_spots(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from builders.small_spots import RIVER, spot

    from allstreets.solvers import SpotSolver
    from allstreets.storage import save_spot

    solver = SpotSolver(spot(RIVER))
    solver.train_batch(2)
    save_spot(solver, tmp_path / "spot")
    code, _, err = run(capsys, "report", str(tmp_path / "spot"), "--flop", "AhKd7s")
    assert code == 2
    assert "--flop has no meaning here" in err
    assert "contains a spot" in err
    assert run(capsys, "report", str(tmp_path / "spot"))[0] == 0


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "config", "schema", "train")
    assert code == 0
    assert "exploitability_threshold" in out


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "train", "--help")
    assert (code, err) == (0, "")
    assert "allstreets train sample_configurations/smoke.yaml --output solved/" in out
    for name in re.findall(r"sample_configurations/\S+\.yaml", out):
        assert (Path(__file__).parents[2] / name).is_file()
