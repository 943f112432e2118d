"""Flops evaluated in processes and on a cluster: the same figures, and nothing lost with one."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders.small_games import solve_limped
from builders.worker_pools import TasksHere, as_cluster

from allstreets.analysis import CertificateEstimate
from allstreets.base import InputError
from allstreets.cards import Flop
from allstreets.engines import CLASSES
from allstreets.jobs import Callbacks, CertifyJob, Progress, certificate, plan_certify
from allstreets.jobs.certificate import CertifyOnCluster, Evaluated, EvaluateFlop
from allstreets.solvers import Completion
from allstreets.storage import load_unified

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
    found = work.load((flop.text, None) for flop in job(folder).flops)
    return [values.best for values, _ in (each for each in found if each is not None)]


@pytest.fixture(scope="module")
def alone(solved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that one process has judged."""
    folder = Path(shutil.copytree(solved, tmp_path_factory.mktemp("workers") / "alone"))
    assert job(folder).run().certificate is not None
    return folder


def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a job believe that two processes are worth it."""
    true_estimate = CertifyJob.estimate

    def estimate(job: CertifyJob) -> CertificateEstimate:
        return replace(true_estimate(job), at_once=2)

    monkeypatch.setattr(CertifyJob, "estimate", estimate)


def test_processes_find_what_one_finds(
    alone: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, seen = load_unified(alone).facts.certificate, list[Progress]()
    several(monkeypatch)
    again = job(copy).run(Callbacks(progress=(seen.append,))).certificate
    assert [progress.done for progress in seen] == [0, 1, 2, 3]
    assert {progress.latest for progress in seen[1:3]} < {flop.text for flop in job(copy).flops}
    for one, other in zip(judged(alone), judged(copy), strict=True):
        np.testing.assert_array_equal(one, other)
    assert wanted is not None
    assert again is not None
    assert again.real_exploitability_mbb == wanted.real_exploitability_mbb


def test_tasks_of_a_cluster_find_what_one_finds(
    alone: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, seen = load_unified(alone).facts.certificate, list[Progress]()

    def press(progress: Progress) -> None:
        if progress.done == 1:
            signal.raise_signal(signal.SIGINT)

    there = CertifyOnCluster("auto")
    tasks = TasksHere(1)
    as_cluster(monkeypatch, tasks)
    assert replace(job(copy), cluster=there).run(Callbacks(progress=(press,))).interrupted
    assert (tasks.done, len(judged(copy))) == ([0], 1)
    tasks = TasksHere(2, lost=[1])  # done twice
    as_cluster(monkeypatch, tasks)
    found = replace(job(copy), cluster=there).run(Callbacks(progress=(seen.append,))).certificate
    assert tasks.done == [1, 1, 0]
    for one, other in zip(judged(alone), judged(copy), strict=True):
        np.testing.assert_array_equal(one, other)
    assert wanted is not None
    assert found is not None
    assert replace(found, seconds=wanted.seconds) == wanted
    assert sum(node.solved for node in seen[-1].nodes) == 2


def test_machines_that_have_another_solution_judge_nothing(copy: Path) -> None:
    this = EvaluateFlop(copy, job(copy).work.facts["judged"], QUICKLY, 1, "cpu")
    this.require()
    other, nowhere = replace(this, judged="another hash"), replace(this, folder=copy / "elsewhere")
    for solution, words in ((other, "is another one on"), (nowhere, "is not there on")):
        with pytest.raises(InputError, match=rf"{words} .*\nWorkers open it themselves"):
            solution(job(copy).flops[0])


class Dying(EvaluateFlop):
    """Evaluates nothing: the system kills its process."""

    def __call__(self, flop: Flop) -> Evaluated:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError(flop)


class Failing(EvaluateFlop):
    """Evaluates nothing."""

    def __call__(self, flop: Flop) -> Evaluated:
        raise InputError(f"the disk is full, says {flop.text}")


@pytest.mark.long
def test_flops_of_workers_that_die_are_judged_all_the_same(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long: processes are killed."""
    several(monkeypatch)
    monkeypatch.setattr(certificate, "EvaluateFlop", Dying)
    assert job(copy).run().certificate is not None


@pytest.mark.long
def test_what_a_worker_cannot_do_is_told(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long: processes of its own."""
    several(monkeypatch)
    monkeypatch.setattr(certificate, "EvaluateFlop", Failing)
    with pytest.raises(
        InputError, match=r"(.{6}) could not be evaluated: the disk is full, says \1"
    ):
        job(copy).run()


def test_after_a_request_to_stop_no_flop_is_begun(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(progress: Progress) -> None:
        assert progress.done == 0
        signal.raise_signal(signal.SIGINT)

    several(monkeypatch)
    outcome = job(copy).run(Callbacks(progress=(press,)))
    assert (outcome.interrupted, outcome.done) == (True, 0)
    assert judged(copy) == []


KILLED = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from allstreets.solvers import Completion
from allstreets.engines import CLASSES
from allstreets.jobs import executors
from allstreets.jobs import plan_certify
from allstreets.jobs.certificate import CertifyJob
estimate = CertifyJob.estimate
CertifyJob.estimate = lambda job: replace(estimate(job), at_once=2)
executors.wait = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
folder = Path(sys.argv[1])
plan_certify(folder, "own", completion=lambda _: Completion(CLASSES, 5), threads=1).run()
"""


def test_who_judges_ends_with_the_job(copy: Path) -> None:
    """Killed when its first flops have been named: workers end, and have nothing to say."""
    job = subprocess.run(
        [sys.executable, "-c", KILLED, str(copy)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stderr=subprocess.PIPE,  # which is read until the last that holds it has ended
    )
    assert (job.returncode, job.stderr) == (-signal.SIGKILL, b"")
