"""The file of results, and what comes back."""

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from builders.explorer_solutions import folder
from builders.practice_answers import answer

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.solutions import Solution
from allstreets.study import (
    DAYS,
    HANDS,
    Hand,
    Option,
    PlayedOn,
    Results,
    Session,
    StoredAnswer,
    Wanted,
    answer_rows,
    default_file,
    export,
    grouped,
    load_playable,
    summarise,
)
from allstreets.study.results import VERSION

DAY = 86_400.0


class Clock:
    """A time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def river() -> Solution:
    return load_playable(folder("river"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "practice.sqlite"


def worst(hand: Hand) -> int:
    """The action that loses most."""
    assert hand.question is not None
    here, combo = hand.question.decision, hand.deal.combos[hand.player]
    return int(here.evaluate().actions[:, here.combos.tolist().index(combo)].argmin())


def best(hand: Hand) -> int:
    """The action that loses nothing."""
    assert hand.question is not None
    here, combo = hand.question.decision, hand.deal.combos[hand.player]
    return int(here.evaluate().actions[:, here.combos.tolist().index(combo)].argmax())


def test_decisions_are_kept(file: Path) -> None:
    results = Results(file)
    first = results.keep(answer(), 10.0)
    results.keep(answer(None, note="why", taken="x"), 11.0, first)
    second = results.keep(answer(0.0, street="turn"), DAY, None)
    assert second != first
    again = Results(file)
    assert [one.answer for one in again.answers()] == [
        answer(),
        answer(None, note="why", taken="x"),
        answer(0.0, street="turn"),
    ]
    assert [one.at for one in again.answers()] == [10.0, 11.0, DAY]
    assert again.counts() == (2, 1)  # hands, and what comes back


def test_results_of_one_solution(file: Path) -> None:
    results = Results(file)
    river: dict[str, Any] = {"folder": "/games/river", "solution": "a river"}
    first = results.keep(answer(), 10.0)
    results.keep(answer(0.0, cards="7c2d"), 11.0, first)
    results.keep(answer(**river), 12.0)
    results.keep(answer(0.0, **{**river, "solution": "my river"}), 13.0)  # it was named meanwhile
    game = Path("/games/game")
    assert results.solutions() == [
        PlayedOn(Path("/games/river"), "my river", hands=2, waiting=1),
        PlayedOn(game, "game", hands=1, waiting=1),
    ]
    assert [one.at for one in results.answers(game)] == [10.0, 11.0]
    assert [one.at for one in results.answers(Path("/games/river"))] == [12.0, 13.0]
    assert results.answers(Path("/games")) == []
    assert len(results.answers()) == 4


def test_boxes(file: Path) -> None:
    """After some hands, then after 1, 3, 7 and 21 days; missed again, from the start."""
    results, where = Results(file), Path("/games/game")
    now = 1000.0
    results.keep(answer(), now)
    assert results.due(where, now) == []
    for _ in range(HANDS):
        results.keep(answer(0.0, cards="7c2d"), now)
    (back,) = results.due(where, now)
    assert (back.line, back.cards, back.player) == ("r2.5 c | Qs7h4d", "AhKh", "oop")
    assert results.due(Path("/games/other"), now) == []
    for days in DAYS:
        results.keep(answer(0.0, repeated=True), now)
        assert results.due(where, now + days * DAY - 1) == []
        now += days * DAY
        assert [one.cards for one in results.due(where, now)] == ["AhKh"]
    results.keep(answer(0.0, repeated=True), now)  # learned
    assert results.due(where, now + 1000 * DAY) == []
    results.keep(answer(), now)
    for _ in range(HANDS):
        results.keep(answer(0.0, cards="7c2d"), now)
    results.keep(answer(0.0, repeated=True), now)
    now += DAY
    results.keep(answer(repeated=True), now)
    assert results.counts()[1] == 1
    assert results.due(where, now + DAY) == []
    for _ in range(HANDS):
        results.keep(answer(0.0, cards="7c2d"), now)
    assert [one.due.box for one in results.due(where, now)] == [0]


def test_what_was_missed_comes_back(river: Solution, file: Path) -> None:
    clock, results = Clock(), Results(file)
    session = Session(river, Player.OOP, Wanted(), 3, results, clock)
    hand = session.deal()
    asked = hand.question
    assert asked is not None
    missed = session.answer(worst(hand))
    assert missed.missed
    while hand.question is not None:
        session.answer(best(hand))
    for _ in range(HANDS - 1):
        hand = session.deal()
        assert not hand.repeated
        while hand.question is not None:
            session.answer(best(hand))
    # The rest of the hands may be another session's.
    session = Session(river, None, Wanted(), 4, results, clock)
    hand = session.deal()
    while hand.question is not None:
        session.answer(best(hand))
    other = Session(river, Player.IP, Wanted(), 5, results, clock)
    assert not other.deal().repeated  # of the other seat
    hand = session.deal()
    assert hand.repeated
    assert hand.question is not None
    assert (hand.question.node.line, hand.question.cards) == (asked.node.line, asked.cards)
    label = dict(zip(asked.actions, asked.labels, strict=True))[missed.taken]
    assert session.hint() == f"Last time you took {label}, which lost {missed.loss_bb:.3f} bb."
    kept = session.answer(best(hand))
    assert session.hint() == ""
    assert kept.repeated
    assert kept.loss_bb == 0.0
    assert not session.deal().repeated
    clock.now += DAY
    assert session.deal().repeated


def test_a_solution_that_has_changed(river: Solution, file: Path) -> None:
    """Repetitions that the solution no longer has are dropped, and practice continues."""
    results = Results(file)
    assert river.folder is not None
    here: dict[str, Any] = {"folder": str(river.folder), "street": "river", "board": "Ks7d4c9h2s"}
    results.keep(answer(line="x b33", **here), 0.0)
    for _ in range(HANDS):
        results.keep(answer(0.0, cards="7c2d"), 0.0)
    assert len(results.due(river.folder, 1.0)) == 1
    assert not Session(river, None, Wanted(), 1, results).deal().repeated
    assert results.counts()[1] == 0


def test_summaries(file: Path) -> None:
    results = Results(file)
    given = [
        (answer(0.5), 0.0),
        (answer(0.4, cards="AsKs"), 1.0),
        (answer(0.01, taken="x"), 3 * DAY),
        (answer(2.0, street="river", options=(Option("f", 1.0, 0.0), Option("c", 0.0, -2.0))), 1.0),
        (answer(None), 2.0),
    ]
    for one, at in given:
        results.keep(one, at)
    total = summarise(one for one, _ in given)
    assert (total.decisions, total.graded, total.right) == (5, 4, 1)
    assert total.score == 0.25
    assert total.loss_per_100 == pytest.approx(100 * 2.91 / 4)
    assert [(leak.text, leak.times) for leak in total.leaks] == [
        ("river, raised pot: bet instead of fold", 1),
        ("flop, raised pot: bet instead of check", 2),
    ]
    assert [one.loss_bb for one in total.worst] == [2.0, 0.5, 0.4]
    mixed = (Option("x", 0.9, 2.0), Option("b50%", 0.1, 1.5))
    assert not answer(0.5, options=mixed).missed  # the solution does the same, often enough
    close = (Option("f", 0.0, 1.5), Option("x", 0.79, 2.0), Option("a", 0.21, 2.001))
    assert answer(0.501, options=close, taken="f").best_action == "x"  # as good, and its main one
    third = (*mixed, Option("a", 0.0, 1.6))
    assert not answer(0.4, options=third, taken="a").missed  # better than what it does itself
    assert answer(0.7, options=(*mixed, Option("a", 0.0, 1.3)), taken="a").missed
    assert answer().words == "SB raises to 2.5, BB calls; flop Qs7h4d"
    river = answer(seat="OOP", street="river", pot_kind="spot", line="x b33 c | 7h | x")
    assert river.words == "OOP checks, IP bets 33, OOP calls; river 7h: OOP checks"
    days = grouped(results.answers(), "day")
    assert [figures.decisions for _, figures in days] == [4, 1]
    assert summarise([]).score is None


def test_export(file: Path, tmp_path: Path) -> None:
    stored = [StoredAnswer(0.0, answer()), StoredAnswer(1.0, answer(None))]
    export(stored, tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert [row["loss_bb"] for row in rows] == ["0.5", ""]
    assert rows[0]["options"] == "x=1.000:2.0000 b50%=0.000:1.5000"
    export(stored, tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text()) == answer_rows(stored)
    assert answer_rows(stored)[0]["best"] == "x"
    with pytest.raises(InputError, match=r"\.csv or \.json"):
        export(stored, file)


def test_files_that_are_something_else(file: Path, tmp_path: Path) -> None:
    results = Results(file)
    results.keep(answer(), 0.0)
    with sqlite3.connect(file) as db:
        db.execute(f"pragma user_version = {VERSION + 1}")
    db.close()
    before = file.read_bytes()
    for touch in (lambda: Results(file), lambda: results.keep(answer(), 1.0), results.delete):
        with pytest.raises(InputError, match="later version"):
            touch()
    assert file.read_bytes() == before
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("create table mine (x)")
    db.close()
    with pytest.raises(InputError, match="another program"):
        Results(other)
    text = tmp_path / "notes.txt"
    text.write_text("my notes, and more of them" * 50)
    with pytest.raises(InputError, match="damaged, or not a file of results"):
        Results(text)
    assert text.read_text().startswith("my notes")
    with pytest.raises(InputError, match="cannot be"):
        Results(text / "below" / "practice.sqlite")


def test_deleting(file: Path) -> None:
    results = Results(file)
    results.keep(answer(), 0.0)
    results.delete()
    assert not file.exists()
    assert Results(file).answers() == []


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ALLSTREETS_PRACTICE", str(tmp_path / "mine.sqlite"))
    assert default_file() == tmp_path / "mine.sqlite"
    monkeypatch.delenv("ALLSTREETS_PRACTICE")
    assert default_file().name == "practice.sqlite"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("answers set cards = 'AhAh'", "Ah"),
        ("answers set street = 'fifth'", "street"),
        ("answers set taken = 7", "taken"),
        ("answers set at = 1e300", "at"),
        ("hands set player = 'x'", "player"),
    ],
)
def test_a_damaged_row_is_named_and_left_as_it_is(change: str, named: str, file: Path) -> None:
    results = Results(file)
    results.keep(answer(), 0.0)
    with sqlite3.connect(file) as db:
        db.execute(f"update {change}")
    db.close()
    before = file.read_bytes()
    with pytest.raises(InputError, match=rf"is damaged \(.*{named}.*\): move it away") as error:
        results.answers()
    assert "\n" not in str(error.value)
    assert file.read_bytes() == before
