"""Practice as the page asks for it."""

import sqlite3
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from builders.explorer_solutions import folder, view
from builders.practice_answers import answer
from harness.asking import Client

from allstreets.base import InputError
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError, MissingError
from allstreets.explorer.models.place import Decision
from allstreets.explorer.models.study import PracticeAnswerForm, PracticeForm, PracticeState
from allstreets.explorer.practising import MOST_SESSIONS, Practising
from allstreets.study import Results, export_text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "practice.sqlite"


@pytest.fixture
def practising(file: Path) -> Practising:
    return Practising(Library([folder("turn"), folder("classes")]), file)


def begin(practising: Practising, name: str, **form: object) -> PracticeState:
    solution = Library([folder(name)]).id_of(folder(name))
    given = {"solution": solution, "seed": 1, **form}
    return practising.begin(PracticeForm.model_validate(given))


@pytest.mark.parametrize("name", ["turn", "classes"])
def test_what_is_shown_is_what_the_explorer_shows(
    practising: Practising, file: Path, name: str
) -> None:
    """The whole range after a decision, place by place, and its own hand."""
    state, made = begin(practising, name), 0
    while made < 6:
        asked = state.question
        if asked is None:
            assert state.end is not None
            state = practising.deal(state.session)
            continue
        action = made % len(asked.actions)
        form = PracticeAnswerForm(question=asked.number, action=action)
        state, made = practising.answer(state.session, form), made + 1
        verdict, there = state.verdict, view(name).place(asked.line)
        assert verdict is not None
        assert isinstance(there.here, Decision)
        assert verdict.decision.actions == there.here.actions
        assert verdict.decision.grids == there.here.grids
        assert verdict.board == there.board
        stored = Results(file).answers()
        assert len(stored) == made == state.summary.decisions
        assert stored[-1].answer.loss_bb == verdict.loss
        assert (state.end is None) == (state.question is not None)
    kept = practising.kept.results()
    assert kept.summary == state.summary
    assert len(kept.days) == 1


def test_a_decision_is_made_once(practising: Practising) -> None:
    state = begin(practising, "turn")
    with pytest.raises(BusyError, match="not over yet"):
        practising.deal(state.session)
    form = PracticeAnswerForm(question=0, action=0)
    practising.answer(state.session, form)
    with pytest.raises(BusyError, match="made already"):
        practising.answer(state.session, form)


def test_topics(practising: Practising) -> None:
    game = practising.topics(begin(practising, "classes").solution)
    assert game.streets == ["preflop", "flop", "turn", "river"]
    assert "raised" in game.pots
    assert game.seats == {"oop": "BB", "ip": "SB"}
    assert "does not see" in game.note
    turn = practising.topics(begin(practising, "turn").solution)
    assert (turn.streets, turn.pots, turn.suits) == (["turn", "river"], [], [])


def test_errors(practising: Practising) -> None:
    with pytest.raises(MissingError):
        practising.begin(PracticeForm(solution="0"))
    with pytest.raises(InputError, match="textures"):
        begin(practising, "turn", suits=["monotone"])
    first = begin(practising, "turn")
    for _ in range(MOST_SESSIONS):
        begin(practising, "turn")
    with pytest.raises(MissingError, match="has ended"):
        practising.deal(first.session)


FLOPS = [
    ("Qs7h4d", "rainbow", "unpaired", "Q"),
    ("Ah7h4h", "monotone", "unpaired", "A"),
    ("7s7h4d", "rainbow", "paired", "7"),
]
RIVER: dict[str, Any] = {
    "folder": "/games/river",
    "solution": "a river",
    "street": "river",
    "pot_kind": "spot",
}


@pytest.fixture
def client(file: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A server with results of two solutions, eight decisions of which six were missed."""
    results = Results(file)
    for at, (board, *_) in enumerate(FLOPS):
        results.keep(answer(board=board, line=f"r2.5 c | {board}"), 10.0 + at)
    results.keep(answer(street="preflop", pot_kind="unopened", board="", line=""), 20.0)
    results.keep(answer(street="turn", pot_kind="limped", board="Qs7h4d2c", line="c x"), 21.0)
    results.keep(answer(0.0), 22.0)
    results.keep(answer(0.01, cards="7c2d"), 23.0)
    results.keep(answer(board="Ks7d4c9h2s", line="x", **RIVER), 24.0)
    monkeypatch.setenv("ALLSTREETS_PRACTICE", str(file))
    return Client(Library([]))


def fronts(package: bytes, folder: Path) -> list[str]:
    """The questions of a file for Anki."""
    with ZipFile(BytesIO(package)) as packed:
        packed.extract("collection.anki2", folder)
    with sqlite3.connect(folder / "collection.anki2") as db:
        found = [text.split("\x1f")[0] for (text,) in db.execute("select flds from notes")]
        assert db.execute("select count(*) from cards").fetchone() == (len(found),)
    db.close()
    return found


def test_results_are_exported(client: Client, file: Path) -> None:
    told = client.get("/api/practice/results").json()
    assert (told["hands"], told["waiting"]) == (8, 6)
    sources = {one["name"]: one for one in told["solutions"]}
    assert [(one["hands"], one["waiting"]) for one in sources.values()] == [(1, 1), (7, 5)]
    results = Results(file)
    for form, kind in (("csv", "text/csv; charset=utf-8"), ("json", "application/json")):
        saved = client.get(f"/api/practice/results.{form}")
        assert saved.headers["content-type"] == kind
        assert saved.headers["content-disposition"] == f'attachment; filename="practice.{form}"'
        assert saved.text == export_text(results.answers(), form)
        for one in sources.values():
            own = client.get(f"/api/practice/results.{form}", params={"solution": one["id"]})
            assert own.text == export_text(results.answers(Path(one["folder"])), form)
    river = client.get("/api/practice/results", params={"solution": sources["a river"]["id"]})
    assert (river.json()["hands"], river.json()["summary"]["decisions"]) == (1, 1)
    assert river.json()["solutions"] == told["solutions"]
    for path in ("results", "results.csv", "missed.apkg"):
        unknown = client.get(f"/api/practice/{path}", params={"solution": "0" * 12})
        assert unknown.status_code == 404
        assert "no hand was played" in unknown.json()["message"]
    assert client.delete("/api/practice/results").status_code == 204
    assert client.get("/api/practice/results").json()["hands"] == 0
    assert client.get("/api/practice/results.json").json() == []


def test_cards_for_anki(client: Client, tmp_path: Path) -> None:
    pytest.importorskip("genanki")
    cards = client.get("/api/practice/results").json()["cards"]
    assert cards == {
        "count": 6,
        "problem": None,
        "streets": ["preflop", "flop", "turn", "river"],
        "pots": ["limped", "raised"],
        "suits": ["monotone", "rainbow"],
        "pairings": ["paired", "unpaired"],
        "high_cards": ["A", "K", "Q", "7"],
    }

    def asked(**query: str) -> list[str]:
        saved = client.get("/api/practice/missed.apkg", params=query)
        assert saved.status_code == 200, saved.text
        assert saved.headers["content-disposition"] == 'attachment; filename="missed.apkg"'
        return sorted(fronts(saved.content, tmp_path))

    every = asked()
    assert len(every) == cards["count"]

    def wants(test: Callable[[str], bool]) -> list[str]:
        return [front for front in every if test(front)]

    assert asked(streets="flop") == wants(lambda front: ">flop, " in front)
    assert asked(streets="flop,turn") == wants(
        lambda front: ">flop, " in front or "turn, " in front
    )
    assert asked(pots="limped") == wants(lambda front: "turn, " in front)
    assert asked(suits="monotone") == wants(lambda front: "Ah7h4h" in front)
    assert asked(pairings="paired") == wants(lambda front: "7s7h4d" in front)
    assert asked(high_cards="A,7") == wants(
        lambda front: "flop Ah7h" in front or "flop 7s7" in front
    )
    river = client.get("/api/practice/results").json()["solutions"][0]["id"]
    assert asked(solution=river) == wants(lambda front: "a river" in front)
    assert len(asked(solution=river)) == 1
    for query, message in (
        ({"streets": "flop", "pots": "4bet"}, "there is nothing to write"),
        ({"streets": "show"}, "is no street"),
        ({"pots": "x" * 200}, "at most 100"),
    ):
        refused = client.get("/api/practice/missed.apkg", params=query)
        assert refused.status_code == 422
        assert message in refused.json()["message"]


def test_anki_is_an_extra(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allstreets.study.anki.find_spec", lambda _: None)
    problem = client.get("/api/practice/results").json()["cards"]["problem"]
    assert "pip install 'allstreets[anki]'" in problem
    refused = client.get("/api/practice/missed.apkg")
    assert (refused.status_code, refused.json()["message"]) == (422, problem)


@pytest.mark.parametrize("path", ["missed.apkg", "results.json", "results.csv"])
def test_no_other_page_reads_results(client: Client, path: str) -> None:
    answered = client.get(f"/api/practice/{path}")
    assert answered.status_code == 200
    assert answered.headers["x-content-type-options"] == "nosniff"
    assert answered.headers["cross-origin-resource-policy"] == "same-origin"
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.get(f"/api/practice/{path}", headers=headers).status_code == 403
