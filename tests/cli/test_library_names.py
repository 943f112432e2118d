"""A name of the library stands wherever a command takes the folder of a solution."""

import io
import json
import re
import sys
import warnings
from pathlib import Path

import pytest
from builders.whole_solution import trips

from allstreets.cli.main import main
from allstreets.storage import (
    library,
    load_unified,
    save_compact,
    save_unified,
    write_pack,
)
from allstreets.storage.packs import LIBRARY

PACK = LIBRARY / "push-fold.zip"
LIMPED = """PokerStars Hand #{number}: Hold'em No Limit ($0.50/$1.00 USD) - 2020/01/01 12:00:00 ET
Table 'A' 2-max Seat #1 is the button
Seat 1: Ann (${stack} in chips)
Seat 2: Bob (${stack} in chips)
{antes}Ann: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Dealt to Ann [{cards}]
Ann: {action}
*** SUMMARY ***


"""


@pytest.fixture(autouse=True)
def _copies_of_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLSTREETS_LIBRARY", str(tmp_path / "cache" / "library"))
    monkeypatch.chdir(tmp_path)


def shown(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(list(words)) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_reports_and_comparisons(capsys: pytest.CaptureFixture[str]) -> None:
    by_name = shown(capsys, "report", "pf-10bb", "--line", "a", "--format", "csv")
    assert by_name == shown(
        capsys, "report", str(PACK / "pf-10bb"), "--line", "a", "--format", "csv"
    )
    told = shown(capsys, "report", "pf-10bb")
    assert "best response with the whole deck, and no flop is seen" in told
    assert "--flops" not in told
    same = json.loads(shown(capsys, "compare", "pf-10bb", str(PACK / "pf-10bb"), "--json"))
    assert same["distance"] == 0


def test_a_name_that_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, "report", "pf-10b", code=2)
    assert "pf-10b is neither a folder nor a ready-made solution; similar names: pf-10bb" in told
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["report", "pf-10.2bb"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("pf-10bb\n")
    assert "this is pf-10bb, the nearest stack, 0.2 bb shallower (-2%)" in captured.err


def test_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(capsys, "export", "pf-5bb", "ranges")
    assert (tmp_path / "ranges/README.txt").exists()


def test_a_flop_is_solved_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save_unified(trips(), tmp_path / "trips", config={}, name="trips-3bb")
    save_compact(load_unified(tmp_path / "trips"), tmp_path / "compact", "trips-3bb")
    write_pack(tmp_path / "shelf/t.zip", {"trips-3bb": tmp_path / "compact"}, {"trips-3bb": ""})
    monkeypatch.setattr("allstreets.storage.packs.LIBRARY", tmp_path / "shelf")
    flop = ["solve", "--from", "trips-3bb", "--line", "c x", "--flop", "7c7d7h", "--threads", "1"]
    shown(capsys, *flop, "--max-iterations", "6", "--target", "0.001%")
    told = shown(capsys, *flop)
    assert "Solved already" in told
    assert "allstreets explore trips-3bb" in told
    report = ["report", "trips-3bb", "--line", "c x | 7c7d7h |", "--json"]
    assert json.loads(shown(capsys, *report))["player"] == "BB"


def test_locks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = ["lock", "pf-10bb", "--line", "a", "--always", "call", "--output", "locked", "--json"]
    figures = json.loads(shown(capsys, *lock))
    assert figures["exploitability_mbb"] < 0.1
    assert (tmp_path / "locked/manifest.json").exists()


def test_practice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1" * 20))
    kept = str(tmp_path / "answers.sqlite")
    practice = ["practice", "pf-10bb", "--file", kept]
    shown(capsys, *practice, "--hands", "4", "--seed", "1", "--no-grid")
    stats = json.loads(shown(capsys, *practice, "--stats", "--json"))
    assert stats["decisions"] > 0
    others = json.loads(shown(capsys, "practice", "pf-8bb", "--file", kept, "--stats", "--json"))
    assert others["decisions"] == 0


def test_certificates(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, "certify", "pf-10bb", code=2)
    assert "pf-10bb is a ready-made solution" in told
    assert "--output DIR" in told
    found = json.loads(shown(capsys, "certify", "pf-10bb", "--output", "mine", "--json"))
    ships = library()["pf-10bb"].certificate
    assert ships is not None
    assert found["real_exploitability_mbb"] == pytest.approx(
        ships.real_exploitability_mbb, rel=1e-6
    )
    # Again, it is there; another one does not overwrite it.
    shown(capsys, "certify", "pf-10bb", "--output", "mine")
    told = shown(capsys, "certify", "pf-8bb", "--output", "mine", code=2)
    assert "mine contains another solution" in told


def test_reviews(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each hand is graded by the game that is nearest, and a limp by none that has no limp."""
    antes = "Ann: posts the ante $0.125\nBob: posts the ante $0.125\n"
    folds = "folds\nUncalled bet ($0.50) returned to Bob\nBob collected $1 from pot"
    raises = "raises $1 to $2\nBob: folds\nUncalled bet ($1) returned to Ann\n"
    raises += "Ann collected $2 from pot"
    hands = [("9.9", "", "9s 9d", folds), ("8", antes, "Qs 9d", folds), ("8", "", "As Ad", raises)]
    (tmp_path / "hands.txt").write_text(
        "".join(
            LIMPED.format(number=number, stack=stack, antes=ante, cards=cards, action=action)
            for number, (stack, ante, cards, action) in enumerate(hands)
        )
    )
    review = json.loads(
        shown(capsys, "review", "hands.txt", "--solutions", "library", "--output", "k", "--json")
    )
    assert [each["solution"] for each in review["hands"]] == [
        *("hu-10bb", "pf-ante-8bb", "hu-10bb")
    ]
    decisions = [each["decisions"][0] for each in review["hands"]]
    assert [each["loss_bb"] is None for each in decisions] == [False, False, False]
    one = ["review", "hands.txt", "--solutions", "pf-8bb", "--output", "one", "--json"]
    alone = json.loads(shown(capsys, *one))["hands"]
    assert {each["solution"] for each in alone} == {"pf-8bb"}
    raised = alone[2]["decisions"][0]
    assert raised["loss_bb"] is None
    assert re.search("push or fold, and has no 'r2'", raised["note"])


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(shown(capsys, "library", "--json"))["solutions"]
    ten = next(row for row in rows if row["name"] == "pf-ante-10bb")
    assert ten["format"] == "Push or fold with an ante of 0.125 bb from each player"
    assert ten["stack_bb"] == 10
    assert ten["interval_mbb"][0] <= ten["real_exploitability_mbb"] <= ten["interval_mbb"][1]
    short, every = (shown(capsys, "library", *flags).splitlines() for flags in ((), ("--all",)))
    assert [line for line in short if line.startswith("pf-1bb … pf-20bb ")]
    assert len(every) == 1 + len(rows) > len(short)  # a heading, and a line for each game
