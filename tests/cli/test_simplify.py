"""Simple strategies on the command line, and saved."""

import json
from pathlib import Path

import pytest
from builders import whole_solution
from builders.small_spots import RIVER, spot
from builders.whole_solution import FLOP

import allstreets
from allstreets.base import InputError
from allstreets.cli.main import main
from allstreets.solutions import WholeSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import (
    load_spot,
    load_unified,
    read_spot_manifest,
    require_resumable,
    save_spot,
)
from allstreets.study import load_playable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("simplify") / "solved"
    solver = SpotSolver(spot(RIVER), threads=1)
    solver.train_batch(30)
    save_spot(solver, path)
    return path


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole_solution.save_classes(tmp_path_factory.mktemp("simplify") / "game")


def test_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simplify", str(folder), "--grid", "25%", "--player", "oop"]) == 0
    lines = capsys.readouterr().out.splitlines()
    price = allstreets.simplify(folder, grid=0.25, player="oop", threads=1)
    assert lines[0] == "OOP simple: steps of 25 %"
    assert lines[1] == (
        f"Exploitable for {price.after:.3f} % of pot, {price.before:.3f} before; "
        "best responses in its own game"
    )
    assert " ".join(lines[3].split()) == "simple on exploitability price of OOP mixed decisions"
    before, after = price.mixes_before, price.mixes_after
    last = f"river {price.after:.3f} {price.prices[0]:.3f} {after.mixed} of {after.decisions}"
    assert lines[5].split() == last.split()
    assert f"{before.mixed} of {before.decisions}" in lines[4]


def test_json_of_a_whole_game(game: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simplify", str(game), "--drop", "5", "--threads", "1", "--json"]) == 0
    out, err = capsys.readouterr()
    shown = json.loads(out)
    plan, *counts = err.splitlines()
    count = len(load_unified(game).game.flops.flops)
    assert plan.startswith(f"{count} flop")
    assert "each evaluated 6 times: about 0:0" in plan
    assert counts[-1] == f"flops {count} of {count} | ETA 0:00"
    assert shown == allstreets.simplify(whole_solution.result(), drop=0.05, threads=1).to_json()
    assert [row["street"] for row in shown["streets"]] == ["preflop", "flop", "turn", "river"]
    assert shown["exploitability_before"] == pytest.approx(
        whole_solution.figures().exploitability, rel=1e-5
    )
    assert set(shown["prices"]) == {"BB", "SB"}


def test_simple_strategies_are_saved(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "simple"
    assert main(["simplify", str(folder), "--grid", "50%", "--output", str(target), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    saved = load_spot(target)
    assert 100 * saved.exploitability == pytest.approx(shown["exploitability_after"])
    doubled = 2 * saved.at("x").decision.strategy
    assert doubled == pytest.approx(doubled.round(), abs=1e-6)
    again = allstreets.simplify(saved, grid=0.5, threads=1)
    assert again.before == pytest.approx(shown["exploitability_after"], abs=1e-5)
    assert again.prices == pytest.approx((0.0, 0.0), abs=1e-5)
    original = load_spot(folder).at("x").decision.strategy
    assert abs(2 * original - (2 * original).round()).max() > 0.1
    assert main(["simplify", str(folder), "--sizes", "1", "--output", str(target)]) == 2
    assert "contains simple strategies (steps of 50 %)" in capsys.readouterr().err
    with pytest.raises(InputError, match="cannot be solved further"):
        require_resumable(target, read_spot_manifest(target)["config"])
    assert main(["report", str(target)]) == 0
    shown = capsys.readouterr().out
    assert f"OOP and IP simple: steps of 50 %; made from {folder}" in shown.replace("\n", "")
    assert "simple: steps of 50 %" in repr(saved)


def test_a_result_in_memory_stays_as_it_is() -> None:
    result = allstreets.solve(spot(RIVER), max_iterations=20, threads=1)
    before = result.at("").decision.strategy.copy()
    price = allstreets.simplify(result, sizes=1, player="ip", threads=1)
    assert price.before == pytest.approx(100 * result.exploitability)
    assert result.at("").decision.strategy == pytest.approx(before, abs=0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "nothing to simplify"),
        (["--grid", "30%"], "grid 30 %: steps must divide 100 %"),
        (["--grid", "fine"], "'fine' is not a share"),
        (["--sizes", "0"], "at least one size"),
    ],
)
def test_errors(
    folder: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simplify", str(folder), *options]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) <= 2


def test_spots_without_all_streets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solver = SpotSolver(spot({**RIVER, "board": "Ks7d4c9h"}, bets=["a"]), threads=1)
    save_spot(solver, tmp_path / "turn", "turn", exploitability=0.1)
    assert main(["simplify", str(tmp_path / "turn"), "--grid", "50%"]) == 2
    assert "saved with --save turn" in capsys.readouterr().err


def test_a_saved_whole_game_is_opened_by_everything(
    game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "simple"
    assert main(["simplify", str(game), "--grid", "25%", "--output", str(target)]) == 0
    price = allstreets.simplify(game, grid=0.25, threads=1)
    told = capsys.readouterr().out
    assert f"Exploitable for {price.after:.2f} mbb/hand, {price.before:.2f} before" in told
    assert f"allstreets report {target}" in told.replace("\n", "")
    saved = allstreets.load(target)
    assert isinstance(saved, WholeSolution)
    assert saved.exploitability == pytest.approx(price.after, rel=1e-5)
    assert main(["report", str(target)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "game, steps of 25 %"
    assert f"BB and SB simple: steps of 25 %; made from {game}" in lines
    assert main(["report", str(target), "--line", "r2.5 c | x", "--flop", FLOP]) == 0
    assert main(["compare", str(game), str(target), "--line", "r2.5", "--json"]) == 0
    assert main(["export", str(target), str(tmp_path / "ranges")]) == 0
    assert load_playable(target).figures.exploitability == pytest.approx(price.after)
    capsys.readouterr()
    assert main(["simplify", str(game), "--sizes", "1", "--output", str(target)]) == 2
    assert "already contains a solution; name another folder" in capsys.readouterr().err
