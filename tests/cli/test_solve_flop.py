"""allstreets solve --from: any flop of a whole game, exactly, kept beside the solution."""

import contextlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders.whole_solution import trips, trips_result

from allstreets.cli.main import main
from allstreets.engines import CardModel
from allstreets.games import estimate_saved
from allstreets.solutions import SpotSolution, WholeSolution, flop_spot
from allstreets.solvers import Completion, SpotSolver
from allstreets.storage import (
    find_kept,
    load,
    load_spot,
    new_kept,
    read_spot_manifest,
    save_spot,
    save_unified,
)

LIMPED = ("--line", "c x", "--flop", "7c7d7h")
QUICK = ("--max-iterations", "6", "--target", "0.001%", "--threads", "1")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games") / "trips"
    save_unified(trips(), folder, config={}, name="trips")
    return folder


@pytest.fixture(scope="module")
def solved(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game with one flop kept, as the command left it."""
    folder = tmp_path_factory.mktemp("solved") / "trips"
    shutil.copytree(template, folder)
    assert main(["solve", "--from", str(folder), *LIMPED, *QUICK]) == 0
    return folder


@pytest.fixture
def kept(solved: Path, tmp_path: Path) -> Path:
    """The same, for a test of its own."""
    shutil.copytree(solved, tmp_path / "trips")
    return tmp_path / "trips"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["solve", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_spot_is_the_one_that_its_ranges_make(solved: Path) -> None:
    folder = solved / "spots" / "c-x-7h7d7c"
    found = load_spot(folder)
    solver = SpotSolver(flop_spot(trips_result(), "c x", "7c7d7h").spot, threads=1)
    solver.train_batch(6)
    result = SpotSolution.of(solver)
    assert found.known_evs == result.evs
    assert found.known_evs == pytest.approx(solver.expected_values(), rel=1e-6)
    assert found.spot.board == "7h7d7c"
    assert (found.at("x").decision.strategy == result.at("x").decision.strategy).all()
    assert [path.name for path in (solved / "spots").iterdir()] == ["c-x-7h7d7c"]


def test_a_kept_flop_is_found_in_any_suits(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = read_spot_manifest(kept / "spots" / "c-x-7h7d7c")
    for flop, told in (("7h7d7c", None), ("7s7h7d", "7s7h7d is 7h7d7c there: ")):
        code, out, _ = run(capsys, "--from", str(kept), "--line", "c x", "--flop", flop)
        assert code == 0
        assert out.startswith("Solved already, to ")
        assert "To continue to 0.3 %: the same command with --resume (from its start: " in out
        assert "BB first: x " in out
        assert out.endswith(f"In the browser: allstreets explore {kept}\n")
        assert (told or "Solved already") in out
        assert (" there: " in out) == (told is not None)
    found = figures(capsys, "--from", str(kept), *LIMPED)
    assert found["iterations"] == before["iterations"] == 6
    assert found["origin"] == before["origin"]
    assert found["folder"] == str(kept / "spots" / "c-x-7h7d7c")
    assert read_spot_manifest(kept / "spots" / "c-x-7h7d7c") == before


def test_it_goes_on_where_it_was(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # In other suits, too: the same flop resumes in its first suits.
    more = ("--max-iterations", "9", "--target", "0.001%", "--threads", "1", "--resume")
    found = figures(capsys, "--from", str(kept), "--line", "c x", "--flop", "7s7h7d", *more)
    assert found["iterations"] == 9
    assert found["folder"] == str(kept / "spots" / "c-x-7h7d7c")
    assert found["origin"]["flop"] == "7h7d7c"
    assert [path.name for path in (kept / "spots").iterdir()] == ["c-x-7h7d7c"]


def test_a_flop_that_was_not_trained(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flop = ("--line", "c x", "--flop", "AsAhAd")
    code, out, err = run(capsys, "--from", str(kept), *flop, *QUICK, "--save", "flop")
    assert code == 0
    assert "limped pot, 100 chips are 1 bb; stored in " in err
    assert (
        "The solution stores no play of this flop to compare with: "
        "it was trained on 3 of the 1,755." in out
    )
    assert load_spot(kept / "spots" / "c-x-AsAhAd").origin is not None


def test_the_report_says_where_it_comes_from(
    solved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["report", str(solved / "spots" / "c-x-7h7d7c")]) == 0
    assert "Ranges and pot: line 'c x' of 'trips'" in capsys.readouterr().out


def test_another_folder_is_the_users(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = kept.parent / "mine"
    found = figures(capsys, "--from", str(kept), *LIMPED, *QUICK, "-o", str(mine), "--save", "flop")
    assert (found["folder"], found["iterations"]) == (str(mine), 6)
    assert load_spot(mine).origin == found["origin"]


def test_other_ranges_are_another_spot(kept: Path) -> None:
    spot = flop_spot(trips_result(), "c x", "7c7d7h")
    assert find_kept(kept, spot) is not None
    assert new_kept(kept, spot) == kept / "spots" / "c-x-7h7d7c-2"
    manifest = kept / "spots" / "c-x-7h7d7c" / "manifest.json"
    facts = json.loads(manifest.read_text())
    facts["origin"]["fingerprint"] = "of a solution that was trained on"
    manifest.write_text(json.dumps(facts))  # its checksum fails now: such a spot is no match either
    assert find_kept(kept, spot) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--line", "c x"], "line 'c x': name a flop to solve, such as QsJh2h"),
        (["--flop", "7s7h7d"], "--from needs --line, the betting before the flop: 'c x'"),
        (["--line", "c", "--flop", "7s7h7d"], "it ends before the flop; lines that see one: 'c x'"),
        (["--line", "c x", "--flop", "2c2d2h", "--resume"], "leave --resume out"),
        ([*LIMPED, "--pot", "10"], "--pot has no meaning with --from"),
        ([*LIMPED, "--rake-cap", "10"], "--rake-cap has no meaning with --from"),
        ([*LIMPED, "--target", "many"], "many"),
        (["spot.yaml", *LIMPED], "a spot comes from one of them, leave one out"),
    ],
)
def test_mistakes_are_told_in_a_line(
    solved: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, "--from", str(solved), *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) <= 2


def test_folders_that_will_not_do(solved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spot = solved / "spots" / "c-x-7h7d7c"
    assert "is not a solved whole game" in run(capsys, "--from", str(spot), *LIMPED)[2]
    assert "does not exist" in run(capsys, "--from", str(solved / "none"), *LIMPED)[2]
    assert "add --from DIR" in run(capsys, *LIMPED)[2]


FEW = Completion(CardModel("boards", groups=16, rows=32), 8)


def draft_first(patch: pytest.MonkeyPatch) -> None:
    """As if every flop took long; a draft has few buckets and iterations."""
    patch.setattr("allstreets.jobs.spot.FIRST_ANSWER_SECONDS", 0.0)
    patch.setattr("allstreets.jobs.spot.DRAFT", FEW)


@pytest.fixture(scope="module")
def drafted(template: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A game with a draft of one flop, and what was printed of it; tests may not change it."""
    folder = Path(shutil.copytree(template, tmp_path_factory.mktemp("drafted") / "trips"))
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        draft_first(patch)
        arguments = ("--from", str(folder), *LIMPED, "--draft", "--threads", "1", "--json")
        assert main(["solve", *arguments]) == 0
    return folder, printed.getvalue()


def test_a_draft_answers_first_and_the_exact_solution_replaces_it(
    template: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draft_first(monkeypatch)
    game = Path(shutil.copytree(template, tmp_path / "trips"))
    exact = ("--target", "1%", "--threads", "1")
    code, out, err = run(capsys, "--from", str(game), *LIMPED, *exact)
    assert code == 0
    assert "a draft of it in about " in err
    assert "keeps flop and turn, about " in err
    told = [line for line in err.splitlines() if line.startswith("A draft, within ")]
    assert len(told) == 1
    assert out.startswith("Solved to ")
    kept = read_spot_manifest(game / "spots" / "c-x-7h7d7c")
    assert kept["saved"] == "turn"
    assert kept["origin"]["draft"] is None
    assert "draft" not in kept["config"]
    assert load_spot(game / "spots" / "c-x-7h7d7c").draft is None
    assert [path.name for path in (game / "spots").iterdir()] == ["c-x-7h7d7c"]


def test_a_draft_alone_is_kept(
    drafted: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    game, found = drafted[0], json.loads(drafted[1])
    assert (found["iterations"], found["origin"]["draft"]) == (8, found["draft"])
    spot = load_spot(game / "spots" / "c-x-7h7d7c")
    assert spot.draft == FEW.model
    assert 100 * spot.exploitability == found["exploitability_pct"]
    assert spot.accuracy_text.startswith("a draft, within ")
    assert spot.at("x x | 2c |").decision.strategy.shape[0] > 1  # solved when it is opened
    # As a part of its game.
    whole = load(game, WholeSolution)
    assert whole.source(whole.read("c x | 7h7d7c | x")).startswith("a draft, within ")
    decision = whole.at("c x | 7h7d7c | x").decision
    assert (decision.strategy == spot.at("x").decision.strategy).all()
    code, out, _ = run(capsys, "--from", str(game), *LIMPED, "--draft")
    assert code == 0
    assert out.startswith("Drafted already, within ")
    assert "To solve it exactly: the same command without --draft." in out


def test_a_better_draft_stays(
    drafted: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draft_first(monkeypatch)
    game = Path(shutil.copytree(drafted[0], tmp_path / "trips"))
    short = ("--max-iterations", "1", "--target", "0.001%", "--threads", "1")
    code, out, err = run(capsys, "--from", str(game), *LIMPED, *short)
    assert code == 0
    assert "A draft" not in err  # there is one
    assert "The earlier solution is better, and kept: a draft, within " in out
    kept = load_spot(game / "spots" / "c-x-7h7d7c")
    assert kept.draft is not None
    assert kept.exploitability < 0.5


def test_drafts_are_of_flops(capsys: pytest.CaptureFixture[str]) -> None:
    spots = Path(__file__).parents[2] / "sample_spots"
    code, _, err = run(capsys, str(spots / "river.yaml"), "--draft")
    assert (code, err.startswith("Error: only flops are drafted")) == (2, True)
    code, _, err = run(
        capsys, str(spots / "river.yaml"), str(spots / "turn.yaml"), "--draft", "-o", "never"
    )
    assert (code, err.startswith("Error: --draft is for one flop")) == (2, True)


@pytest.mark.parametrize("saved", ["flop", "turn", "full"])
def test_the_size_of_a_bundle_is_said_before(template: Path, tmp_path: Path, saved: Any) -> None:
    spot = flop_spot(load(template, WholeSolution), "c x", "7c7d7h").spot
    solver = SpotSolver(spot, threads=1)
    save_spot(solver, tmp_path / "spot", saved, exploitability=1.0)
    size = sum(path.stat().st_size for path in (tmp_path / "spot").iterdir())
    assert estimate_saved(spot, "float32", saved) == pytest.approx(size, rel=0.1)
