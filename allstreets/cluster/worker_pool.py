"""Workers that are asked together: all answers, or `WorkerLost`.

A question goes to all at once, and the driver waits for the last answer. `RayPool` has a worker on
every machine of a Ray cluster, or on every GPU: Ray starts an actor on every machine that has cores
free, which takes all of them. The actor opens a connection and serves it until the driver hangs
up. Ray reports when an actor has died; a broken connection shows it sooner.
"""

import os
import secrets
import selectors
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from allstreets.base import InputError
from allstreets.cluster.connect import THIS_MACHINE, Cluster
from allstreets.cluster.connection import Answer, Connection, Exchange, Traffic, question
from allstreets.cluster.worker import Worker


class WorkerLost(Exception):  # noqa: N818  # a fact, as people say it
    """Workers have died or stopped answering, and the state of their flops is lost.

    The remaining workers are in the middle of an iteration: all return to a checkpoint.
    """

    def __init__(self, workers: Sequence[int], why: str) -> None:
        """`workers`: their indices in the pool; `why`: which ones and what happened, in words."""
        super().__init__(workers, why)
        self.workers, self.why = tuple(workers), why

    def __str__(self) -> str:
        return self.why


FIRST_SECONDS = 3600.0  # for the first answer of its kind
LEAST_SECONDS = 60.0
TIMEOUT_FACTOR = 20  # times the longest answer of its kind


@dataclass(eq=False)
class WorkerNode:
    """The machine, process and memory of a worker."""

    machine: str  # the cluster's name for it
    address: str  # of the machine, for display
    cores: int
    process: int = 0
    memory_bytes: int = 0


@dataclass
class Timeouts:
    """Timeouts of answers, learned from earlier answers to the same question."""

    longest: dict[str, float] = field(default_factory=dict)  # seconds, by question

    def limit(self, name: str) -> float:
        """Seconds after which an answer is no longer expected."""
        known = self.longest.get(name)
        return FIRST_SECONDS if known is None else max(LEAST_SECONDS, TIMEOUT_FACTOR * known)

    def note(self, name: str, seconds: float) -> None:
        """An answer took so long."""
        self.longest[name] = max(self.longest.get(name, 0.0), seconds)


class WorkerPool(ABC):
    """Some workers, numbered from 0."""

    def __init__(self) -> None:
        self.traffic = Traffic()
        self.timeouts = Timeouts()

    @property
    @abstractmethod
    def nodes(self) -> Sequence[WorkerNode]:
        """The machines and processes of the workers."""

    @abstractmethod
    def replace(self, lost: Sequence[int]) -> list[int | None]:
        """Drop these workers, and start others where there is room.

        Returns, for each worker from now on, its former index; None: a new one.
        """

    @abstractmethod
    def close(self) -> None:
        """End all workers, and release everything."""

    @abstractmethod
    def _exchange(self, asked: Mapping[int, bytes], limit: float) -> dict[int, Answer]:
        """All answers; once all have answered or failed, `WorkerLost` for those that failed."""

    def ask(
        self, name: str, *arguments: Any, of: Sequence[int] | None = None, **options: Any
    ) -> list[Answer]:
        """Ask all or some workers the same question; the first error is raised here."""
        chosen = range(len(self.nodes)) if of is None else of
        asked = question(name, *arguments, **options)
        return self._ask(name, dict.fromkeys(chosen, asked))

    def ask_each(self, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Answer]:
        """Ask some workers, each with its own arguments."""
        return self._ask(name, {each: question(name, *own) for each, own in arguments.items()})

    def _ask(self, name: str, asked: Mapping[int, bytes]) -> list[Answer]:
        began = time.monotonic()
        answers = self._exchange(asked, self.timeouts.limit(name))
        self.timeouts.note(name, time.monotonic() - began)
        for worker, answer in answers.items():
            self.nodes[worker].memory_bytes = answer.memory_bytes
            if answer.failed:
                answer.value.add_note(f"on {self.nodes[worker].address}")
                raise answer.value
        return [answers[worker] for worker in asked]


START_SECONDS = 180.0  # until a worker has been started
START_ATTEMPTS = 3  # of a worker that dies before it answers
TICK_SECONDS = 1.0  # between two checks of Ray's reports


class Host:
    """An actor in which a worker lives."""

    def open(self, address: str, key: bytes) -> tuple[tuple[str, int], int]:
        """Listen at an address of this machine; return it and the process number."""
        self._exchange = Exchange(address, key)
        return self._exchange.address, os.getpid()

    def serve(self) -> None:
        """Answer until the driver hangs up."""
        self._exchange.serve(Worker())


@dataclass(eq=False)
class RayNode(WorkerNode):
    """A worker that Ray has started."""

    lent: float = 1.0  # cores that Ray counts as taken
    actor: Any = None
    connection: Connection | None = None
    ended: Any = None  # filled by Ray when the actor ends


class RayPool(WorkerPool):
    """A worker on every machine, or on every GPU."""

    def __init__(self, cluster: Cluster, *, gpus: bool = False, per_machine: int = 1) -> None:
        """`gpus`: a worker for every GPU; else `workers` on each machine, which share its cores."""
        super().__init__()
        self._cluster, self._gpus, self._per_machine = cluster, gpus, per_machine
        self._selector = selectors.DefaultSelector()
        self._avoided: dict[str, str] = {}  # machines on which no worker could be started, and why
        self._nodes: list[RayNode] = []
        self._nodes = self._start(self._vacant())
        if not self._nodes:
            what = "a GPU" if gpus else "a core"
            reasons = [why for why in self._avoided.values() if why]
            raise InputError(
                f"no worker could be started on the cluster: {reasons[0]}"
                if reasons
                else f"no machine of the cluster has {what} free"
            )

    @property
    def nodes(self) -> Sequence[RayNode]:
        """The machines and processes of the workers."""
        return self._nodes

    def replace(self, lost: Sequence[int]) -> list[int | None]:
        """Drop these workers, and start others where there is room."""
        for number in lost:
            self._end(self._nodes[number])
        left = [number for number in range(len(self._nodes)) if number not in lost]
        self._nodes = [self._nodes[number] for number in left]
        new = self._start(self._vacant())
        self._nodes += new
        if not self._nodes:
            raise InputError(
                "no machine of the cluster is left.\n"
                "Start others, then continue with the same command and --resume."
            )
        return [*left, *[None] * len(new)]

    def close(self) -> None:
        """End all workers."""
        for node in self._nodes:
            self._end(node)
        self._nodes = []
        self._selector.close()

    def _vacant(self) -> list[RayNode]:
        """Machines, or GPUs, with room for a worker."""
        taken = [node.machine for node in self._nodes]
        vacant = []
        for node in self._cluster.nodes():
            seats = node.gpus if self._gpus else self._per_machine
            for _ in range(0 if node.key in self._avoided else seats - taken.count(node.key)):
                cores = max(1, node.cores // seats)
                vacant.append(RayNode(node.key, node.address, cores, lent=node.cores / seats))
        return vacant

    def _start(self, nodes: Sequence[RayNode]) -> list[RayNode]:
        """Start workers side by side, and replace those that die meanwhile.

        Machines on which none starts are left out from then on.
        """
        started, left = [], list(nodes)
        for _ in range(START_ATTEMPTS):
            failed = self._try_to_start(left)
            started += [node for node in left if node not in failed]
            left = [node for node, why in failed.items() if why]
            self._avoided |= {node.machine: why for node, why in failed.items() if not why}
            if not left:
                break
        self._avoided |= {node.machine: failed[node] for node in left}
        return [node for node in nodes if node in started]

    def _try_to_start(self, nodes: Sequence[RayNode]) -> dict[RayNode, str]:
        """Start workers; return those that fail with the reason; nothing where Ray has no room."""
        ray, key = self._cluster.ray, secrets.token_bytes(32)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for node in nodes:
            host = ray.remote(Host).options(
                num_cpus=node.lent,
                num_gpus=1 if self._gpus else 0,
                max_restarts=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node.machine, soft=False),
            )
            node.actor = host.remote()
        opened = [node.actor.open.remote(self._bind(node), key) for node in nodes]
        until = time.monotonic() + START_SECONDS
        failed = {}
        for node, reference in zip(nodes, opened, strict=True):
            try:
                left = max(0.0, until - time.monotonic())
                address, node.process = ray.get(reference, timeout=left)
                node.ended = node.actor.serve.remote()
                node.connection = Connection(address, key, self.traffic)
            except (ray.exceptions.RayError, OSError) as error:
                late = isinstance(error, ray.exceptions.GetTimeoutError)
                why = str(error).strip().partition("\n")[0] or type(error).__name__
                failed[node] = "" if late else f"{node.address}: {why}"
                self._end(node)
            else:
                self._selector.register(node.connection.fileno(), selectors.EVENT_READ, node)
        return failed

    def _bind(self, node: RayNode) -> str:
        return THIS_MACHINE if self._cluster.is_local else node.address

    def _end(self, node: RayNode) -> None:
        if node.connection is not None:
            with suppress(KeyError, ValueError):
                self._selector.unregister(node.connection.fileno())
            node.connection.close()
            node.connection = None
        with suppress(Exception):  # it may be gone, and so may the cluster
            self._cluster.ray.kill(node.actor, no_restart=True)

    def _exchange(self, asked: Mapping[int, bytes], limit: float) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        lost: dict[int, str] = {}
        for number, data in asked.items():
            connection = self._nodes[number].connection
            try:
                if connection is None:
                    raise BrokenPipeError
                connection.send(data)
            except OSError:
                lost[number] = "is gone"
        until = time.monotonic() + limit
        numbers = {node: number for number, node in enumerate(self._nodes)}
        waiting = set(asked) - set(lost)
        while waiting:
            ready = self._selector.select(TICK_SECONDS)
            for key, _ in ready:
                number = numbers[key.data]
                waiting.discard(number)
                try:
                    answers[number] = key.data.connection.receive()
                except (EOFError, OSError):
                    self._selector.unregister(key.data.connection.fileno())
                    key.data.connection.close()
                    key.data.connection = None
                    lost[number] = "has died"
            if not ready:
                late = time.monotonic() >= until
                ended = self._ended(waiting)
                lost |= dict.fromkeys(ended, "has died")
                waiting -= set(ended)
                if late:
                    lost |= dict.fromkeys(waiting, f"has not answered for {limit:,.0f} s")
                    waiting.clear()
        if lost:
            raise WorkerLost(sorted(lost), self._told(lost))
        return answers

    def _ended(self, numbers: Iterable[int]) -> list[int]:
        """The workers that have ended, according to Ray."""
        ended = []
        for number in numbers:
            done, _ = self._cluster.ray.wait([self._nodes[number].ended], timeout=0)
            if done:
                ended.append(number)
        return ended

    def _told(self, lost: Mapping[int, str]) -> str:
        parts = [
            f"the worker on {self._nodes[number].address} (process "
            f"{self._nodes[number].process}) {what}"
            for number, what in sorted(lost.items())
        ]
        return "; ".join(parts)
