"""allstreets report of a whole game: overview, decisions, tables, charts."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import RIVER, spot
from builders.whole_solution import FLOP, SAME, figures, forgotten, result, save_classes

from allstreets.cards import HAND_NAMES
from allstreets.cli.main import main
from allstreets.solutions import PreflopRoots, WholeSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import save_preflop, save_spot, save_unified


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "game"
    return save_classes(folder, name="three flops", description="[for tests]")


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = main(["report", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def good(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    return out


def test_overview(capsys: pytest.CaptureFixture[str], game: Path) -> None:
    lines = good(capsys, game).splitlines()
    assert lines[:2] == ["three flops", "[for tests]"]
    assert lines[2].startswith("20 bb stacks, blinds 0.5/1 bb")
    assert any(
        line.startswith("exploitability in its own game 110 mbb/hand: best") for line in lines
    )
    assert "SB, first to act:" in lines
    assert any(line.startswith("BB after a") for line in lines)
    ways = [line for line in lines if line.startswith("allstreets report")]
    assert ways[0] == f'allstreets report {game} --line "c x" --flop {FLOP}'
    assert len(ways) == 3


def test_overview_as_json(capsys: pytest.CaptureFixture[str], game: Path) -> None:
    for arguments in (("--format", "json"), ("--json",)):
        data = json.loads(good(capsys, game, *arguments))
        assert data["exploitability_mbb"] == figures().exploitability
        assert data["metrics"][0]["iteration"] == 30


@pytest.mark.parametrize(
    "way",
    [
        ("--line", "c x | x b100%", "--flop", SAME),
        ("--line", f"c x | {SAME} | x b100%"),
        ("--line", "c x | x b2", "--flop", SAME),
    ],
)
def test_a_decision(capsys: pytest.CaptureFixture[str], game: Path, way: tuple[str, ...]) -> None:
    node = result().at("c x | x b100%", FLOP).decision
    text = good(capsys, game, *way)
    assert text.splitlines()[0] == f"c x | {SAME} | x b100%"
    assert "raise to 8 bb (100 %)" in text
    data = json.loads(good(capsys, game, *way, "--format", "json"))
    assert (data["player"], data["pot_bb"], data["to_call_bb"]) == ("BB", 4.0, 2.0)
    taken = [action["frequency"] for action in data["actions"]]
    assert taken == pytest.approx(node.taken.tolist())
    rows = list(csv.DictReader(io.StringIO(good(capsys, game, *way, "--format", "csv"))))
    assert list(rows[0]) == [
        "hand", "combos", "reach", "ev_bb", "f", "ev_bb_f", "c", "ev_bb_c", "r100%", "ev_bb_r100%",
    ]  # fmt: skip
    assert len(rows) == int((node.own.counts > 0).sum())
    by_hand = {row["hand"]: row for row in rows}
    place = HAND_NAMES.index("AKs")
    assert float(by_hand["AKs"]["c"]) == pytest.approx(node.strategy[1, place])
    assert float(by_hand["AKs"]["ev_bb"]) == pytest.approx(node.evs()[place], abs=1e-5)


def test_the_table_over_flops(capsys: pytest.CaptureFixture[str], game: Path) -> None:
    lines = good(capsys, game, "--flops").splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["Qs7h4d", "As5h2h", "7s6h4s"]
    assert all(" % " in line for line in lines[1:4])
    rows = list(csv.DictReader(io.StringIO(good(capsys, game, "--format", "csv"))))
    assert [float(row["share"]) for row in rows] == [row["share"] for row in result().flops]
    data = json.loads(good(capsys, game, "--flops", "--format", "json"))
    assert data["flops"] == result().flops


def test_a_decision_on_all_flops(capsys: pytest.CaptureFixture[str], game: Path) -> None:
    way = (game, "--flops", "--line", "c x | x")
    lines = good(capsys, *way).splitlines()
    assert lines[0].split() == ["flop", "suits", "weight", "gets", "here", "x", "b100%"]
    assert lines[4].startswith("all ")
    rows = list(csv.DictReader(io.StringIO(good(capsys, *way, "--format", "csv"))))
    expected = result().flop_table("c x | x")
    assert [float(row["b100%"]) for row in rows] == [row["b100%"] for row in expected]
    means = lines[4].split()[1:]
    weights = [row["weight"] * row["share"] for row in expected]
    checks = sum(w * row["x"] for w, row in zip(weights, expected, strict=True)) / sum(weights)
    assert float(means[0]) == pytest.approx(100 * checks, abs=0.006)


def test_parquet(capsys: pytest.CaptureFixture[str], game: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    good(capsys, game, "--parquet", tmp_path / "flops.parquet")
    assert parquet.read_table(tmp_path / "flops.parquet").to_pylist() == result().flops


@pytest.mark.parametrize("name", ["chart.svg", "chart.png"])
def test_charts(capsys: pytest.CaptureFixture[str], game: Path, tmp_path: Path, name: str) -> None:
    out = good(capsys, game, "--line", "r2.5", "--chart", tmp_path / name)
    assert f"Chart: {tmp_path / name}" in out
    assert (tmp_path / name).stat().st_size > 10_000
    data = good(capsys, game, "--chart", tmp_path / name, "--json")
    assert json.loads(data)["player"] == "SB"


def test_values_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    save_unified(forgotten(), tmp_path / "game", config={"memory": "per_batch"})
    text = good(capsys, tmp_path / "game")
    assert "exploitability not known: memory: per_batch stores no strategies of flops" in text
    assert "--flop " not in text
    assert "–" in good(capsys, tmp_path / "game", "--flops")
    assert good(capsys, tmp_path / "game", "--line", "c").endswith("EVs are unknown here.\n")
    code, _, err = run(capsys, tmp_path / "game", "--line", "c x", "--flop", "Ks7h2d")
    assert (code, "stores no strategies after the flop" in err) == (2, True)
    solve = f'allstreets solve --from {tmp_path / "game"} --line "c x" --flop Ks7h2d --draft'
    assert err.rstrip().endswith(solve)
    _, _, err = run(capsys, tmp_path / "game", "--line", "c x | Ks7h2d | x")
    assert err.rstrip().endswith(solve)


def test_a_preflop_solution(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    whole = result()
    preflop = WholeSolution(PreflopRoots(whole.rules, whole.before), None, whole.facts)
    save_preflop(preflop, tmp_path / "game", identity={})
    text = good(capsys, tmp_path / "game")
    assert "SB, first to act:" in text
    assert "--flops" not in text
    assert "BB to act" in good(capsys, tmp_path / "game", "--line", "r2.5")
    code, _, err = run(capsys, tmp_path / "game", "--flops")
    assert (code, "there is no table over flops" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--line", "r3"), "'r3' is not offered: SB may f, c, r2.5, a"),
        (("--line", "c x"), "a flop is dealt there; name one, such as Qs7h4d"),
        (("--line", "c x", "--flop", "AhKd2c"), "is not among the 3 of this solution"),
        (("--flop", FLOP), "ends before the flop"),
        (("--combos",), "--combos has no meaning here"),
        (("--spr", "3"), "--spr has no meaning here"),
        (("--flops", "--flop", FLOP), "the table covers all flops: leave --flop out"),
        (("--chart", "chart.jpg"), "name a .png or .svg file"),
    ],
)
def test_what_is_wrong_is_said(
    capsys: pytest.CaptureFixture[str], game: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, game, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) <= 2


def test_options_of_whole_games_are_not_for_spots(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    solver = SpotSolver(spot(RIVER))
    solver.train_batch(1)
    save_spot(solver, tmp_path / "spot")
    code, _, err = run(capsys, tmp_path / "spot", "--flops")
    assert (code, "--flops has no meaning here" in err) == (2, True)


def test_over_boards(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = save_classes(tmp_path_factory.mktemp("reports") / "game")
    line = f"{result().flop_lines()[0]} | x"
    path = folder.parent / "suits.csv"
    words = ["report", str(folder), "--line", line]
    assert main([*words, "--by", "category", "--sort", "ev", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    evs = [row["ev_ip_bb"] for row in found["rows"]]
    assert evs == sorted(evs, reverse=True)
    assert sum(row["share"] for row in found["rows"]) == pytest.approx(1)
    assert main([*words, "--by", "suits", "--csv", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == f"{line}   SB to act, pot 2 bb   3 boards"
    assert out.splitlines()[-1] == f"Table: {path}"
    assert path.read_text().splitlines()[0].startswith("name,boards,weight,share,x,")
    assert main([*words, "--sort", "ev"]) == 2
    assert "--sort is for reports over boards: add --by board" in capsys.readouterr().err
    assert main(["report", str(folder), "--line", "r2.5", "--by", "board"]) == 2
    told = "Error: No flop has been dealt yet. These lines lead to one: 'r2.5 c', "
    assert told in capsys.readouterr().err


def test_results_of_the_whole_hand(capsys: pytest.CaptureFixture[str], game: Path) -> None:
    way = (game, "--line", "r2.5")
    here = json.loads(good(capsys, *way, "--json"))
    hand = json.loads(good(capsys, *way, "--json", "--evs", "hand"))
    assert (here["evs"], hand["evs"]) == ("from here on", "over the whole hand")
    for place, paid in ((0, 1.0), (1, 2.5)):
        whole = hand["players"][place]["ev_bb"]
        assert whole == pytest.approx(here["players"][place]["ev_bb"] - paid)
    assert sum(row["ev_bb"] for row in hand["players"]) == pytest.approx(0, abs=1e-4)
    assert hand["actions"][0]["ev_range_bb"] == pytest.approx(-1)
    assert "EVs in bb from here on: folding is 0." in good(capsys, *way)
    grouped = (game, "--line", "c x | x", "--by", "suits", "--json")
    here = json.loads(good(capsys, *grouped))
    hand = json.loads(good(capsys, *grouped, "--evs", "hand"))
    assert (here["evs"], hand["evs"]) == ("from here on", "over the whole hand")
    for one, other in zip(here["rows"], hand["rows"], strict=True):
        assert other["ev_ip_bb"] == pytest.approx(one["ev_ip_bb"] - 1)
        assert other["eqr_ip"] == pytest.approx(one["eqr_ip"])
