"""A job of many pieces as a person sees it."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from allstreets.jobs import Progress, line_progress, live_progress, pieces, progress_line
from allstreets.jobs.flops import flop_figures
from allstreets.jobs.terminal import in_work, progress_table

GROUP = Progress(
    done=45,
    total=200,
    seconds=1.0,
    session_seconds=1.0,
    iterations_per_second=45.0,
    eta_seconds=3.0,
    target_eta_seconds=None,
    solver_bytes=1_000_000,
    process_bytes=None,
    unit="% of pot",
    rules=(),
    check=None,
)
NAMES = "AsKh7d", "9s8s2h", "QsQh5d", "Ks7h2d", "7s7h2d", "AsAhAd"
ROW = {"multiplicity": 24, "exploitability": 0.004}
ROWS = (ROW, {"multiplicity": 12, "exploitability": 0.01})


def flops(done: int = 102, rows: Sequence[dict[str, Any]] = ROWS, **facts: Any) -> Progress:
    """Flops one by one, where this run has begun with the 101st."""
    known: dict[str, Any] = {
        "running": tuple((name, spr) for name in NAMES for spr in (1.0, 3.5)),
        "part": GROUP,
        "process_bytes": 350_000_000,
    }
    seconds = 187.0 * 2 / (1755 - 102)
    return pieces(
        "flops",
        done,
        1755,
        seconds,
        lambda progress: flop_figures(progress, rows),
        before=100,
        **{**known, **facts},
    )


PROGRESS = flops()


def group_in_work(progress: Progress) -> str:
    (line,) = in_work(progress)
    return line


def test_the_group_in_work() -> None:
    line = "AsKh7d, 9s8s2h, QsQh5d, Ks7h2d and 2 more: "
    assert group_in_work(PROGRESS) == f"{line}iteration 45 of 200"
    assert group_in_work(replace(PROGRESS, part=None)) == f"{line}setting up"
    few = replace(PROGRESS, running=(("AsKh7d", 3.5),))
    assert group_in_work(few) == "AsKh7d: iteration 45 of 200"


def test_a_line() -> None:
    assert progress_line(PROGRESS) == (
        "flops 102 of 1,755 | expl mean 0.0060 max 0.0100 of pot | ETA 3:07 | 350 MB | "
        "AsKh7d, 9s8s2h, QsQh5d, Ks7h2d and 2 more: iteration 45 of 200"
    )
    first = flops(100, (), running=(), process_bytes=None)
    assert progress_line(first) == "flops 100 of 1,755 | ETA – | –"


def test_lines_come_now_and_then_and_at_the_end() -> None:
    now, stream = 0.0, io.StringIO()
    fault = "flop 9s8s2h failed: KeyError: 'x'"
    with line_progress(stream, clock=lambda: now) as draw:
        for second in range(12):
            now = float(second)
            rows = (ROW,) * second
            faults = (fault,) if second > 7 else ()
            draw(flops(100 + second, rows, faults=faults, failed=len(faults)))
    lines = stream.getvalue().splitlines()
    assert [line.partition(" |")[0] for line in lines] == [
        "flops 105 of 1,755",
        "flop 9s8s2h failed: KeyError: 'x'",
        "flops 110 of 1,755",
        "flops 111 of 1,755",
    ]
    assert "1 failed" in lines[-1]


@pytest.mark.parametrize("width", [30, 60, 200])
def test_the_picture_fits_the_terminal(width: int) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=True, color_system=None)
    progress = replace(
        PROGRESS,
        faults=("flop 9s8s2h failed: " + "a long story " * 20,),
    )
    console.print(progress_table(progress, width))
    lines = stream.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    assert any(line.startswith("AsKh7d, 9s8s2h") for line in lines)
    assert any("102 / 1,755 flops" in line for line in lines)
    assert any("9s8s2h failed" in line for line in lines)


def test_a_terminal_keeps_the_last_state() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, force_terminal=True, color_system=None)
    with live_progress(console) as draw:
        draw(PROGRESS)
        draw(replace(PROGRESS, done=1755, running=()))
    assert "1,755 / 1,755 flops" in stream.getvalue()
