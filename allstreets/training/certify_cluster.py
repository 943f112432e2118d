"""Flops judged on a cluster: every flop is a task for any machine.

A worker opens the solution where it lies, which all machines have to see under the same name (a
copy of it will do), and judges a flop. What it finds is small: it travels to the asker, who stores
it beside the solution. A flop whose worker dies is judged again elsewhere.
"""

from __future__ import annotations  # a type is of a file that imports this one

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from allstreets.analysis import Completion, Judge, estimate_certificate
from allstreets.base import InputError
from allstreets.cards import Flop
from allstreets.cluster import (
    Need,
    RayTasks,
    Task,
    Tasks,
    connect,
    fitting,
    require_versions,
)
from allstreets.engines import CPU, LiftedValues
from allstreets.storage import CertificateWork, load_unified
from allstreets.training.cluster_nodes import NodesInUse, NodeWork

if TYPE_CHECKING:
    from allstreets.training.certify_run import CertifyJob


@dataclass(frozen=True)
class JudgedSolution:
    """A solution, and how its flops are judged: what a worker has to know."""

    folder: Path
    judged: str  # the hash of its strategies
    completion: Completion
    threads: int
    device: str

    def require(self) -> None:
        """Refuse to judge where it does not lie, or another one."""
        try:
            there = CertificateWork.of(self.folder).facts["judged"]
        except InputError:
            there = None
        if there != self.judged:
            state = "not there" if there is None else "another one"
            raise InputError(
                f"the solution in {self.folder} is {state} on {socket.gethostname()}.\n"
                "Workers open it themselves: all machines of the cluster must see its folder."
            )


@lru_cache(1)
def open_judge(solution: JudgedSolution) -> Judge:
    """The judge of a solution, opened once by each worker."""
    solution.require()
    opened = load_unified(solution.folder)
    return Judge(opened, solution.completion, solution.threads, solution.device)


def judge_there(solution: JudgedSolution, flop: Flop) -> LiftedValues:
    """What a flop is worth, on a worker."""
    return open_judge(solution).values(flop)


class JudgesThere:
    """Who judges the flops of a solution: the machines of a cluster."""

    stopping = "ending the flops at work"

    def __init__(self, job: CertifyJob, tasks: Tasks, threads: int = 1, device: str = CPU) -> None:
        """A flop takes so many threads, and a GPU if its `device` is one."""
        self._job, self._tasks = job, tasks
        self._solution = JudgedSolution(
            job.folder.resolve(),
            job.work.facts["judged"],
            job.judge.completion,
            threads,
            CPU if device == CPU else "cuda",  # the one that Ray lends
        )
        size = estimate_certificate(replace(job.judge, threads=threads), job.flops, 0)
        self.need = Need(threads, int(device != CPU), size.memory_bytes)
        self._use = NodesInUse(())

    def nodes(self) -> tuple[NodeWork, ...]:
        """What the machines have done."""
        return self._use.work()

    def judge(self, flops: Sequence[Flop], stop: Callable[[], bool]) -> Iterator[Flop]:
        """The flops in the order in which they are judged and stored; after `stop`, no more."""
        if not flops:
            return
        job, nodes = self._job, fitting(self._tasks.nodes(), self.need, "a flop")
        self._tasks.ask_each(nodes, JudgedSolution.require, self._solution)
        self._use = NodesInUse(nodes)
        tasks = [Task((flop,), self.need) for flop in flops]
        with closing(self._tasks.run(judge_there, self._solution, tasks)) as work:
            for some in work:
                for done in some:
                    flop, piece = flops[done.place], done.piece
                    if piece is None:
                        raise _failure(flop, done.error)
                    self._use.note(piece, self.need.cores, self._tasks.nodes)
                    job.work.save(flop.text, job.judge.completes(flop), piece.value, piece.seconds)
                    yield flop
                if stop():
                    return


def _failure(flop: Flop, error: Exception | None) -> InputError:
    kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
    return InputError(f"{flop.text} could not be judged: {kind}{error}")


@dataclass(frozen=True)
class CertifyOnCluster:
    """The machines of a cluster: auto, local or HOST:PORT."""

    where: str
    threads: int = 1  # of a flop
    device: str = CPU

    @contextmanager
    def begin(self, job: CertifyJob) -> Iterator[JudgesThere]:
        """Connect to them."""
        with connect(self.where) as cluster:
            tasks = RayTasks(cluster)
            judges = JudgesThere(job, tasks, self.threads, self.device)
            require_versions(tasks, fitting(tasks.nodes(), judges.need, "a flop"))
            yield judges
