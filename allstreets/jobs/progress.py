"""How far a job of many pieces is, and how much of it each machine of a cluster has done."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from allstreets.base import process_bytes
from allstreets.cluster import Node, Piece

Latest = TypeVar("Latest")


@dataclass(frozen=True)
class NodeWork:
    """The work of one machine of the cluster."""

    name: str
    solved: int  # pieces
    per_minute: float
    memory_bytes: int  # of the processes that have done pieces
    waiting: float  # share of the time of its cores


@dataclass(frozen=True, kw_only=True)
class PieceProgress(Generic[Latest]):
    """How far a job is."""

    done: int  # pieces, those of earlier runs included
    total: int
    before: int  # pieces of earlier runs
    failed: int = 0
    latest: Latest | None = None  # describes the piece that was done last
    seconds: float  # of this run
    process_bytes: int | None = field(default_factory=process_bytes)
    nodes: tuple[NodeWork, ...] = ()  # the machines of a cluster

    @property
    def left(self) -> int:
        """Pieces that are still to be done."""
        return self.total - self.done

    @property
    def seconds_per_piece(self) -> float | None:
        """The mean over the pieces of this run."""
        done = self.done - self.before
        return self.seconds / done if done else None

    @property
    def eta_seconds(self) -> float | None:
        """Seconds that are left, at the pace of this run."""
        pace = self.seconds_per_piece
        return None if pace is None else pace * self.left


class Tally(Generic[Latest]):
    """Tells the observers of a job how far it is."""

    def __init__(
        self,
        total: int,
        before: int,
        observers: Sequence[Callable[[PieceProgress[Latest]], None]],
        nodes: Callable[[], tuple[NodeWork, ...]],
    ) -> None:
        self._total, self._before = total, before
        self._observers, self._nodes = observers, nodes
        self._began = time.monotonic()

    def tell(self, done: int, latest: Latest | None = None, failed: int = 0) -> None:
        """Tell them, now that so many pieces are `done`, of which some have `failed`."""
        progress = PieceProgress(
            done=done,
            total=self._total,
            before=self._before,
            failed=failed,
            latest=latest,
            seconds=time.monotonic() - self._began,
            nodes=self._nodes(),
        )
        for observer in self._observers:
            observer(progress)


class NodesInUse:
    """Counts the pieces that machines have done so far."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = {node.key: node for node in nodes}
        self._solved: Counter[str] = Counter()  # by machine
        self._seconds: defaultdict[str, float] = defaultdict(float)  # of cores
        self._memory: dict[tuple[str, int], int] = {}  # by machine and process
        self._began = time.monotonic()

    @property
    def cores(self) -> int:
        """Of all machines."""
        return sum(node.cores for node in self._nodes.values())

    @property
    def text(self) -> str:
        """How many there are: "2 machines with 32 cores in all"."""
        count, cores = len(self._nodes), self.cores
        return (
            f"{count} machine{'s' if count > 1 else ''} with {cores} "
            f"core{'s' if cores > 1 else ''} in all"
        )

    def note(self, piece: Piece, cores: int, nodes: Callable[[], Iterable[Node]]) -> None:
        """A piece is done, on so many cores; `nodes` are asked for where its machine is new."""
        if piece.node not in self._nodes:
            self._nodes |= {node.key: node for node in nodes()}
        self._solved[piece.node] += 1
        self._seconds[piece.node] += piece.seconds * cores
        self._memory[piece.node, piece.process] = piece.memory_bytes

    def work(self) -> tuple[NodeWork, ...]:
        """The work of each machine."""
        passed = time.monotonic() - self._began
        return tuple(
            NodeWork(
                name=node.address,
                solved=self._solved[node.key],
                per_minute=60 * self._solved[node.key] / passed if passed else 0.0,
                memory_bytes=sum(
                    size for (key, _), size in self._memory.items() if key == node.key
                ),
                waiting=max(0.0, 1 - self._seconds[node.key] / (passed * node.cores))
                if passed
                else 0.0,
            )
            for node in self._nodes.values()
        )
