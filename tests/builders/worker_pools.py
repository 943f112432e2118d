"""Workers in this process: everything of a cluster but the cluster."""

import pickle
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from allstreets.cluster import EndedTask, Node, Piece, Task
from allstreets.cluster.connection import Answer, answer, read_answer
from allstreets.cluster.worker import Worker
from allstreets.cluster.worker_pool import WorkerLost, WorkerNode, WorkerPool
from allstreets.jobs import executors
from allstreets.jobs.executors import Executor

Fault = Callable[[int], BaseException | None]


class PoolHere(WorkerPool):
    """Workers that answer through the same bytes as those of other machines.

    `faults`: asked before every answer with the number of answers so far; a `WorkerLost` is raised
    for the worker that was to give it, any other exception as it is.
    """

    def __init__(self, count: int, faults: Fault | None = None, spare: int = 0) -> None:
        super().__init__()
        self._workers = [Worker() for _ in range(count)]
        self._nodes = [WorkerNode(f"node {k}", f"10.0.0.{k}", 1) for k in range(count)]
        self._faults, self._spare = faults, spare
        self.answers = 0
        self.closed = False

    @property
    def nodes(self) -> Sequence[WorkerNode]:
        return self._nodes

    def replace(self, lost: Sequence[int]) -> list[int | None]:
        left = [number for number in range(len(self._workers)) if number not in lost]
        new = min(len(lost), self._spare)
        self._spare -= new
        self._workers = [*(self._workers[k] for k in left), *(Worker() for _ in range(new))]
        added = [WorkerNode(f"new {k}", "10.0.1.0", 1) for k in range(new)]
        self._nodes = [*(self._nodes[k] for k in left), *added]
        return [*left, *[None] * new]

    def close(self) -> None:
        self.closed = True

    def _exchange(self, asked: Mapping[int, bytes], limit: float) -> dict[int, Answer]:
        del limit
        answers, lost = {}, []
        for number, data in asked.items():
            self.answers += 1
            fault = self._faults(self.answers) if self._faults else None
            if isinstance(fault, WorkerLost):
                lost.append(number)
                continue
            if fault is not None:
                raise fault
            told = answer(self._workers[number], data)
            self.traffic.messages += 1
            self.traffic.sent_bytes += len(data)
            self.traffic.received_bytes += len(told)
            answers[number] = read_answer(told)
        if lost:
            raise WorkerLost(lost, f"worker {lost[0]} has died")
        return answers


class PiecesHere(Executor):
    """Pieces that are done in this process, through the same bytes as in others, the last first."""

    def __init__(self, at_once: int = 2) -> None:
        self._at_once = at_once

    @property
    def at_once(self) -> int:
        return self._at_once

    def _work(self, run: Any) -> None:
        for index in reversed(range(len(run.items))):
            work, item = pickle.loads(pickle.dumps((run.function, run.items[index])))
            run.done(index, pickle.loads(pickle.dumps(work(item))))


class TasksHere:
    """Tasks that are done in this process, through the same bytes as on other machines.

    They come in turns of `count`, the last first; `lost`: places of those that are done twice, as
    if their worker had died at the end of the first time.
    """

    def __init__(self, count: int, lost: Sequence[int] = ()) -> None:
        self._count, self._lost = count, lost
        self.done: list[int] = []

    def nodes(self) -> tuple[Node, ...]:
        return tuple(Node(f"node {k}", f"10.0.0.{k}", 1, 0, 1 << 30) for k in range(self._count))

    def ask_each(self, nodes: Iterable[Node], work: Callable[..., Any], *arguments: Any) -> None:
        for _ in nodes:
            work(*arguments)

    def run(
        self, work: Callable[..., Any], tasks: Sequence[Task]
    ) -> Generator[list[EndedTask], None, None]:
        asked = [pickle.dumps((work, task.item)) for task in tasks]
        for first in range(0, len(asked), self._count):
            turn = range(first, min(first + self._count, len(asked)))
            yield [self._do(place, asked[place]) for place in reversed(turn)]

    def _do(self, place: int, asked: bytes) -> EndedTask:
        for _ in range(2 if place in self._lost else 1):
            work, item = pickle.loads(asked)
            self.done.append(place)
            try:
                value = pickle.loads(pickle.dumps(work(item)))
            except Exception as error:
                return EndedTask(place, None, error)
        return EndedTask(place, Piece(f"node {place % self._count}", place, 0.5, 1_000_000, value))


def as_cluster(monkeypatch: pytest.MonkeyPatch, tasks: TasksHere) -> None:
    """Let every cluster that is connected to be these tasks."""
    monkeypatch.setattr(executors, "connect", lambda _: nullcontext())
    monkeypatch.setattr(executors, "RayTasks", lambda _: tasks)
