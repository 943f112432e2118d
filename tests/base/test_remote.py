"""Folders elsewhere: the methods of paths that storing needs, and messages when one fails."""

import sys
from pathlib import Path

import pytest

from allstreets.base import InputError, Remote, place_of, write_atomic


@pytest.fixture
def place(tmp_path: Path) -> Remote:
    return Remote(f"file://{tmp_path}/bucket")


def test_urls_are_elsewhere_and_other_names_are_here(tmp_path: Path) -> None:
    assert place_of("s3://bucket/run/") == Remote("s3://bucket/run")
    assert place_of("solved/run") == Path("solved/run")
    assert place_of(tmp_path) is tmp_path
    inside = Remote("s3://bucket/run") / "flops-1" / "AsKh7d.safetensors"
    assert (str(inside.parent), inside.name) == ("s3://bucket/run/flops-1", "AsKh7d.safetensors")
    assert str(inside.with_name("x")) == "s3://bucket/run/flops-1/x"


def test_files_come_and_go(place: Remote, tmp_path: Path) -> None:
    assert not place.exists()
    assert list(place.iterdir()) == []
    file = place / "folder" / "file"
    write_atomic(file, lambda out: out.write(b"0123456789"))
    assert file.read_bytes() == b"0123456789"
    assert (file.read_bytes(2, 5), file.size()) == (b"234", 10)
    assert (file.exists(), file.is_dir(), file.parent.is_dir()) == (True, False, True)
    assert [each.name for each in place.iterdir()] == ["folder"]
    file.fetch(tmp_path / "here")
    assert (tmp_path / "here").read_bytes() == b"0123456789"
    file.unlink()
    file.unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError):
        file.unlink()
    file.touch()
    place.remove()
    assert not place.exists()


def test_a_file_that_cannot_be_written_is_not_there(place: Remote) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_atomic(place / "file", fail)
    assert not place.exists()


def test_memory_is_an_object_store() -> None:
    place = Remote("memory://bucket/run")
    place.require_writable()
    (place / "a" / "b").write_bytes(b"x")
    assert [each.name for each in place.iterdir()] == ["a"]
    place.remove()


def test_two_lines_say_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"Protocol not known: nowhere.*\nName a folder, or a URL"):
        Remote("nowhere://bucket/run").exists()
    with pytest.raises(InputError, match=r"Install ocifs.*\nInstall it, on every machine"):
        Remote("oci://bucket/run").exists()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot write to file://.*\nThe bucket must exist"):
        Remote(f"file://{tmp_path}/file/run").require_writable()
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(InputError, match=r"needs fsspec.*\nInstall it: pip install allstreets\[cl"):
        Remote("s3://bucket/run").exists()
