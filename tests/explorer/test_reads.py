"""Reading over HTTP: routes answer with the views' numbers, and refuse in words."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders.explorer_solutions import KINDS, folder, view
from harness.asking import Client
from pydantic import BaseModel

from allstreets.base import InputError
from allstreets.cli.main import main
from allstreets.explorer.library import Library
from allstreets.explorer.models.place import CardReport, Deal, RangeText
from allstreets.explorer.routes.solutions import report_lines
from allstreets.explorer.routes.table import csv_text, download
from allstreets.explorer.views.reports import joined

READS: dict[str, dict[str, str]] = {
    "place": {},
    "hand": {"player": "oop", "hand": "AKs"},
    "equity": {},
    "range": {"player": "ip"},
}


@pytest.fixture(scope="module")
def library() -> Library:
    return Library([folder(name) for name in KINDS])


@pytest.fixture(scope="module")
def client(library: Library) -> Client:
    return Client(library)


def ask(client: Client, library: Library, name: str, read: str, **query: str) -> Any:
    return client.get(f"/api/solutions/{library.id_of(folder(name))}/{read}", params=query)


def test_lists(client: Client, library: Library) -> None:
    assert client.get("/api/about").json() == library.about().model_dump(mode="json")
    cards = client.get("/api/solutions").json()
    assert {card["id"] for card in cards} == {library.id_of(folder(name)) for name in KINDS}
    detail = client.get(f"/api/solutions/{cards[0]['id']}").json()
    assert detail["facts"]


@pytest.mark.parametrize("name", KINDS)
def test_reads_are_those_of_the_view(client: Client, library: Library, name: str) -> None:
    here = view(name)
    line = here.describe().root
    place = here.place(line)
    if isinstance(place.here, Deal):
        line = here.flops(line).rows[0].line
    id = library.id_of(folder(name))
    stamps = {"solution": id, "written": client.get(f"/api/solutions/{id}").json()["written"]}
    assert stamps["written"]
    for read, query in READS.items():
        answer = ask(client, library, name, read, line=line, **query)
        assert answer.status_code == 200, answer.text
        held = here.range(line, "ip", None)
        told: dict[str, BaseModel] = {
            "place": here.place(line).model_copy(update=stamps),
            "hand": here.hand(line, "oop", "AKs"),
            "equity": here.equity(line),
            "range": RangeText(text=held.text("pio"), combos=held.combos),
        }
        assert answer.json() == told[read].model_dump(mode="json")


def test_tables(client: Client, library: Library) -> None:
    cards = ask(client, library, "turn", "cards", line="x x")
    assert cards.json() == joined(view("turn").cards("x x")).model_dump(mode="json")
    flops = ask(client, library, "classes", "flops", line="c x")
    assert flops.json() == view("classes").flops("c x").model_dump(mode="json")


def test_a_report_over_cards_comes_board_by_board(client: Client, library: Library) -> None:
    answer = ask(client, library, "flop", "cards.ndjson", line="x x")
    assert answer.headers["content-type"] == "application/x-ndjson"
    parts = [CardReport.model_validate_json(line) for line in answer.text.splitlines()]
    assert len(parts) > 1
    for part in parts:
        assert sum(row.same_as is None for row in part.rows) == 1
    whole = CardReport(**ask(client, library, "flop", "cards", line="x x").json())
    assert_same_report(joined(parts), whole)
    # Once it is complete it is kept, and comes at once.
    [again] = ask(client, library, "flop", "cards.ndjson", line="x x").text.splitlines()
    assert_same_report(joined([CardReport.model_validate_json(again)]), whole)


def assert_same_report(found: CardReport, whole: CardReport) -> None:
    """Weights of parts are rounded when they are sent, and those of a whole report once more."""
    rows = {"rows": {"__all__": {"weight"}}}
    assert found.model_dump(exclude=rows) == whole.model_dump(exclude=rows)
    weights = [row.weight for row in whole.rows]
    assert [row.weight for row in found.rows] == pytest.approx(weights, rel=1e-6)


def test_a_report_over_cards_that_is_refused(client: Client, library: Library) -> None:
    answer = ask(client, library, "turn", "cards.ndjson", line="")
    assert answer.status_code == 404
    assert "No card has been dealt yet" in answer.json()["message"]


def test_a_report_over_cards_that_breaks_off_says_why() -> None:
    def parts() -> Iterator[CardReport]:
        yield from view("turn").cards("x x")
        raise InputError("the solution is damaged")

    *lines, last = report_lines(parts())
    assert [CardReport.model_validate_json(line) for line in lines]
    assert json.loads(last) == {"message": "the solution is damaged", "problems": []}


@pytest.mark.parametrize(
    ("name", "read", "line", "columns", "rows"),
    [
        ("turn", "table.csv", "x b75%", {"combo", "ev", "f", "ev_c", "a"}, 53),
        ("classes", "table.csv", "", {"hand", "combos", "reach", "r2.5", "ev_a"}, 169),
        ("turn", "cards.csv", "x x", {"card", "same_as", "ev_oop", "x", "b75"}, 48),
        ("classes", "flops.csv", "c x", {"flop", "suits", "weight", "x", "b100%"}, 3),
        ("models", "flops.csv", "spr2", {"flop", "exploitability_pct", "x", "b75%"}, 3),
    ],
)
def test_spreadsheets(
    client: Client,
    library: Library,
    name: str,
    read: str,
    line: str,
    columns: set[str],
    rows: int,
) -> None:
    answer = ask(client, library, name, read, line=line)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    found = list(csv.DictReader(io.StringIO(answer.text)))
    assert columns <= found[0].keys()
    assert len(found) == rows
    assert "None" not in answer.text
    assert "nan" not in answer.text


@pytest.mark.parametrize("kind", ["pio", "gto+", "monker"])
@pytest.mark.parametrize("name", ["classes", "preflop"])
def test_the_tree_before_the_flop(
    client: Client, library: Library, tmp_path: Path, name: str, kind: str
) -> None:
    """A download equals the output of `allstreets export`, file by file."""
    answer = ask(client, library, name, "ranges.zip", kind=kind)
    assert answer.headers["content-type"] == "application/zip"
    title = library.card(library.id_of(folder(name))).name.replace(" ", "-")
    wanted = f'attachment; filename="{title}-{kind.rstrip("+")}.zip"'
    assert answer.headers["content-disposition"] == wanted
    assert main(["export", str(folder(name)), str(tmp_path / "out"), "--kind", kind]) == 0
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        for path in packed.namelist():
            assert packed.read(path) == (tmp_path / "out" / path).read_bytes()
        files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
        assert len(files) == len(packed.namelist()) > 1


def test_names_of_files() -> None:
    def name_of(text: str) -> str:
        return download("", "text/plain", text, ".txt").headers["content-disposition"]

    assert name_of("My 20 bb") == 'attachment; filename="My-20-bb.txt"'
    assert name_of('x"\r\nSet-Cookie: a=b') == 'attachment; filename="x-Set-Cookie-a-b.txt"'
    assert name_of("../../ü/…") == 'attachment; filename="allstreets.txt"'
    assert len(name_of("x" * 500)) < 120


def test_cells_of_a_spreadsheet() -> None:
    rows: list[dict[str, Any]] = [{"a": 1.23456789, "b": None}, {"a": "x, y", "c": 0.1 + 0.2}]
    assert bytes(csv_text(rows).body) == b'a,b,c\r\n1.234568,,\r\n"x, y",,0.3\r\n'


@pytest.mark.parametrize(
    ("name", "read", "query", "status", "message"),
    [
        ("turn", "place", {"line": "x b20%"}, 404, "is not offered"),
        ("turn", "place", {"line": "x" * 1001}, 422, "at most 1000 characters"),
        ("turn", "hand", {"player": "oop", "hand": "AXs"}, 422, "is not a hand"),
        ("turn", "hand", {"player": "sb", "hand": "AKs"}, 422, "player"),
        ("turn", "hand", {"player": "oop"}, 422, "hand"),
        ("turn", "range", {"player": "oop", "action": "b1"}, 422, "is not offered here"),
        ("turn", "flops", {}, 422, "one board"),
        ("turn", "ranges.zip", {}, 422, "no betting before the flop"),
        ("models", "ranges.zip", {}, 422, "no betting before the flop"),
        ("classes", "ranges.zip", {"kind": "stars"}, 422, "kind"),
        ("classes", "cards", {"line": "c x"}, 422, "no flop is dealt yet"),
        ("classes", "cards", {"line": "c x | Qs7h4d"}, 422, "averaged over"),
        ("classes", "place", {"line": "", "evs": "now"}, 422, "evs"),
        ("trimmed", "cards", {"line": "x x"}, 422, "not stored"),
        ("classes", "place", {"line": "c x | AhKd7s"}, 404, "not among the 3"),
        ("models", "equity", {"line": "spr1"}, 422, "no flop is dealt yet"),
    ],
)
def test_refusals(
    client: Client,
    library: Library,
    name: str,
    read: str,
    query: dict[str, str],
    status: int,
    message: str,
) -> None:
    answer = ask(client, library, name, read, **query)
    assert answer.status_code == status
    assert message in answer.json()["message"]
    if status == 404:
        hints = answer.json()["problems"][0]["hints"]
        assert hints
        assert ask(client, library, name, "place", line=hints[0]["line"]).status_code == 200


def test_solutions_that_are_not_there(client: Client, tmp_path: Path) -> None:
    for id in ("0" * 12, "nothing"):
        answer = client.get(f"/api/solutions/{id}/place")
        assert answer.status_code == 404
        assert "no such solution" in answer.json()["message"]
    assert client.get("/api/solutions/..%2F..%2Fetc/place").status_code in (404, 422)
    assert client.get(f"/api/solutions/{tmp_path}/place").status_code in (404, 422)
