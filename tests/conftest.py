"""Settings for all tests."""

import atexit
import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# Machines that run tests are busy: a slow example is not a failure. Examples are the same in every
# run, so that what passes does so again; `thorough` looks for others, and for more of them.
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.register_profile("default", deadline=None, derandomize=True, max_examples=15)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(PROFILE)

# No test may touch what the user has practised.
_FOLDER = Path(tempfile.mkdtemp(prefix="allstreets-practice-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
os.environ["ALLSTREETS_PRACTICE"] = str(_FOLDER / "practice.sqlite")

gc.disable()  # while tests are collected: nothing of them is garbage


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long variants of other tests to thorough runs."""
    if PROFILE == "thorough":
        return
    long = [item for item in items if item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in set(long)]


def pytest_collection_finish() -> None:
    """What was collected stays: nobody need look through it for garbage again."""
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)  # as in `jobs.compiling`: many tests compile kernels
    gc.enable()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how to have this order of tests again; pytest -q leaves out the line that does."""
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if "no GPU on this machine" in str(report.longrepr)
    ]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests need a GPU and were skipped; their kernels ran as C++ here"
        )
    seed = config.getoption("randomly_seed", default=None)
    if isinstance(seed, int):
        terminalreporter.write_line(f"The same order again: --randomly-seed={seed}")
