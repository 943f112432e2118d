"""One damaged file among many: it is listed as damaged, and everything else as usual."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders.explorer_solutions import folder
from harness.asking import Client

from allstreets.explorer.library import Library
from allstreets.explorer.trash import Trash
from allstreets.study import INDEX

DEEP = b'{"name":' + b"[" * 100_000
DAMAGED = {
    "nested deeply": DEEP,
    "half a character": b'{"name": "\\ud800", "note": "", "folder": "x", "deleted": 1}',
    "bytes that are no text": b'{"name": "\xff"}',
    "wrong types": b'{"name": 5, "note": [], "folder": {}, "deleted": "x", "schema": 1}',
    "no number": b'{"name": "x", "folder": "x", "deleted": 1e400, "created": NaN, "schema": 1}',
    "a list": b"[]",
    "cut": b'{"name": "x',
    "empty": b"",
}


def review_index(name: str = "mine") -> dict[str, Any]:
    return {
        "name": name,
        "hero": None,
        "created": 1.0,
        "target": 0.01,
        "seconds_per_spot": 10.0,
        "solutions": {"game": "/game"},
        "hands": [{"key": "0a", "file": "hands.txt", "line": 1}],
        "skipped": [{"file": "hands.txt", "line": 9, "reason": "cut"}],
        "kind": "review",
        "schema": 1,
    }


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    """Two of each: solutions, reviews, and what lies in the trash."""
    root = tmp_path / "opened"
    for name in ("one", "two"):
        shutil.copytree(folder("turn"), root / name)
        (root / name / "label.json").write_text(json.dumps({"name": f"my {name}", "note": "n"}))
        (root / f"review {name}").mkdir()
        (root / f"review {name}" / INDEX).write_text(json.dumps(review_index(name)))
        (root / "gone" / name).mkdir(parents=True)
        Trash([root]).put(root / "gone" / name, name)
    return root


@pytest.fixture(params=list(DAMAGED))
def damage(request: pytest.FixtureRequest) -> bytes:
    return DAMAGED[request.param]


@pytest.fixture
def client(opened: Path) -> Client:
    return Client(Library([opened]))


def listed(client: Client, what: str) -> list[dict[str, Any]]:
    answer = client.get(f"/api/{what}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def test_a_damaged_label(opened: Path, client: Client, damage: bytes) -> None:
    (opened / "one" / "label.json").write_bytes(damage)
    one, two = sorted(listed(client, "solutions"), key=lambda card: card["folder"])
    assert (two["name"], two["note"], two["problem"]) == ("my two", "n", None)
    assert (one["name"], one["note"], one["kind"]) == ("one", "", "spot")  # itself it is whole
    assert one["problem"].startswith("label.json is damaged (")
    assert one["problem"].endswith("): repair it, or name the solution again")
    assert (opened / "one" / "label.json").read_bytes() == damage


def test_damaged_facts_in_the_trash(opened: Path, client: Client, damage: bytes) -> None:
    place = next((opened / ".trash").iterdir())
    name = json.loads((place / "trashed.json").read_text())["name"]
    (place / "trashed.json").write_bytes(damage)
    cards = {card["id"]: card for card in listed(client, "trash")}
    assert len(cards) == 2
    lost = cards.pop(place.name)
    assert lost["name"].startswith("trashed.json is damaged (")
    assert lost["folder"] == str(place / "content")
    (other,) = cards.values()
    assert {name, other["name"]} == {"one", "two"}
    refused = client.get(f"/api/trash/{place.name}/restore", method="POST")
    assert refused.status_code == 422
    assert refused.json()["message"].endswith(f"move {place / 'content'} back by hand")
    assert (place / "content").is_dir()
    assert client.get(f"/api/trash/{other['id']}/restore", method="POST").status_code == 200
    assert (opened / "gone" / other["name"]).is_dir()


def test_a_damaged_review(opened: Path, client: Client, damage: bytes) -> None:
    (opened / "review one" / INDEX).write_bytes(damage)
    cards = {card["name"]: card for card in listed(client, "reviews")}
    assert set(cards) == {"review one", "two"}
    assert cards["two"]["problem"] is None
    assert cards["review one"]["problem"].endswith("review the hands again")
    detail = client.get(f"/api/reviews/{cards['review one']['id']}")
    assert detail.status_code == 422


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", 5),
        ("created", "yesterday"),
        ("solutions", ["/game"]),
        ("hands", [{"key": 5, "file": "", "line": 1}]),
        ("hands", [{"key": "../x", "file": "", "line": 1}]),
        ("skipped", [["hands.txt", 9, "cut"]]),
    ],
)
def test_a_review_with_a_wrong_type(opened: Path, client: Client, key: str, value: object) -> None:
    wrong = json.dumps({**review_index(), key: value})
    (opened / "review one" / INDEX).write_text(wrong)
    cards = {card["name"]: card for card in listed(client, "reviews")}
    assert cards["two"]["problem"] is None
    assert f"{INDEX} is damaged (" in cards["review one"]["problem"]


@pytest.mark.skipif(os.name != "posix", reason="names are text there")
def test_folders_whose_names_are_no_text(opened: Path, client: Client) -> None:
    odd = Path(os.fsdecode(os.fsencode(opened) + b"/a\xff\x1b[31m"))
    (opened / "one").rename(odd)
    (odd / "label.json").unlink()
    (opened / "review one").rename(odd.with_name(odd.name + "review"))
    assert {card["name"] for card in listed(client, "solutions")} == {"a\\udcff\\x1b[31m", "my two"}
    assert len(listed(client, "reviews")) == 2
