"""Processes that are interrupted or killed lose at most one checkpoint interval, and no bit."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from matrix_game import MatrixGameSolver, random_game

from allstreets.storage import latest_checkpoint
from allstreets.training import Iterations, train
from allstreets.training.interrupt import InterruptRequest

SCRIPT = Path(__file__).with_name("run_matrix_game.py")
CHECK, CHECKPOINT = 20, 40  # as in the script
FOREVER = 10_000_000


@contextmanager
def running(folder: Path, iterations: int, *, resume: bool) -> Iterator[subprocess.Popen[str]]:
    """The script as a process, which does not outlive the test."""
    command = [sys.executable, str(SCRIPT), str(folder), str(iterations)]
    process = subprocess.Popen(
        command + ["--resume"] * resume,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(SCRIPT.parents[1]), *sys.path])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def solver() -> MatrixGameSolver:
    return MatrixGameSolver(random_game(), game="random", sampled=True)


def assert_as_if_uninterrupted(folder: Path, iterations: int) -> None:
    """The last checkpoint equals a run without interruption, and so do the metrics."""
    whole = solver()
    outcome = train(whole, [Iterations(iterations)])
    stored = latest_checkpoint(folder, whole.identity)
    assert stored.iterations == iterations
    for name, array in whole.state().items():
        assert stored.arrays[name].tobytes() == array.tobytes()
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    grid = [row for row in rows if row["iteration"] % CHECK == 0]
    assert [row["iteration"] for row in grid] == list(range(CHECK, iterations + 1, CHECK))
    for row, check in zip(
        (row for row in grid if row["iteration"] % 100 == 0), outcome.history, strict=False
    ):
        assert row["exploitability"] == check.metrics.exploitability


def wait_for(process: subprocess.Popen[str], iterations: int) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= iterations:
            return int(line)
    raise AssertionError("the process ended too early")


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with running(folder, FOREVER, resume=False) as process:
        wait_for(process, 100)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    stored = latest_checkpoint(folder, solver().identity)
    assert output.splitlines()[-1] == (
        f"interrupted at iteration {stored.iterations:,}; saved in {folder}, "
        "go on with the same command and --resume"
    )
    # Not a terminal: plain lines, no colours, and the last one tells where it stopped.
    assert "\x1b" not in errors
    assert errors.splitlines()[-1].startswith(f"iteration {stored.iterations:,} of 10,000,000 | ")
    end = stored.iterations - stored.iterations % 100 + 200
    with running(folder, end, resume=True) as process:
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert_as_if_uninterrupted(folder, end)


def test_a_second_ctrl_c_aborts(tmp_path: Path) -> None:
    """The second one comes while the first still waits: the program is held in an observer."""
    request = InterruptRequest()
    request.handle(signal.SIGINT, None)
    assert request.made
    with pytest.raises(KeyboardInterrupt):
        request.handle(signal.SIGINT, None)
    # Many at once, to a real process: it ends by the one way or the other, and soon.
    with running(tmp_path / "run", FOREVER, resume=False) as process:
        wait_for(process, 100)
        for _ in range(50):
            process.send_signal(signal.SIGINT)
            time.sleep(0.0002)
        process.wait(timeout=60)
    assert latest_checkpoint(tmp_path / "run", solver().identity).iterations >= 80


def test_kill_at_any_moment_loses_at_most_one_interval(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    chance = random.Random(5)
    reached = 0
    for attempt in range(8):
        with running(folder, FOREVER, resume=attempt > 0) as process:
            wait_for(process, reached + CHECKPOINT + CHECK)
            time.sleep(chance.uniform(0, 0.05))
            process.kill()
            output, _ = process.communicate(timeout=60)
        told = [int(line) for line in output.splitlines() if line.isdigit()]
        stored = latest_checkpoint(folder, solver().identity)
        # What was told last was trained; the checkpoint before it is on disk.
        assert stored.iterations >= max(told, default=0) - CHECKPOINT
        assert stored.iterations > reached
        reached = stored.iterations
    end = reached - reached % 100 + 200
    with running(folder, end, resume=True) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert_as_if_uninterrupted(folder, end)
    left = sorted(path.name for path in folder.iterdir())
    assert [name for name in left if name.startswith(".")] == [".lock"]
    assert len([name for name in left if name.startswith("checkpoint-")]) == 2
