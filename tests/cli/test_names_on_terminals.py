"""Names that hold escape sequences or markup are shown as they are, and control no terminal."""

from io import StringIO
from pathlib import Path

import pytest
from builders.practice_answers import answer
from rich.table import Table
from rich.text import Text

from allstreets.base import PlainConsole
from allstreets.cli import main as cli
from allstreets.study import Results

NASTY = "\x1b[31m\x1b]0;title\x07 [bold]x[/bold] [/] :smile: \r\u202e"
SHOWN = r"\x1b[31m\x1b]0;title\x07 [bold]x[/bold] [/] :smile: \r\u202e"


def test_a_console_shows_names_as_they_are() -> None:
    stream = StringIO()
    out = PlainConsole(file=stream, width=200, force_terminal=True, color_system=None)
    out.print(f"name {NASTY}")
    table = Table("name", box=None)
    table.add_row(NASTY)
    out.print(table)
    out.print(Text(NASTY, style="bold"))
    text = stream.getvalue()
    assert text.count(SHOWN) == 2
    assert text.count("\\x1b[31m\\x1b]0;title") == 3
    assert not set(text) & set("\x1b\x07\r\u202e")


def test_styles_of_our_own_stay() -> None:
    stream = StringIO()
    PlainConsole(file=stream, force_terminal=True, color_system="standard").print(
        "right", style="bold green"
    )
    assert stream.getvalue() == "\x1b[1;32mright\x1b[0m\n"


def test_the_name_of_a_solution(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "results \x1b[2J[bold].sqlite"
    Results(file).keep(answer(solution=NASTY), 0.0)
    assert cli.main(["practice", "--stats", "--file", str(file)]) == 0
    told = capsys.readouterr().out
    assert SHOWN in told
    assert "results \\x1b[2J[bold].sqlite" in told
    assert "\x1b" not in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense\x1b[31m"],
        ["flops", "AhKd\x1b[31m"],
        ["range", "AA,\x1b[31mKK"],
        ["report", "no such folder \x1b[31m"],
        ["explore", "no such folder \x1b[31m"],
        ["solve", "no such file \x1b[31m"],
        ["practice", "--seat", "\x1b[31m"],
        ["toy", "\x1b[31m"],
        ["equity", "AA", "KK", "--bo\x1b[31mrd", "x"],
    ],
)
def test_errors_repeat_no_escape_sequences(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    told = capsys.readouterr().err
    assert "\\x1b" in told
    assert "\x1b" not in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["flops", "Ah" * 5000],
        ["range", "Z" * 50_000],
        ["range", "AA " * 5000 + "Q?"],
        ["equity", "AA", "K" * 50_000],
        ["toy", "kuhn " * 5000],
        ["practice", "--seat", "sb " * 5000],
        ["practice", "--street", "flop " * 5000],
        ["nonsense" * 5000],
        ["flops", "--format", "xml " * 5000],
    ],
)
def test_errors_repeat_little_of_an_input(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    told = capsys.readouterr().err
    assert max(map(len, told.splitlines())) <= 600
    assert len(told.splitlines()) <= 2
