"""Standard output that is closed, full, or knows few characters; files that the system refuses."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from allstreets.cli import main as cli
from allstreets.cli.terminal.streams import plain


def run(command: str, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `allstreets COMMAND` in a shell."""
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m allstreets {command}"],
        capture_output=True,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_a_full_device() -> None:
    code, out, err = run("flops --format csv > /dev/full")
    assert (code, out) == (2, "")
    assert err == f"Error: cannot write to standard output: {os.strerror(errno.ENOSPC)}\n"


def test_closed_streams() -> None:
    assert run("range TT+ >&-") == (0, "", "")
    assert run("range TTx 2>&-") == (2, "", "")


def test_a_terminal_of_ascii_gets_ascii() -> None:
    code, out, err = run("tree", PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert out.isascii()
    assert "|- fold -> BB wins 0.5 bb" in out


def test_what_stands_in_for_other_characters() -> None:
    assert plain("├─ 2 × 3 … AK·é█") == "|- 2 x 3 ... AK*e#"
    assert plain("plain") == "plain"
    assert plain("\udcff♠") == "??"


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "sample_spots/river.yaml", "--output"],
        ["toy", "kuhn", "-n", "1", "--output"],
        ["explore"],
        ["report"],
        ["solve"],
        ["train"],
    ],
)
def test_a_name_that_is_too_long(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert cli.main([*arguments, "x" * 300]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("Error: ")
    assert len(err.splitlines()) <= 2
    assert "xxx" in err
    assert out.strip() == ""


def test_the_system_says_no(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "secret/file")

    monkeypatch.setattr("allstreets.cards.parse_flop", refuse)
    assert cli.main(["flops", "AhKd7s"]) == 2
    told = "Error: cannot use 'secret/file': Permission denied; name another file or folder\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    "command",
    [
        "flops --format csv",
        *(
            pytest.param(command, marks=pytest.mark.long)
            for command in ("tree", "range 22+", "toy kuhn -n 10")
        ),
    ],
)
def test_a_reader_who_has_seen_enough(command: str) -> None:
    """Such as `head`, here before the first line."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "allstreets", *command.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert done.returncode == 0
    assert "Error" not in done.stderr
