"""allstreets lock: from a question to its answer in one command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders.small_games import solve_limped
from builders.small_spots import RIVER, spot

from allstreets.analysis import LockRequest, difference
from allstreets.cli.main import main
from allstreets.games import Bound, Lock
from allstreets.jobs.lock import HOLDS, TOO_FAR
from allstreets.solutions.format import percent_text
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, load_unified, read_manifest, read_spot_manifest, save_spot


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
    assert locked.at("").decision.taken[1] == pytest.approx(1)
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
    assert places[0]["actions"][1]["asked"] == "60%"
    assert run(solved, "--line", "x", "--at-most", "b50%=10%", "--json") == 0
    (place,) = json.loads(capsys.readouterr().out)["difference"]["places"]
    assert place["actions"][1]["frequency_after"] == pytest.approx(0.1, abs=0.01)
    assert place["moved"].startswith("Moved, mostly to check: ")


def test_a_frequency_holds_for_the_hands_that_get_there(
    solved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """OOP checks other hands once he folds so often: it takes rounds until the lock holds."""
    words = ["--line", "x b50%", "--at-least", "fold=65%", "--output", str(tmp_path / "folds")]
    assert run(solved, *words) == 0
    shown = capsys.readouterr()
    assert "round 2 of at most" in shown.err
    locked, before = load_spot(tmp_path / "folds").at("x b50%").decision, load_spot(solved)
    assert locked.taken[0] == pytest.approx(0.65, abs=0.003)
    assert f"asked at least 65 %, holds {percent_text(locked.taken[0])}" in shown.out
    assert "Moved, mostly to fold: " in shown.out
    assert locked.hand("AA").frequencies["f"] == 0  # other hands lose less by it

    # With the range that got there before, his first decision stays as it is.
    words = ["--line", "x b50%", "--at-least", "fold=65%", "--same-range"]
    assert run(solved, *words, "--output", str(tmp_path / "same")) == 0
    same = load_spot(tmp_path / "same")
    assert [lock.line for lock in same.locks] == ["", "x b50"]
    np.testing.assert_allclose(
        same.at("").decision.strategy, before.at("").decision.strategy, atol=1e-6
    )
    assert same.at("x b50%").decision.taken[0] == pytest.approx(0.65, abs=0.003)


def test_a_later_round_is_resumed_with_its_locks(solved: Path, tmp_path: Path) -> None:
    words = ["lock", str(solved), "--line", "x b50%", "--at-least", "fold=65%", "--threads", "1"]
    words += ["--target", "0.01%", "--output", str(tmp_path / "folds")]
    assert main([*words, "--max-iterations", "40"]) == 0
    first = load_spot(tmp_path / "folds")
    alone = LockRequest.often("x b50%", {"fold": ">=65%"}).of_spot(load_spot(solved))
    assert first.locks != alone
    assert main([*words, "--max-iterations", "60", "--resume"]) == 0
    again = load_spot(tmp_path / "folds")
    assert again.iterations >= 60
    assert 0.65 - HOLDS <= again.at("x b50%").decision.taken[0] <= 0.65 + TOO_FAR


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


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return solve_limped(tmp_path_factory.mktemp("game"), ["KsKhKd", "9s7s2s"])


def test_a_whole_game_is_locked_on_every_flop(
    game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it was trained before; certified as the game that it is now."""
    output = tmp_path / "bets"
    words = ["--line", "c x | * | x", "--always", "a", "--output", str(output)]
    assert main(["lock", str(game), *words]) == 0
    text = capsys.readouterr().out
    assert "At 'c x | * | x', pot 2 bb, SB to act" in text
    assert "Given, not solved: strategies are locked at 'c x | * | x'." in text
    before = {"folder": str(game), "line": "c x | * | x"}
    assert read_manifest(output, "unified")["before"] == before
    locked = load_unified(output)
    assert locked.at("c x | x", "9s7s2s").decision.taken.tolist() == pytest.approx([0, 1])
    assert locked.facts.config["epochs"] == 10 * load_unified(game).facts.config["epochs"]
    assert main(["certify", str(output), "--flops", "own", "--threads", "1", "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert 0 <= judged["real_exploitability_mbb"] < 1000

    # One more lock, by frequencies: before the flop by hand, on the flop as the solution plays.
    file = tmp_path / "seen.csv"
    file.write_text("node,action,frequency\n,fold,70%\nc x | * |,x,>=95%\n")
    again = ["lock", str(output), "--locks", str(file), "--max-iterations", "3", "--json"]
    assert main([*again, "--output", str(tmp_path / "more")]) == 0
    places = json.loads(capsys.readouterr().out)["difference"]["places"]
    assert [place["line"] for place in places] == ["", "c x | *"]
    assert places[0]["actions"][0]["frequency_after"] == pytest.approx(0.7, abs=1e-4)
    first, *rest = load_unified(tmp_path / "more").locks
    assert first == Lock("c x | * | x", strategy={"a": 1.0})
    assert replace(rest[1], aim={}) == Lock(
        "c x | *", frequencies={"x": ">=95%"}, solution=str(output)
    )
    assert main(["certify", str(tmp_path / "more")]) == 2
    assert "evaluate only these, with --flops own" in capsys.readouterr().err


def test_the_table_says_what_was_asked_for_and_what_it_came_to(
    game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The big blind checks other hands once the small blind bets most of the time."""
    often = ["--line", "c x | * | x", "--at-least", "all-in=80%"]
    assert main(["lock", str(game), *often, "--output", str(tmp_path / "often")]) == 0
    after = load_unified(tmp_path / "often")
    change = difference(load_unified(game), after, ["c x | x"]).places[0].actions[1]
    assert change.asked is not None  # the lock names it
    assert change.frequency[1] > 0.7975
    assert change.asked_text == f"asked at least 80 %, holds {percent_text(change.frequency[1])}"
    shown = capsys.readouterr()
    assert f"\n  {change.asked_text}\n" in shown.out
    assert "round 2 of at most" in shown.err
    assert "Moved, mostly to all-in 1 bb (50 %): " in shown.out
    (lock,) = after.locks
    assert (
        lock.aim["all-in"] != lock.frequencies["all-in"]
    )  # once he bets more, other hands are checked
    (again,) = LockRequest(bounds=(change.asked,)).of_game(load_unified(game), str(game), after)
    aim, last, met = (
        Bound.read("", "a", text, "").least
        for text in (again.aim["all-in"], lock.aim["all-in"], f"{100 * change.frequency[1]}%")
    )
    assert aim == pytest.approx(last + 0.8 - met, abs=1e-6)
    missed = replace(change, frequency=(0.3, 0.71)).asked_text
    assert (
        missed
        == "asked at least 80 %, 71.0 % after re-solving (the range that gets there has changed)"
    )

    free = ["--line", "c x | * | x", "--at-least", "all-in=1%", "--max-iterations", "3"]
    assert main(["lock", str(game), *free, "--output", str(tmp_path / "met")]) == 0
    assert "No hand had to move: " in capsys.readouterr().out

    # Every hand gets to the first decision: there it is just as often.
    often = ["--line", "", "--exactly", "fold=70%", "--output", str(tmp_path / "folds")]
    assert main(["lock", str(game), *often]) == 0
    assert "\n  asked 70 %, holds 70.0 %\n" in capsys.readouterr().out
    bounds = LockRequest.often("", {"f": "<=0.7"}).bounds
    after = load_unified(tmp_path / "folds")
    (place,) = difference(load_unified(game), after, [""], bounds).mapping()["places"]
    fold, *others = place["actions"]
    assert fold["asked"] == "<=70%"
    assert fold["frequency_after"] == pytest.approx(0.7, rel=1e-7)  # kept in 32 bits
    assert all("asked" not in one for one in others)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--line", "c x | KsKhKd | x", "--always", "a"], "holds on every flop: write '| * |'"),
        (["--line", "c x | x x | x", "--hands", "AA=a"], "some hands are on the flop"),
        (["--line", "c x | x", "--hands", "AA=a"], "with classes lock all hands of a decision"),
        (["--line", "r9", "--always", "f"], "'r9' is not"),
        (["--always", "f", "--resume"], "--resume needs --output"),
        (["--always", "f", "--target", "much"], "exploitability_threshold"),
    ],
)
def test_what_is_wrong_with_a_lock_of_a_game(
    game: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock", str(game), *words]) == 2
    assert message in capsys.readouterr().err
