"""Damaged files of results, labels, reviews and deleted folders: clean errors, nothing written."""

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from builders.explorer_solutions import folder
from builders.practice_answers import answer
from harness.fuzzing import NASTY, damaged_cases, internal_errors

from allstreets.base import InputError
from allstreets.explorer.practising import Practised
from allstreets.solutions import Solution
from allstreets.study import (
    Results,
    Session,
    Wanted,
    anki_package,
    chosen,
    export_text,
    load_playable,
    stats_mapping,
)

QUICK, LONG = 200, 10_000
NOW = 1_700_000_000.0
COLUMNS = {
    "hands": ("at", "solution", "folder", "seed", "hand", "seat", "player"),
    "answers": (
        *("in_hand", "at", "street", "pot_kind", "line", "board", "cards", "pot_bb"),
        *("to_call_bb", "taken", "options", "loss_bb", "note", "repeated"),
    ),
    "repeats": (
        *("folder", "player", "line", "cards", "street", "pot_kind", "board"),
        *("box", "due_at", "due_hands"),
    ),
}
VALUES: tuple[object, ...] = (
    "",
    "x",
    "\0",
    "[" * 5000,
    '[{"action": "x", "frequency": "often", "ev_bb": []}]',
    '[{"action": "", "frequency": 1.0, "ev_bb": null}]',
    '[{"action": "x", "frequency": 1e400, "ev_bb": NaN}]',
    "{}",
    "null",
    "AhAh",
    "AhKh",
    "flop",
    "OOP",
    "\x1b[31m",
    "é" * 300,
    0,
    -1,
    5,
    2**62,
    -1e300,
    1e300,
    float("inf"),
    0.5,
    b"\xff\xfe",
    b"",
    *NASTY,
)


@pytest.fixture(scope="module")
def river() -> Solution:
    return load_playable(folder("river"))


@pytest.fixture(scope="module")
def valid(river: Solution, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of results with hands, answers, and decisions that come back now."""
    path = tmp_path_factory.mktemp("practice") / "results.sqlite"
    results = Results(path)
    session = Session(river, seed=1, results=results, clock=lambda: NOW - 1e6)
    for _ in range(8):
        hand = session.deal()
        while hand.question is not None:
            session.answer(len(hand.question.actions) - 1)
    for place, loss in enumerate((0.5, None, 0.0, 2.0)):
        results.keep(answer(loss, line=f"r2.5 c | Qs7h4d | x{'x' * place}"), NOW - 1e6)
    return path.read_bytes()


def use(path: Path, river: Solution) -> None:
    """Everything that reads results, or continues from them."""
    results = Results(path)
    stored = results.answers()
    json.dumps(stats_mapping(stored), allow_nan=False)
    for form in ("csv", "json"):
        export_text(stored, form)
    chosen(stored, Wanted.parse(streets=["flop"], suits=["rainbow"]))
    missed = chosen(stored, Wanted())
    if missed:
        anki_package(missed)
    results.counts()
    Practised(path).results().model_dump_json().encode()
    for one in results.solutions():
        results.answers(one.folder)
    assert river.folder is not None
    results.due(river.folder, NOW)


def go_on(path: Path, river: Solution) -> None:
    """Play a hand, which writes to the file."""
    session = Session(river, seed=2, results=Results(path), clock=lambda: NOW)
    hand = session.deal()
    while hand.question is not None:
        session.answer(0)


def reader(path: Path, river: Solution) -> Callable[[bytes], None]:
    """Reads a file with these bytes; what only reads it must leave it as it is."""

    def read(data: bytes) -> None:
        path.write_bytes(data)
        try:
            use(path, river)
        finally:
            assert path.read_bytes() == data or not data
        go_on(path, river)

    return read


def damaged_rows(valid: bytes, path: Path, count: int) -> Iterator[tuple[int, bytes]]:
    """Sound databases with values of other types in some rows."""
    for case in range(count):
        rng = random.Random(case)
        path.write_bytes(valid)
        with closing(sqlite3.connect(path)) as db, db:
            for _ in range(rng.randint(1, 3)):
                table = rng.choice(tuple(COLUMNS))
                column, value = rng.choice(COLUMNS[table]), rng.choice(VALUES)
                where = "" if rng.random() < 0.3 else f"where rowid = {rng.randint(1, 12)}"
                try:
                    db.execute(f"update {table} set {column} = ? {where}", (value,))
                except sqlite3.IntegrityError:
                    continue  # two of the same key
        yield case, path.read_bytes()


def test_damaged_bytes(valid: bytes, river: Solution, tmp_path: Path) -> None:
    read = reader(tmp_path / "results.sqlite", river)
    assert internal_errors(read, damaged_cases([valid], QUICK), (InputError,)) == []


@pytest.mark.long
def test_damaged_rows(valid: bytes, river: Solution, tmp_path: Path) -> None:
    """Long: a search over damages."""
    read = reader(tmp_path / "results.sqlite", river)
    cases = damaged_rows(valid, tmp_path / "rows.sqlite", QUICK)
    assert internal_errors(read, cases, (InputError,)) == []


@pytest.mark.thorough
def test_many_damaged_bytes(valid: bytes, river: Solution, tmp_path: Path) -> None:
    read = reader(tmp_path / "results.sqlite", river)
    assert internal_errors(read, damaged_cases([valid], LONG, QUICK), (InputError,)) == []


@pytest.mark.thorough
def test_many_damaged_rows(valid: bytes, river: Solution, tmp_path: Path) -> None:
    read = reader(tmp_path / "results.sqlite", river)
    cases = damaged_rows(valid, tmp_path / "rows.sqlite", LONG)
    assert internal_errors(read, cases, (InputError,)) == []
