"""A table is built once; a bad cache costs time, never the result."""

from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from allstreets.base import cache_folder, cached_arrays
from allstreets.base.files import Arrays


class Table:
    """Builds a table and counts how often."""

    def __init__(self) -> None:
        self.built = 0

    def build(self) -> Arrays:
        self.built += 1
        return {"squares": np.arange(5) ** 2}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ALLSTREETS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def squares(table: Table, version: int = 1) -> list[int]:
    return [int(value) for value in cached_arrays("squares", version, table.build)["squares"]]


def test_built_once(folder: Path) -> None:
    table = Table()
    assert cache_folder() == folder
    assert squares(table) == squares(table) == [0, 1, 4, 9, 16]
    assert table.built == 1


def test_built_once_where_two_need_it_at_once(folder: Path) -> None:
    table, built = Table(), Event()
    assert folder == cache_folder()

    def build() -> Arrays:
        if table.built == 0:
            other.start()
            built.wait(0.2)  # what another would take to build it too
        else:
            built.set()
        return table.build()

    other = Thread(target=cached_arrays, args=("squares", 1, build))
    cached_arrays("squares", 1, build)
    other.join()
    assert table.built == 1


def test_another_version_is_another_table(folder: Path) -> None:
    table = Table()
    squares(table, 1)
    squares(table, 2)
    assert table.built == 2
    assert len(list(folder.glob("*.safetensors"))) == 2


def test_a_damaged_table_is_built_anew(folder: Path) -> None:
    table = Table()
    squares(table)
    (path,) = folder.glob("*.safetensors")
    path.write_bytes(path.read_bytes()[:-1])
    assert squares(table) == [0, 1, 4, 9, 16]
    assert table.built == 2
    squares(table)
    assert table.built == 2


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ALLSTREETS_CACHE", str(tmp_path / "file" / "cache"))
    assert squares(Table()) == [0, 1, 4, 9, 16]


def test_a_cache_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    squares(Table())

    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    assert folder.exists()
    assert squares(Table()) == [0, 1, 4, 9, 16]
