"""`allstreets practice` as it is typed, its keys piped in or pressed on a terminal."""

import csv
import io
import json
import os
import re
import sqlite3
import sys
import zipfile
from pathlib import Path

import pytest
from builders.explorer_solutions import folder
from builders.spot_sets import put_set
from harness.terminals import needs_terminals

from allstreets.betting import action_in_words
from allstreets.cli.main import main
from allstreets.cli.terminal.streams import key_reader
from allstreets.study import Results


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "practice.sqlite"


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> "Keys":
    return Keys(monkeypatch)


class Keys:
    """The player's keys."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def press(self, keys: str) -> None:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(keys))


def run(file: Path, *words: str | Path) -> int:
    return main(["practice", *map(str, words), "--file", str(file)])


def test_hands_are_played(file: Path, keys: Keys, capsys: pytest.CaptureFixture[str]) -> None:
    keys.press("1\n1\n2 9 1x" + "1" * 40)
    assert run(file, folder("river"), "--hands", "5", "--seed", "2", "--seat", "oop") == 0
    text = capsys.readouterr().out
    stored = Results(file).answers()
    assert text.count("─── hand") == 5
    assert text.count("You: ") == len(stored) >= 5
    for one in stored:
        assert f"You are OOP with {one.answer.cards}" in text
        assert re.search(rf"► .*{100 * (one.answer.frequency or 0):.1f} %", text)
        assert one.answer.seed == 2
        if one.answer.missed:
            word = action_in_words(one.answer.taken)
            assert re.search(rf"You: {word}.*, {one.answer.loss_bb:.3f} bb lost. Best: ", text)
    assert re.search(r"IP \w+.*, drew 0\.\d{3} \(", text)
    assert "A    K    Q    J    T" in text  # the grid
    assert f"{len(stored)} decisions" in text
    assert f"Kept in {file}" in text


def test_keys_that_stand_for_nothing(
    file: Path, keys: Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.press("z9x q")
    assert run(file, folder("river"), "--no-grid", "--seed", "2", "--seat", "oop") == 0
    text = capsys.readouterr().out
    assert "z: press 1 to 3" in text
    assert "9: press 1 to 3" in text
    assert "A    K    Q" not in text
    assert len(Results(file).answers()) == 1


def test_the_end_of_the_keys(file: Path, keys: Keys, capsys: pytest.CaptureFixture[str]) -> None:
    keys.press("")
    assert run(file, folder("river"), "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["hands"], shown["decisions"], shown["score"]) == (0, 0, None)


def test_what_is_kept(
    file: Path, tmp_path: Path, keys: Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.press("3" * 30)  # all-in, wherever it is the third
    assert run(file, folder("river"), "--hands", "6", "--seed", "1", "--seat", "oop") == 0
    capsys.readouterr()
    assert run(file, "--stats", "--export", tmp_path / "out.csv", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    with (tmp_path / "out.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert shown["decisions"] == len(rows) == 6
    assert shown["loss_bb"] == pytest.approx(sum(float(row["loss_bb"]) for row in rows))
    assert [row["name"] for row in shown["by_street"]] == ["river"]
    keys.press("n")
    assert run(file, "--delete") != 0
    assert len(Results(file).answers()) == 6
    keys.press("y")
    assert run(file, "--delete") == 0
    assert not file.exists()
    assert run(file, "--stats") == 0
    assert "No decision was graded." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name a solution"),
        (("--street", "flop", "river"), "stores no decisions on the flop"),
        (("--seat", "utg", "river"), "is not a seat"),
        (("--line", "x b33", "river"), "b33"),
        (("--export", "out.xls"), ".csv or .json"),
    ],
)
def test_errors(
    words: tuple[str, ...], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [folder(word) if word == "river" else word for word in words]
    assert run(file, *given) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert message in error
    assert error.count("\n") <= 2


def test_a_set_of_spots_is_played_spot_by_spot(
    file: Path, tmp_path: Path, keys: Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = put_set(tmp_path / "turns", {"turn": {"Ks7d4c9h": 0.1, "KsTd4c9h": 0.3}})
    assert run(file, turns) == 2
    error = capsys.readouterr().err
    assert f"practise with one of them, {turns / 'turn-Ks7d4c9h'}" in " ".join(error.split())
    keys.press("q")
    assert run(file, turns / "turn-Ks7d4c9h") == 0


def test_anki_is_an_extra(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("allstreets.study.anki.find_spec", lambda _: None)
    assert run(file, "--anki", tmp_path / "cards.apkg") == 2
    assert "pip install 'allstreets[anki]'" in capsys.readouterr().err


def test_anki(file: Path, tmp_path: Path, keys: Keys, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is what Anki opens: a zip with a SQLite collection."""
    pytest.importorskip("genanki")
    cards = tmp_path / "cards.apkg"
    assert run(file, "--anki", cards) == 2
    assert "no missed decision matches" in capsys.readouterr().err
    keys.press("3" * 30)
    assert run(file, folder("river"), "--hands", "6", "--seed", "1", "--seat", "oop") == 0
    missed = [one.answer for one in Results(file).answers() if one.answer.missed]
    assert missed
    for _ in range(2):  # written again, it is the same cards
        assert run(file, "--anki", cards) == 0
    with zipfile.ZipFile(cards) as packed:
        packed.extract("collection.anki2", tmp_path)
    with sqlite3.connect(tmp_path / "collection.anki2") as db:
        notes = db.execute("select guid, flds, tags from notes").fetchall()
        assert db.execute("select count(*) from cards").fetchone() == (len(missed),)
    db.close()
    assert len({guid for guid, _, _ in notes}) == len(missed)
    for one, (_, text, tags) in zip(missed, notes, strict=True):
        front, back = text.split("\x1f")
        assert f"{one.cards[0]}{'♣♦♥♠'['cdhs'.index(one.cards[1])]}" in front
        assert f"pot {one.pot_bb:g} bb" in front
        assert one.best is not None
        assert f"class=best><td>{action_in_words(one.best.action)}</td>" in back
        assert "river" in tags.split()


@needs_terminals
def test_keys_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key counts when it is pressed, without Enter, and the terminal is left as it was."""
    import termios

    main_side, side = os.openpty()
    before = termios.tcgetattr(side)
    with os.fdopen(side, "r", buffering=1) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with key_reader() as read_key:
            assert not termios.tcgetattr(side)[3] & termios.ICANON
            os.write(main_side, b"x2")
            assert [read_key(), read_key()] == ["x", "2"]
        assert termios.tcgetattr(side) == before
    os.close(main_side)
