"""Folders of another format are refused by name, with their format, ours, and what to do."""

from pathlib import Path

import pytest

from allstreets.base import InputError
from allstreets.storage.manifest import KINDS, SCHEMAS, Kind, read_manifest, write_manifest


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize(
    ("newer", "advice"),
    [
        (-1, "open it with that version, or solve again in another folder"),
        (1, "update allstreets to that version"),
        (None, "open it with that version, or solve again in another folder"),
    ],
)
def test_an_older_and_a_newer_format(
    tmp_path: Path, kind: Kind, newer: int | None, advice: str
) -> None:
    schema = None if newer is None else SCHEMAS[kind] + newer
    write_manifest(tmp_path, {"kind": kind, "schema": schema, "code_version": "0.9"})
    with pytest.raises(InputError) as error:
        read_manifest(tmp_path, kind)
    assert str(error.value) == (
        f"{tmp_path} was written by allstreets 0.9 in another format "
        f"(schema {schema}, this is {SCHEMAS[kind]}); {advice}"
    )


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    facts = {
        "kind": "spots",
        "schema": SCHEMAS["spots"],
        "spots": [],
        "config": {"name": 'déjà "vu"\n', "sizes": [0.5, None, {"a": []}]},
        "rows": [{"flop": "AsKh7d", "spr": 3.5, "converged": True}, [], {}],
        "empty": [],
        "nothing": {},
        "seconds": 1e-7,
    }
    write_manifest(tmp_path, facts)
    assert read_manifest(tmp_path, "spots").items() >= facts.items()
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_manifest(tmp_path, {**facts, "rows": [{"ev": float("nan")}]})
    assert read_manifest(tmp_path, "spots").items() >= facts.items()


def test_the_same_format_is_read(tmp_path: Path) -> None:
    facts = {"kind": "spots", "schema": 1, "spots": [], "code_version": "0.9"}
    write_manifest(tmp_path, facts)
    assert read_manifest(tmp_path, "spots")["code_version"] == "0.9"
