"""Commands that are told can be typed as they stand."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.cli import output


@given(st.lists(st.text(st.characters(exclude_characters="\0\r\n", codec="utf-8"), min_size=1)))
def test_a_shell_reads_the_words_back(words: list[str]) -> None:
    assert shlex.split(output.command(*words)) == ["allstreets", *words]


def test_quotes_are_those_that_every_shell_knows() -> None:
    assert output.command("report", "a b", "--line", "r2.5 c") == (
        'allstreets report "a b" --line "r2.5 c"'
    )


def test_an_unknown_name_is_told_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/allstreets", "train"])
    monkeypatch.setenv("PATH", "")
    assert output.command("explore", "runs") == ".venv/bin/allstreets explore runs"


def test_a_told_command_runs(tmp_path: Path) -> None:
    """From an environment that the shell does not look into."""
    program = Path(sys.executable).parent / "allstreets"
    folder = tmp_path / "solved"
    spot = ["--board", "Ks7d4c9h2s", "--oop", "AA,QJs", "--ip", "KK,TT", "--pot", "10"]
    done = subprocess.run(
        [str(program), "solve", *spot, "--stack", "10", "--output", str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": "/usr/bin:/bin"},
    )
    told = next(line for line in done.stdout.splitlines() if line.startswith("Look further: "))
    shown = subprocess.run(
        told.removeprefix("Look further: "),
        shell=True,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": "/usr/bin:/bin"},
    )
    assert "to act" in shown.stdout
