"""Ranges kept under names: a file that is shared, mended by hand, damaged or newer."""

import json
from pathlib import Path
from threading import Thread

import pytest

from allstreets.base import InputError
from allstreets.cards import Range, RangeKind
from allstreets.explorer.models.base import FormError, MissingError
from allstreets.explorer.models.solves import KeptRangeForm, WrittenRangeForm
from allstreets.explorer.ranges import KeptRanges
from allstreets.explorer.routes.solves import write_range


def form(name: str, text: str) -> KeptRangeForm:
    return KeptRangeForm(name=name, text=text)


def test_kept_replaced_and_forgotten(tmp_path: Path) -> None:
    kept = KeptRanges(tmp_path / "solves")
    assert kept.list() == []
    told = kept.keep(form("  BB   calls ", "[50]AA,KK[/50]"))
    assert (told.name, told.text, told.combos) == ("BB calls", "KK+:0.5", 6)
    kept.keep(form("a", "QQ"))
    kept.keep(form("BB calls", "JJ"))
    again = KeptRanges(tmp_path / "solves")  # another server
    assert [(one.name, one.text) for one in again.list()] == [("a", "QQ"), ("BB calls", "JJ")]
    again.remove("a")
    assert [one.name for one in kept.list()] == ["BB calls"]
    with pytest.raises(MissingError, match="no range is saved as 'a'"):
        kept.remove("a")


def test_what_cannot_be_kept(tmp_path: Path) -> None:
    kept = KeptRanges(tmp_path)
    with pytest.raises(FormError, match="give the range a name"):
        kept.keep(form("  ", "AA"))
    with pytest.raises(FormError, match="'AX' is not a hand") as caught:
        kept.keep(form("x", "AX"))
    assert [one.field for one in caught.value.problems] == ["text"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is damaged"),
        (b"\xff", "is damaged"),
        (b"[]", "contains no object"),
        (b'{"version": 1, "ranges": {"a": 3}}', "contains no ranges"),
        (b'{"version": 2, "ranges": {}}', "was written by a later version: use that one"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_alone(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "ranges.json"
    file.write_bytes(content)
    kept = KeptRanges(tmp_path)
    for ask in (kept.list, lambda: kept.keep(form("x", "AA")), lambda: kept.remove("x")):
        with pytest.raises(InputError, match=message):
            ask()
    assert file.read_bytes() == content


def test_a_range_that_was_mended_wrongly_is_listed(tmp_path: Path) -> None:
    ranges = {"good": "AA", "bad": "AX"}
    (tmp_path / "ranges.json").write_text(json.dumps({"version": 1, "ranges": ranges}))
    assert [(one.name, one.combos) for one in KeptRanges(tmp_path).list()] == [
        ("bad", None),
        ("good", 6),
    ]


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    threads = [
        Thread(target=KeptRanges(tmp_path).keep, args=[form(f"range {n}", "AA")]) for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(KeptRanges(tmp_path).list()) == 12


@pytest.mark.parametrize("kind", list(RangeKind))
def test_a_range_is_written_otherwise(kind: RangeKind) -> None:
    told = write_range(WrittenRangeForm(text="QQ+,AKs:0.5", kind=kind))
    assert told.text == Range.parse("QQ+,AKs:0.5").text(kind)
    assert told.combos == 20
