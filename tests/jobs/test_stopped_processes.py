"""Runs that are killed lose at most one checkpoint interval, and no bit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders.matrix_game import MatrixGameSolver, random_game

from allstreets.jobs import Iterations, train
from allstreets.storage import latest_checkpoint

SCRIPT = Path(__file__).with_name("kill_runs.py")
CHECK, CHECKPOINT = 20, 40  # as in the script
DEATHS, END = 12, 600


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")
@pytest.mark.long
def test_killed_at_any_write_a_run_loses_at_most_one_interval(tmp_path: Path) -> None:
    """Long: every write is tried."""
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), str(DEATHS), str(END)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(SCRIPT.parents[1]), *sys.path])},
    )
    deaths = json.loads(done.stdout)
    stored = [at for _, at in deaths]
    for told, at in deaths:
        assert told - CHECKPOINT <= at <= told
    assert stored == sorted(stored)
    assert 0 == stored[0] < stored[-1] < END
    assert_as_if_uninterrupted(folder)
    left = sorted(path.name for path in folder.iterdir())
    assert [name for name in left if name.startswith(".")] == [".lock"]
    assert len([name for name in left if name.startswith("checkpoint-")]) == 2


def assert_as_if_uninterrupted(folder: Path) -> None:
    """The last checkpoint equals a run without interruption, and so do the metrics."""
    whole = MatrixGameSolver(random_game(), game="random", sampled=True)
    outcome = train(whole, [Iterations(END)])
    stored = latest_checkpoint(folder, whole.identity)
    assert stored.iterations == END
    for name, array in whole.state().items():
        assert stored.arrays[name].tobytes() == array.tobytes()
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows] == list(range(CHECK, END + 1, CHECK))
    every_fifth = [row["exploitability"] for row in rows if row["iteration"] % 100 == 0]
    assert every_fifth == [check.metrics.exploitability for check in outcome.history]
