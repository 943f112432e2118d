"""The tools of tests: durations and their budgets, folders that are made once."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from harness.durations import FILE, Compiling, Durations, Record, Spent, by_folder
from harness.made_once import IN_USE, digest_of, made_once, remove_unused, sources

TESTS = Path(__file__).parent
Phase = Literal["setup", "call", "teardown"]


def spent(cpu: float) -> Spent:
    return Spent(tests=1, cpu=cpu, wall=2 * cpu)


def test_budgets_of_folders() -> None:
    record = Record({"tests/cards": 10.0, "tests/cfr": 5.0, "tests": 3.0}, {})
    run = {
        "tests/cards/test_a.py": spent(6),
        "tests/cards/test_b.py": spent(9),
        "tests/cfr/test_c.py": spent(4.9),
        "tests/test_docs.py": spent(4),
        "tests/new/test_d.py": spent(99),
    }
    assert by_folder(run)["tests/cards"].cpu == 15
    assert record.exceeded(run) == [
        "tests/cards took 15 s, its budget is 10 s",
        "tests took 4 s, its budget is 3 s",
    ]


def test_a_record_is_renewed_and_budgets_stay(tmp_path: Path) -> None:
    before = Record({"tests/cards": 10.0, "tests/gone": 7.0}, {"tests/gone/test_a.py": {}})
    run = {"tests/cards/test_b.py": spent(20), "tests/cfr/test_c.py": spent(3)}
    before.renewed(run).write(tmp_path / "durations.json")
    after = Record.read(tmp_path / "durations.json")
    assert after.budgets == {"tests/cards": 10.0, "tests/cfr": 5.0}  # half as much again
    assert after.files == {
        "tests/cards/test_b.py": {"tests": 1, "cpu": 20, "wall": 40},
        "tests/cfr/test_c.py": {"tests": 1, "cpu": 3, "wall": 6},
    }
    assert Record.read(tmp_path / "nothing.json") == Record()


def test_every_recorded_folder_has_a_budget_and_keeps_to_it() -> None:
    stored = json.loads(FILE.read_text())
    taken = dict.fromkeys(stored["budgets"], 0.0)
    for name, file in stored["files"].items():
        taken[Path(name).parent.as_posix()] += file["cpu"]
    assert all(taken[folder] <= budget for folder, budget in stored["budgets"].items())


def test_phases_of_a_test_are_counted(pytestconfig: pytest.Config) -> None:
    plugin = Durations(pytestconfig)
    phases: dict[Phase, float] = {"setup": 0.5, "call": 2.0, "teardown": 0.25}
    for when, seconds in phases.items():
        report = pytest.TestReport(
            "tests/cfr/test_c.py::test_x", ("", 0, ""), {}, "passed", None, when, duration=seconds
        )
        report.spent = (seconds, 0.125)  # type: ignore[attr-defined]
        plugin.pytest_runtest_logreport(report)
    (found,) = plugin.spent.values()
    assert found == Spent(tests=1, cpu=2.75, wall=2.375, compiling=0.375)


def test_kernels_that_are_compiled_for_others_count_once() -> None:
    compiling = Compiling()
    compiling.on_start(None)
    compiling.on_start(None)
    sum(range(100_000))
    compiling.on_end(None)
    assert compiling.seconds == 0
    compiling.on_end(None)
    assert compiling.seconds > 0


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        folder.mkdir()
        (folder / "numbers").write_text("1 2 3")

    for _ in range(2):
        folder = made_once("a solution", make, tmp_path)
        assert (folder / "numbers").read_text() == "1 2 3"
    assert len(made) == 1
    assert made[0] != folder  # it is made under another name


def test_what_fails_is_made_again(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        folder.mkdir()
        (folder / "half").touch()
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        made_once("it", fail, tmp_path)
    folder = made_once("it", Path.mkdir, tmp_path)
    assert list(folder.iterdir()) == []


MAKER = """
import os, signal, sys
from pathlib import Path
from harness.made_once import made_once
root, ending = Path(sys.argv[1]), sys.argv[2]

def make(folder):
    folder.mkdir()
    with (root / "made").open("a") as file:
        file.write("x")
    (folder / "half").touch()
    if ending == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / "half").rename(folder / "whole")

print(sorted(path.name for path in made_once("it", make, root).iterdir()))
"""


def process(root: Path, ending: str) -> "subprocess.Popen[str]":
    paths = os.pathsep.join([str(TESTS), *(path for path in sys.path if path)])
    return subprocess.Popen(
        [sys.executable, "-c", MAKER, str(root), ending],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_processes_wait_for_each_other_and_a_killed_one_leaves_nothing(tmp_path: Path) -> None:
    killed = process(tmp_path, "killed")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "it").exists()
    both = [process(tmp_path, "ended") for _ in range(2)]
    assert [one.communicate()[0].strip() for one in both] == ["['whole']"] * 2
    assert (tmp_path / "made").read_text() == "xx"  # by the killed one, and by one of two


def test_folders_of_other_sources_go_when_they_are_old(tmp_path: Path) -> None:
    for name, age in (("tests-old", 100_000), ("tests-new", 10), ("kernels-old", 100_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / IN_USE).touch()
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    remove_unused(tmp_path, 1e9)
    assert {path.name for path in tmp_path.iterdir()} == {"tests-new", "kernels-old"}


def test_every_source_counts() -> None:
    files = list(sources())
    assert TESTS / "builders" / "solutions.py" in files
    assert TESTS.parent / "allstreets" / "engines" / "cuda" / "exact.cu" in files
    assert not any("node_modules" in path.parts for path in files)
    assert digest_of(files) == digest_of(reversed(files))
    assert digest_of(files) != digest_of(files[1:])


def test_every_mistake_can_still_be_planted() -> None:
    """Each text that `make mutations` replaces is in the package exactly once."""
    path = TESTS.parent / "benchmarks" / "mutations.py"
    found = importlib.util.spec_from_file_location("mutations", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["mutations"] = module  # where dataclasses look
    found.loader.exec_module(module)
    assert len(module.MUTATIONS) >= 10
    for mutation in module.MUTATIONS:
        file = mutation.file(TESTS.parent)
        assert mutation.text != mutation.instead
        assert file.suffix == ".py"
