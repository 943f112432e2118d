"""One writer a folder, and no lock outlives its process."""

import subprocess
import sys
from pathlib import Path

import pytest

from allstreets.base import InputError
from allstreets.storage import LOCK_NAME, claim

HOLD = """
import pathlib, sys
from allstreets.storage import claim
with claim(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        with pytest.raises(InputError) as error, claim(folder):
            pass
        assert str(error.value) == (
            f"another run is writing to {folder}; wait for it to end or name another folder"
        )
        process.kill()
        process.wait()
        with claim(folder):
            pass


def test_a_claim_ends_with_its_block(tmp_path: Path) -> None:
    entered = 0
    for _ in range(2):
        with claim(tmp_path):
            entered += 1
    assert entered == 2


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as error, claim(tmp_path / "file" / "run"):
        pass
    assert str(error.value) == (
        f"cannot write to the folder {tmp_path}/file/run: Not a directory; name another folder"
    )


def test_nothing_is_left_that_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), claim(tmp_path / "a" / "b"):
        raise BrokenPipeError
    assert not list(tmp_path.iterdir())
    with claim(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "solution").touch()
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == {LOCK_NAME, "solution"}
    with claim(tmp_path / "a"):
        pass
    assert {path.name for path in (tmp_path / "a").iterdir()} == {LOCK_NAME, "b"}
    (tmp_path / "mine").mkdir()  # empty, and not ours
    with claim(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine").exists()
