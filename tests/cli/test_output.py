"""Commands in the output can be typed as printed."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from allstreets.cli.main import app, main
from allstreets.cli.terminal import output


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


def test_a_told_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From an environment that the shell does not look into."""
    program = Path(sys.executable).parent / "allstreets"
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    folder = tmp_path / "solved"
    spot = ["--board", "Ks7d4c9h2s", "--oop", "AA,QJs", "--ip", "KK,TT", "--pot", "10"]
    assert main(["solve", *spot, "--stack", "10", "--output", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = next(line for line in lines if line.startswith("Look further: "))
    shown = subprocess.run(
        told.removeprefix("Look further: "), shell=True, capture_output=True, text=True, check=True
    )
    assert "to act" in shown.stdout


def _writing() -> list[tuple[str, ...]]:
    """Every command that writes, up to the name of what it writes."""
    return [
        ("solve", "spot.yaml", "--output"),
        ("solve", "spot.yaml", "--boards", "subset_25", "--output"),
        ("solve", "spot.yaml", "--boards", "subset_25", "--csv"),
        ("solve", "--from", "game", "--flop", "QsJh2h", "--output"),
        ("simplify", "solved", "--grid", "25%", "--output"),
        ("lock", "solved", "--always", "x", "--output"),
        ("certify", "game", "--output"),
        ("export", "game"),
        ("match", "one", "other", "--output"),
        ("import", "export.zip"),
        ("review", "hands.txt", "--solutions", "solved", "--output"),
        ("review", "hands.txt", "--solutions", "solved", "--csv"),
        ("toy", "kuhn", "--output"),
        ("toy", "kuhn", "--plot"),
        ("flops", "--choose", "3", "--output"),
        ("report", "solved", "--chart"),
        ("report", "solved", "--csv"),
        ("report", "solved", "--parquet"),
        ("compare", "one", "other", "--csv"),
        ("practice", "solved", "--export"),
        ("practice", "solved", "--anki"),
        ("explore", "solved", "--solves"),
    ]


@pytest.mark.parametrize("words", _writing(), ids=" ".join)
@pytest.mark.parametrize(
    ("name", "told"), [("s3://bucket/run", "is remote"), ("", "the name is empty")]
)
def test_what_is_written_is_named_and_on_this_machine(
    words: tuple[str, ...],
    name: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, name]) == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_every_option_that_names_an_output_is_checked() -> None:
    """Those that are added later as well."""
    group = typer.main.get_command(app)
    named = {
        (name, option.name)
        for name, command in group.commands.items()  # type: ignore[attr-defined]
        for option in command.params
        if option.name in ("output", "csv", "parquet", "chart", "plot", "anki", "solves")
    }
    tried = {(words[0], words[-1].removeprefix("--")) for words in _writing()}
    assert named - tried == {(name, "output") for name in ("train", "export", "import")}


def test_a_run_on_a_cluster_writes_elsewhere_and_not_nowhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["train", "--output", ""]) == 2
    assert "the name is empty" in capsys.readouterr().err
    assert main(["train", "--output", "s3://bucket/run"]) == 2
    assert "a URL is for runs on a cluster" in capsys.readouterr().err
