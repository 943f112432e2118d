"""Seconds that tests take, by file: recorded by `make durations`, compared in every run.

1. A process that runs tests counts the processor time of each phase of a test, that of its threads
   and of processes that it has waited for included. Kernels that it compiled are counted apart:
   they are compiled once on a machine, whichever test comes first.
2. `pytest --record-durations` writes the sums to tests/durations.json.
3. Every other run says which folders took longer than their budget. It is a message: no test
   depends on it, and a busy machine changes processor time by less than the clock.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from numba.core import event

TESTS = Path(__file__).parents[1]
FILE = TESTS / "durations.json"
ROOM = 1.5
"""A new folder's budget, as a multiple of the seconds that it took when it was recorded."""
LEAST = 2.0
"""Seconds that every folder may take."""


@dataclass
class Spent:
    """Seconds of processors, of the clock, and of compiling, which are in neither of them."""

    tests: int = 0
    cpu: float = 0.0
    wall: float = 0.0
    compiling: float = 0.0

    def add(self, report: pytest.TestReport) -> None:
        """Count a phase of a test."""
        cpu, compiling = getattr(report, "spent", (0.0, 0.0))
        self.tests += report.when == "call"
        self.cpu += cpu
        self.wall += max(report.duration - compiling, 0.0)
        self.compiling += compiling

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.tests + other.tests,
            self.cpu + other.cpu,
            self.wall + other.wall,
            self.compiling + other.compiling,
        )

    def mapping(self) -> dict[str, float]:
        """The durations as they are stored."""
        return {"tests": self.tests, "cpu": round(self.cpu, 2), "wall": round(self.wall, 2)}


@dataclass
class Record:
    """The stored seconds of every test file, and what each folder may take."""

    budgets: dict[str, float] = field(default_factory=dict)
    files: dict[str, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = FILE) -> "Record":
        """Out of a file; empty where there is none."""
        if not path.is_file():
            return cls()
        stored = json.loads(path.read_text())
        return cls(stored["budgets"], stored["files"])

    def renewed(self, spent: Mapping[str, Spent]) -> "Record":
        """With the files of a run; a folder keeps the budget that it has."""
        folders = by_folder(spent)
        budgets = {
            name: self.budgets.get(name, float(ceil(max(LEAST, ROOM * folder.cpu))))
            for name, folder in sorted(folders.items())
        }
        return Record(budgets, {name: spent[name].mapping() for name in sorted(spent)})

    def write(self, path: Path = FILE) -> None:
        """Into a file."""
        path.write_text(json.dumps({"budgets": self.budgets, "files": self.files}, indent=1) + "\n")

    def exceeded(self, spent: Mapping[str, Spent]) -> list[str]:
        """A line for every folder that took longer than it may, the farthest over first."""
        over = [
            (folder.cpu / budget, f"{name} took {folder.cpu:.0f} s, its budget is {budget:.0f} s")
            for name, folder in by_folder(spent).items()
            if (budget := self.budgets.get(name)) is not None and folder.cpu > budget
        ]
        return [line for _, line in sorted(over, reverse=True)]


def by_folder(spent: Mapping[str, Spent]) -> dict[str, Spent]:
    """Sums of files, by the folder of `tests` they are in."""
    folders: dict[str, Spent] = defaultdict(Spent)
    for name, seconds in spent.items():
        folders[Path(name).parent.as_posix()] += seconds
    return dict(folders)


class Compiling(event.Listener):
    """Processor seconds of compiling kernels; one that is compiled for another counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth, self._start = 0, 0.0

    def on_start(self, event: object) -> None:
        """The compiler begins; it works in one thread."""
        del event
        if not self._depth:
            self._start = time.thread_time()
        self._depth += 1

    def on_end(self, event: object) -> None:
        """The compiler has ended."""
        del event
        self._depth -= 1
        if not self._depth:
            self.seconds += time.thread_time() - self._start


class Durations:
    """The plugin: counts in processes that run tests, and sums where they report to."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.spent: dict[str, Spent] = defaultdict(Spent)
        self.compiling = Compiling()
        self._before = self._now()
        event.register("numba:compile", self.compiling)  # type: ignore[no-untyped-call]

    def _now(self) -> tuple[float, float]:
        """Processor seconds of this process and its children, and seconds of compiling."""
        times = os.times()
        cpu = times.user + times.system + times.children_user + times.children_system
        return cpu, self.compiling.seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Before a test: the time spent until now belongs to none."""
        self._before = self._now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """After a phase of a test; what is noted here goes to the process that sums."""
        del item
        report = yield
        cpu, compiling = self._now()
        compiled = compiling - self._before[1]
        noted: Any = report
        noted.spent = (max(cpu - self._before[0] - compiled, 0.0), compiled)
        self._before = cpu, compiling
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a test has ended, here or in another process."""
        name = report.nodeid.partition("::")[0]
        self.spent[name].add(report)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Record, or compare."""
        if not self.spent or hasattr(self.config, "workerinput"):
            return  # a process of xdist's knows its own tests alone
        whole = sum(self.spent.values(), Spent())
        terminalreporter.write_line(
            f"{whole.cpu:.0f} s of processor time, and {whole.compiling:.0f} s for kernels"
        )
        if self.config.getoption("record_durations"):
            Record.read().renewed(self.spent).write()
            terminalreporter.write_line(f"Recorded: {FILE.relative_to(TESTS.parent)}")
            return
        if self.config.getoption("all"):
            return  # long tests have no budget
        for line in Record.read().exceeded(self.spent):
            terminalreporter.write_line(f"Over budget: {line} of processor time")
