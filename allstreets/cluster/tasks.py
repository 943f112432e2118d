"""Pieces of work that need nothing of each other: each is a task of Ray's, done on any machine.

Ray places tasks, and does one again elsewhere whose worker or machine has died. What comes out of a
piece travels to the asker, so that no folder has to be shared. Where a piece is done again, or on
how many machines, its outcome is the same.
"""

import os
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from allstreets.base import InputError
from allstreets.cluster.connect import Cluster, Node
from allstreets.cluster.line import process_bytes
from allstreets.cluster.same_version import require_version
from allstreets.version import __version__

RETRIES = 10  # of a piece whose worker has died
START_SECONDS = 180.0  # until every machine has answered
TICK_SECONDS = 0.5  # between two looks at what is done

Work = Callable[..., Any]


class Piece(NamedTuple):
    """What a worker says of a piece that it has done."""

    node: str  # by which the cluster knows the machine
    process: int
    seconds: float
    memory_bytes: int  # of its process
    value: Any


@dataclass(frozen=True)
class Done:
    """A piece of work that has come to its end."""

    place: int  # among the pieces
    piece: Piece | None  # None: it failed
    error: Exception | None = None


def do_piece(version: str, work: Work, common: Any, own: tuple[Any, ...]) -> Piece:
    """Do a piece, on a worker."""
    import ray

    began = time.perf_counter()
    require_version(version)
    value = work(common, *own)
    ended = time.perf_counter()
    here = ray.get_runtime_context().get_node_id()
    return Piece(here, os.getpid(), ended - began, process_bytes(int(ended)), value)


@dataclass(frozen=True)
class RayTasks:
    """Ray's tasks, each on so many cores (and a GPU) with so much memory."""

    cluster: Cluster
    cores: int = 1
    gpus: int = 0
    memory_bytes: int = 0

    def nodes(self) -> tuple[Node, ...]:
        """The machines on which a piece fits; an `InputError` where there is none."""
        nodes = [node for node in self.cluster.nodes() if node.gpus >= self.gpus]
        if not nodes:
            raise InputError(f"no machine of the cluster has {'a GPU' if self.gpus else 'a core'}")
        fitting = tuple(
            node
            for node in nodes
            if node.cores >= self.cores and node.memory_bytes >= self.memory_bytes
        )
        if not fitting:
            cores = f"{self.cores} core{'s' if self.cores > 1 else ''}"
            raise InputError(
                f"a flop needs {cores} and {self.memory_bytes / 1e9:.1f} GB, which no machine of "
                "the cluster has.\nUse larger machines, fewer threads, or fewer bet sizes."
            )
        return fitting

    def require_versions(self) -> None:
        """Refuse machines with another version, or without one."""
        ray = self.cluster.ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for node, asked in [
            (
                node,
                ray.remote(require_version)
                .options(
                    num_cpus=0,
                    max_retries=0,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(node.key, soft=False),
                )
                .remote(__version__),
            )
            for node in self.nodes()
        ]:
            try:
                ray.get(asked, timeout=START_SECONDS)
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, InputError):
                    raise error.cause from None
                raise _not_started(node, error.cause) from None
            except ray.exceptions.RayError as error:
                raise _not_started(node, error) from None

    def run(
        self, work: Work, common: Any, pieces: Sequence[tuple[Any, ...]]
    ) -> Generator[list[Done], None, None]:
        """Do `work(common, *piece)` for all pieces; what has been done since, twice per second.

        Whoever stops asking for more ends those that are left.
        """
        ray = self.cluster.ray
        task = ray.remote(do_piece).options(
            num_cpus=self.cores,
            num_gpus=self.gpus,
            memory=self.memory_bytes or None,
            max_retries=RETRIES,
        )
        shared = ray.put(common)
        places = {
            task.remote(__version__, work, shared, own): place for place, own in enumerate(pieces)
        }
        try:
            while places:
                done, _ = ray.wait(list(places), num_returns=1, timeout=TICK_SECONDS)
                if done:  # and whatever else there is by now
                    done, _ = ray.wait(list(places), num_returns=len(places), timeout=0)
                yield [self._outcome(places.pop(each), each) for each in done]
        finally:
            for left in places:
                ray.cancel(left, force=True)

    def _outcome(self, place: int, reference: Any) -> Done:
        errors = self.cluster.ray.exceptions
        try:
            return Done(place, Piece(*self.cluster.ray.get(reference)))
        except errors.RayTaskError as error:
            return Done(place, None, error.cause)
        except errors.RayError as error:
            why = f"its worker has died {RETRIES + 1} times ({type(error).__name__})"
            return Done(place, None, InputError(f"{why}; perhaps there is too little memory"))


def _not_started(node: Node, error: BaseException) -> InputError:
    told = str(error).strip().partition("\n")[0]
    return InputError(
        f"{node.address} cannot run allstreets: {told or type(error).__name__}.\n"
        "Install it there: pip install allstreets[cluster]"
    )
