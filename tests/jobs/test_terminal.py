"""Progress on screen: lines in a log, a table that fits on a terminal."""

import io
import re
from dataclasses import replace

import pytest
from builders.matrix_game import MatrixGameSolver, random_game
from harness.terminals import Terminal, needs_terminals, screen
from rich.console import Console

from allstreets.cfr.metrics import Metrics
from allstreets.jobs import (
    Check,
    ExploitabilityThreshold,
    Iterations,
    Progress,
    RegretThreshold,
    line_progress,
    live_progress,
    progress_line,
    show_progress,
    train,
)
from allstreets.jobs.terminal import progress_table

CHECK = Check(12_300, 70.0, 1234.5, 94_000_000, 300_000_000, Metrics(0.0123, 4.5e-5))
PROGRESS = Progress(
    done=12_300,
    total=1_000_000,
    seconds=70.0,
    session_seconds=10.0,
    iterations_per_second=1234.5,
    eta_seconds=800.0,
    target_eta_seconds=None,
    solver_bytes=94_000_000,
    process_bytes=300_000_000,
    unit="mbb/hand",
    rules=(Iterations(1_000_000),),
    check=CHECK,
)


class Pretended(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def table(progress: Progress, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(progress_table(progress, width))
    return capture.get().rstrip("\n").split("\n")


def test_a_line() -> None:
    assert progress_line(PROGRESS) == (
        "iteration 12,300 of 1,000,000 | exploitability 0.0123 mbb/hand | avg +regret 4.50e-05 | "
        "1,234 it/s | ETA 13:20 | 300 MB"
    )
    later = replace(PROGRESS, done=12_345, total=None, eta_seconds=None, process_bytes=None)
    assert progress_line(later) == (
        "iteration 12,345 | exploitability 0.0123 mbb/hand (at 12,300) | "
        "avg +regret 4.50e-05 (at 12,300) | 1,234 it/s | ETA – | 94 MB"
    )
    first = replace(PROGRESS, done=1, check=None, iterations_per_second=None)
    assert progress_line(first) == "iteration 1 of 1,000,000 | – it/s | ETA 13:20 | 300 MB"


def test_the_nearer_end_is_told_and_a_guess_is_marked() -> None:
    assert "ETA ~1:05 |" in progress_line(replace(PROGRESS, target_eta_seconds=65.0))
    assert "ETA 13:20 |" in progress_line(replace(PROGRESS, target_eta_seconds=6500.0))
    assert "ETA ~1:05 |" in progress_line(
        replace(PROGRESS, eta_seconds=None, target_eta_seconds=65.0)
    )


def test_the_table_at_80_columns() -> None:
    lines = table(PROGRESS, 80)
    assert [line.rstrip() for line in lines[:2]] == [
        "iteration              exploitability     ETA      it/s    avg +regret  memory",
        "12,300 / 1,000,000     0.0123 mbb/hand    13:20    1,234   4.50e-05     300 MB",
    ]
    assert lines[2].endswith("  1 %")
    assert len(lines) == 3


@pytest.mark.parametrize("width", [1, 5, 20, 40, 60, 79, 80, 81, 200])
@pytest.mark.parametrize("total", [None, 10, 1_000_000, 10_000_000_000])
def test_no_line_is_wider_than_the_terminal(width: int, total: int | None) -> None:
    rules = (RegretThreshold(1e-9), ExploitabilityThreshold(1e-9))
    progress = replace(PROGRESS, total=total, rules=rules)
    lines = table(progress, width)
    assert max(len(line) for line in lines) <= width
    assert len(lines) <= 4
    if width >= 40 and total != 10_000_000_000:
        assert "0.0123 mbb/hand" in lines[1]
    if width >= 80 and total != 10_000_000_000:
        assert "memory" in lines[0]


def test_a_run_without_a_number_of_iterations_tells_its_aim() -> None:
    rules = (ExploitabilityThreshold(0.5), RegretThreshold(0.1))
    lines = table(replace(PROGRESS, total=None, rules=rules), 100)
    assert lines[2].rstrip() == (
        "until exploitability at most 0.5 mbb/hand or avg +regret at most 0.1 mbb/hand"
    )


def test_the_live_table_is_drawn_over_itself() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    now = 0.0
    with live_progress(console, clock=lambda: now) as observer:
        for step in range(1, 30):
            now += 0.03
            observer(replace(PROGRESS, done=step * 10_000))
    drawn = stream.getvalue().count("avg +regret")
    assert 8 <= drawn <= 13  # a tenth of a second apart, and the last
    left = [line.rstrip() for line in screen(stream.getvalue())]
    assert len(left) <= 5
    assert left[0].startswith("iteration ")
    assert left[1].startswith("290,000 / 1,000,000 ")
    assert left[2].endswith(" 29 %")
    assert max(len(line) for line in left) <= 80
    assert stream.getvalue().endswith("\x1b[?25h")  # the cursor is back


def test_lines_keep_their_distance() -> None:
    stream, now = io.StringIO(), 0.0
    with line_progress(stream, seconds=2.0, clock=lambda: now) as observer:
        for step in range(1, 100):
            now += 0.125
            observer(replace(PROGRESS, done=step))
    found = [int(line.split()[1]) for line in stream.getvalue().splitlines()]
    assert found == [16, 32, 48, 64, 80, 96, 99]


def test_the_end_is_always_told_once() -> None:
    stream = io.StringIO()
    with line_progress(stream) as observer:
        observer(replace(PROGRESS, done=1))
        observer(replace(PROGRESS, done=2, holding=("iterations",)))
    assert [line.split()[1] for line in stream.getvalue().splitlines()] == ["2"]
    stream = io.StringIO()
    with line_progress(stream):
        pass
    assert stream.getvalue() == ""


def drawn(stream: io.StringIO) -> str:
    with show_progress(stream) as observer:
        train(MatrixGameSolver(random_game()), [Iterations(300)], observers=[observer])
    return stream.getvalue()


@pytest.fixture
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("_plain_environment")
def test_where_there_is_no_terminal_there_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    output = drawn(io.StringIO())
    assert "\x1b" not in output
    assert output.splitlines()[-1].startswith("iteration 300 of 300 | exploitability 0.00")


@pytest.mark.usefixtures("_plain_environment")
def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    output = drawn(Pretended())
    assert "\x1b" not in output
    assert output.startswith("iteration 300 of 300 | ")


@pytest.mark.usefixtures("_plain_environment")
def test_a_terminal_gets_the_table_in_colour() -> None:
    output = drawn(Pretended())
    # How fine the colours are is up to the first terminal that a style was drawn on.
    assert re.search(r"\x1b\[(38;|3\d|9\d)", output)
    left = screen(output)
    assert left[1].startswith("300 / 300")
    assert left[2].endswith("100 %")


@pytest.mark.usefixtures("_plain_environment")
def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    output = drawn(Pretended())
    assert "300 / 300" in output
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", output)


@needs_terminals
@pytest.mark.usefixtures("_plain_environment")
def test_a_true_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    with Terminal() as terminal, show_progress(terminal.stream) as view:
        train(MatrixGameSolver(), [Iterations(300)], observers=[view])
    output = terminal.output
    assert "300 / 300" in output
    assert "100 %" in output
