"""Independent pieces of work: each is a Ray task, done on any machine.

Ray places tasks where their needs are free, and repeats a task elsewhere if its worker or machine
dies. The result of a piece travels to the driver. It is the same wherever and however often a piece
is done.
"""

import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from allstreets.base import InputError
from allstreets.cluster.connect import Cluster, Node, require_version
from allstreets.cluster.connection import process_bytes
from allstreets.version import __version__

RETRIES = 10  # of a piece whose worker has died
START_SECONDS = 180.0  # until every machine has answered
TICK_SECONDS = 0.5  # between two checks of finished pieces

Work = Callable[..., Any]


@dataclass(frozen=True)
class Need:
    """The share of a machine that a piece takes while it is done."""

    cores: int = 1
    gpus: int = 0
    memory_bytes: int = 0


@dataclass(frozen=True)
class Task:
    """A piece of work that is asked for."""

    item: Any  # the argument of the common function
    need: Need = field(default_factory=Need)


class Piece(NamedTuple):
    """A finished piece, as reported by its worker."""

    node: str  # the cluster's name for the machine
    process: int
    seconds: float
    memory_bytes: int  # of its process
    value: Any


@dataclass(frozen=True)
class EndedTask:
    """A piece of work that has ended."""

    place: int  # among the tasks
    piece: Piece | None  # None: it failed
    error: Exception | None = None


def do_piece(version: str, work: Work, item: Any) -> Piece:
    """Do a piece, on a worker."""
    import ray

    began = time.perf_counter()
    require_version(version)
    value = work(item)
    ended = time.perf_counter()
    node = ray.get_runtime_context().get_node_id()
    return Piece(node, os.getpid(), ended - began, process_bytes(int(ended)), value)


def _call(work: Work, *arguments: Any) -> None:
    """Call a method, which Ray cannot call itself."""
    work(*arguments)


class Tasks(Protocol):
    """The protocol of pieces of work: `RayTasks`."""

    def nodes(self) -> tuple[Node, ...]:
        """The machines."""

    def ask_each(self, nodes: Iterable[Node], work: Work, *arguments: Any) -> None:
        """Do `work(*arguments)` on each of these machines; its `InputError` is raised."""

    def run(self, work: Work, tasks: Sequence[Task]) -> Generator[list[EndedTask], None, None]:
        """Do `work(item)` for all tasks; yield finished ones as they come."""


def fitting(nodes: Iterable[Node], need: Need, what: str) -> tuple[Node, ...]:
    """The machines on which a piece (`what`, in words) fits; an `InputError` if there is none.

    Ray would wait for such a machine forever.
    """
    having = [node for node in nodes if node.gpus >= need.gpus]
    if not having:
        raise InputError(f"no machine of the cluster has {'a GPU' if need.gpus else 'a core'}")
    fit = tuple(
        node
        for node in having
        if node.cores >= need.cores and node.memory_bytes >= need.memory_bytes
    )
    if not fit:
        cores = f"{need.cores} core{'s' if need.cores > 1 else ''}"
        raise InputError(
            f"{what} needs {cores} and {need.memory_bytes / 1e9:.1f} GB, which no machine of "
            "the cluster has.\nUse larger machines, fewer threads, or fewer bet sizes."
        )
    return fit


def require_versions(tasks: Tasks, nodes: Iterable[Node]) -> None:
    """Refuse machines with another version of allstreets, or without one."""
    tasks.ask_each(nodes, require_version, __version__)


@dataclass(frozen=True)
class RayTasks:
    """Ray's tasks."""

    cluster: Cluster

    def nodes(self) -> tuple[Node, ...]:
        """The machines that are alive and have a core."""
        return self.cluster.nodes()

    def ask_each(self, nodes: Iterable[Node], work: Work, *arguments: Any) -> None:
        """Do `work(*arguments)` on each of these machines, even if they are busy."""
        ray = self.cluster.ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for node, asked in [
            (
                node,
                ray.remote(_call)
                .options(
                    num_cpus=0,
                    max_retries=0,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(node.key, soft=False),
                )
                .remote(work, *arguments),
            )
            for node in nodes
        ]:
            try:
                ray.get(asked, timeout=START_SECONDS)
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, InputError):
                    raise error.cause from None
                raise _not_started(node, error.cause) from None
            except ray.exceptions.RayError as error:
                raise _not_started(node, error) from None

    def run(self, work: Work, tasks: Sequence[Task]) -> Generator[list[EndedTask], None, None]:
        """Do `work(item)` for all tasks; yield newly finished ones twice per second.

        Closing the iterator ends the remaining tasks.
        """
        ray = self.cluster.ray
        remote, shared = ray.remote(do_piece), ray.put(work)
        places = {
            remote.options(
                num_cpus=task.need.cores,
                num_gpus=task.need.gpus,
                memory=task.need.memory_bytes or None,
                max_retries=RETRIES,
            ).remote(__version__, shared, task.item): number
            for number, task in enumerate(tasks)
        }
        try:
            while places:
                done, _ = ray.wait(list(places), num_returns=1, timeout=TICK_SECONDS)
                if done:  # and all others that are ready by now
                    done, _ = ray.wait(list(places), num_returns=len(places), timeout=0)
                yield [self._outcome(places.pop(each), each) for each in done]
        finally:
            for unfinished in places:
                ray.cancel(unfinished, force=True)

    def _outcome(self, number: int, reference: Any) -> EndedTask:
        errors = self.cluster.ray.exceptions
        try:
            return EndedTask(number, Piece(*self.cluster.ray.get(reference)))
        except errors.RayTaskError as error:
            return EndedTask(number, None, error.cause)
        except errors.RayError as error:
            why = f"its worker has died {RETRIES + 1} times ({type(error).__name__})"
            return EndedTask(number, None, InputError(f"{why}; perhaps there is too little memory"))


def _not_started(node: Node, error: BaseException) -> InputError:
    reason = str(error).strip().partition("\n")[0]
    return InputError(
        f"{node.address} cannot run allstreets: {reason or type(error).__name__}.\n"
        "Install it there: pip install allstreets[cluster]"
    )
