"""Flops judged by processes of their own: the same figures, and nothing lost when one dies."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders.crews import TasksHere
from builders.small_games import solve_limped

from allstreets.analysis import Completion, Judge
from allstreets.base import InputError
from allstreets.engines import CLASSES
from allstreets.storage import load_unified
from allstreets.training import CertifyJob, CertifyProgress, certify_run, plan_certify
from allstreets.training.certify_cluster import JudgedSolution, JudgesThere, judge_there
from allstreets.training.certify_workers import Workers, work_for

FLOPS = ["KsKhKd", "AsAhAd", "QsQhQd"]
QUICKLY = Completion(CLASSES, 5)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return solve_limped(tmp_path_factory.mktemp("workers"), FLOPS)


@pytest.fixture
def copy(solved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(solved, tmp_path / "copy"))


def job(folder: Path) -> CertifyJob:
    return plan_certify(folder, "own", completion=lambda _: QUICKLY, threads=1)


def judged(folder: Path) -> list[np.ndarray]:
    work = job(folder).work
    found = [work.load(flop.text, None) for flop in job(folder).flops]
    return [values.best for values, _ in (each for each in found if each is not None)]


@pytest.fixture(scope="module")
def alone(solved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that one process has judged."""
    folder = Path(shutil.copytree(solved, tmp_path_factory.mktemp("workers") / "alone"))
    assert job(folder).run().certificate is not None
    return folder


def test_processes_find_what_one_finds(alone: Path, copy: Path) -> None:
    wanted = load_unified(alone).facts.certificate
    job(copy).work.begin()
    flops = job(copy).flops
    found = list(Workers(job(copy).judge, copy, 2).judge(flops, lambda: False))
    assert sorted(flop.text for flop in found) == sorted(flop.text for flop in flops)
    for one, other in zip(judged(alone), judged(copy), strict=True):
        np.testing.assert_array_equal(one, other)
    again = job(copy).run().certificate
    assert wanted is not None
    assert again is not None
    assert again.real_exploitability_mbb == wanted.real_exploitability_mbb


class Hired:
    """A crew that hands flops to tasks."""

    def __init__(self, tasks: TasksHere) -> None:
        self._tasks = tasks

    def begin(self, job: CertifyJob) -> AbstractContextManager[JudgesThere]:
        return nullcontext(JudgesThere(job, self._tasks))


def test_tasks_of_a_cluster_find_what_one_finds(alone: Path, copy: Path) -> None:
    wanted, seen = load_unified(alone).facts.certificate, list[CertifyProgress]()

    def press(progress: CertifyProgress) -> None:
        if progress.done == 1:
            signal.raise_signal(signal.SIGINT)

    tasks = TasksHere(1)
    assert replace(job(copy), crew=Hired(tasks)).run([press]).interrupted
    assert (tasks.done, len(judged(copy))) == ([0], 1)
    tasks = TasksHere(2, lost=[1])  # done twice
    found = replace(job(copy), crew=Hired(tasks)).run([seen.append]).certificate
    assert tasks.done == [1, 1, 0]
    for one, other in zip(judged(alone), judged(copy), strict=True):
        np.testing.assert_array_equal(one, other)
    assert wanted is not None
    assert found is not None
    assert replace(found, seconds=wanted.seconds) == wanted
    assert sum(node.solved for node in seen[-1].nodes) == 2


def test_machines_that_have_another_solution_judge_nothing(copy: Path) -> None:
    this = JudgedSolution(copy, job(copy).work.facts["judged"], QUICKLY, 1, "cpu")
    this.require()
    other, nowhere = replace(this, judged="another hash"), replace(this, folder=copy / "elsewhere")
    for solution, words in ((other, "is another one on"), (nowhere, "is not there on")):
        with pytest.raises(InputError, match=rf"{words} .*\nWorkers open it themselves"):
            judge_there(solution, job(copy).flops[0])


def test_a_worker_answers_line_by_line(copy: Path) -> None:
    job(copy).work.begin()
    facts = json.dumps({"model": CLASSES.facts(), "iterations": 5, "threads": 1, "device": "cpu"})
    answers = io.StringIO()
    work_for(copy, facts, io.StringIO("AsAhAd\nKsKhKd\n"), answers)
    assert answers.getvalue().splitlines() == ["done AsAhAd", "done KsKhKd"]
    assert len(judged(copy)) == 2


def as_workers(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let a job believe that several workers are worth it, and let them be this program."""

    class Others(Workers):
        def __init__(self, judge: Judge, *_: object) -> None:
            super().__init__(judge, Path(), 2)
            self._command = [sys.executable, "-c", program]

    class Several(CertifyJob):
        def estimate(self):  # type: ignore[no-untyped-def]
            from dataclasses import replace

            return replace(super().estimate(), at_once=2)

    monkeypatch.setattr(certify_run, "Workers", Others)
    monkeypatch.setattr(certify_run, "CertifyJob", Several)


def test_flops_of_workers_that_die_are_judged_all_the_same(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_workers(monkeypatch, "import os; os._exit(9)")
    assert job(copy).run().certificate is not None


def test_what_a_worker_cannot_do_is_told(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_workers(monkeypatch, """input(); print('failed "the disk is full"', flush=True); input()""")
    with pytest.raises(InputError, match="the disk is full"):
        job(copy).run()


def test_after_a_request_to_stop_no_flop_is_begun(copy: Path) -> None:
    workers = Workers(job(copy).judge, copy, 2)
    assert list(workers.judge(job(copy).flops, lambda: True)) == []
    assert judged(copy) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from allstreets.analysis import Completion
from allstreets.engines import CLASSES
from allstreets.training import certify_workers, plan_certify
folder = Path(sys.argv[1])
job = plan_certify(folder, "own", completion=lambda _: Completion(CLASSES, 5), threads=1)
job.work.begin()
certify_workers._answered = lambda _: os.kill(os.getpid(), signal.SIGKILL)
list(certify_workers.Workers(job.judge, folder, 1).judge(job.flops, lambda: False))
"""


def test_who_judges_ends_with_the_job(copy: Path) -> None:
    """Killed when its first flop has been named: the worker ends, and has nothing to say."""
    job = subprocess.run(
        [sys.executable, "-c", KILLED, str(copy)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stderr=subprocess.PIPE,  # which is read until the last that holds it has ended
    )
    assert (job.returncode, job.stderr) == (-signal.SIGKILL, b"")
