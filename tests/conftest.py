"""Settings for all tests."""

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from pathlib import Path

import harness.one_thread  # noqa: F401  # before NumPy is loaded
import pytest
from harness.durations import Durations
from hypothesis import settings

from allstreets.base.locks import held

# Machines that run tests are busy: a slow example is not a failure. Examples are the same in every
# run, so that what passes does so again; `thorough` looks for others, and for more of them.
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.register_profile("default", deadline=None, derandomize=True, max_examples=15)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(PROFILE)

# No test may touch what the user has practised, or see what he has solved.
_FOLDER = Path(tempfile.mkdtemp(prefix="allstreets-practice-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
os.environ["ALLSTREETS_PRACTICE"] = str(_FOLDER / "practice.sqlite")
os.environ["ALLSTREETS_LIBRARY"] = str(_FOLDER / "library")


@pytest.fixture(scope="module", autouse=True)
def _own_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Ready-made games that a file of tests opens are unpacked where no other file sees them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALLSTREETS_LIBRARY", str(tmp_path_factory.mktemp("library")))
        yield


HEAVY = ("test_api_properties.py",)

# Processes are killed here, but no machine loses its power: nothing need wait for the disk.
os.fsync = lambda fd: None  # noqa: ARG005


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of our own."""
    parser.addoption("--all", action="store_true", help="run tests that are marked long too")
    parser.addoption("--record-durations", action="store_true", help="write tests/durations.json")


def pytest_configure(config: pytest.Config) -> None:
    """Count what tests take."""
    config.pluginmanager.register(Durations(config), "durations")


gc.disable()  # while tests are collected: nothing of them is garbage


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import a file of long tests whose tools take long to import."""
    long = PROFILE == "thorough" or config.getoption("all")
    return True if collection_path.name in HEAVY and not long else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """One process compiles a file and what it imports first; the others read what that wrote."""
    with held(collector.path) if isinstance(collector, pytest.Module) else nullcontext():
        return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long tests to `make test-all`, and long variants of others to thorough runs."""
    left_out = {"thorough"} if PROFILE != "thorough" else set()
    if PROFILE != "thorough" and not config.getoption("all"):
        left_out.add("long")
    long = {item for item in items if any(map(item.get_closest_marker, left_out))}
    config.hook.pytest_deselected(items=list(long))
    items[:] = [item for item in items if item not in long]


def pytest_collection_finish() -> None:
    """Keep the collected objects out of later garbage collections."""
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
