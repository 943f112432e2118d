"""Kernels compiled ahead of need: the smallest jobs call what real ones call."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from allstreets.base import InputError
from allstreets.jobs import compiling
from allstreets.jobs.compiling import KINDS, TASKS, compile_ahead, tasks_of


def test_kinds_are_made_of_tasks() -> None:
    assert set(KINDS["all"]) == set(TASKS)
    assert tasks_of(["spots", "first-run"]) == ["flop", "turn", "river", "boards", "classes"]
    with pytest.raises(InputError, match="did you mean 'spots'"):
        tasks_of(["spot"])


REAL_JOB = """
import sys
from allstreets import Spot, solve
spot = Spot(board="Ks7d4c9h2s", oop="22+,A2s+", ip="KTs+,QQ+", pot=10, stack=95, rake="5%")
print(solve(spot, target=0.01).exploitability < 0.01)
modules = [vars(module) for name, module in sys.modules.items() if name.startswith("allstreets.")]
kernels = {id(found): found for names in modules for found in names.values()}.values()
stats = [found.stats for found in kernels if hasattr(found, "stats")]
print(sum(map(len, (one.cache_hits for one in stats))) > 0)
print([str(one) for one in stats if one.cache_misses])
"""


def test_a_real_job_finds_every_kernel() -> None:
    TASKS["river"]()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", REAL_JOB],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["True", "True", "[]"]


def test_what_was_compiled_is_not_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    class Quick(subprocess.Popen[bytes]):
        def __init__(self, command: list[str], **options: Any) -> None:
            started.append(command[-1])
            super().__init__([sys.executable, "-c", ""], **options)

    monkeypatch.setattr(compiling, "compiled_folder", lambda: tmp_path)
    monkeypatch.setattr(subprocess, "Popen", Quick)
    compile_ahead(["first-run"], processes=1)
    assert started == ["boards", "classes", "flop"]
    compile_ahead(["spots"], processes=1)
    assert started == ["boards", "classes", "flop", "turn", "river"]
    compile_ahead(["spots", "first-run"])
    assert len(started) == 5


KILLED = """
import os, signal, subprocess
from allstreets.jobs.compiling import compile_ahead
class Last(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
subprocess.Popen = Last
compile_ahead(["spots"], 1)
"""


def test_who_compiles_ends_with_the_job(tmp_path: Path) -> None:
    """Right after a process was started to compile what takes half a minute."""
    places = os.pathsep.join(path for path in sys.path if path)
    job = subprocess.run(
        [sys.executable, "-c", KILLED],
        env=os.environ | {"ALLSTREETS_CACHE": str(tmp_path), "PYTHONPATH": places},
        stderr=subprocess.PIPE,  # which is read until the last that holds it has ended
    )
    assert (job.returncode, job.stderr) == (-signal.SIGKILL, b"")
    assert not list(tmp_path.rglob("solved-*"))  # the mark that all has been compiled


def test_a_task_that_fails_ends_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    class Failing(subprocess.Popen[bytes]):
        def __init__(self, _: list[str], **options: Any) -> None:
            started.append("")
            program = "input()" if len(started) == 1 else "raise SystemExit(3)"
            super().__init__([sys.executable, "-c", program], **options)

    monkeypatch.setattr(compiling, "compiled_folder", lambda: tmp_path)
    monkeypatch.setattr(subprocess, "Popen", Failing)
    with pytest.raises(subprocess.CalledProcessError, match="exit status 3"):
        compile_ahead(["first-run"], processes=2)
    assert not list(tmp_path.iterdir())
