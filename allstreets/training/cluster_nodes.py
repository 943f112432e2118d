"""What the machines of a cluster have done of a job of many pieces, and how that is said."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from allstreets.cluster import Node, Piece
from allstreets.training.wording import data_size


@dataclass(frozen=True)
class NodeWork:
    """What a machine of the cluster has done."""

    name: str
    solved: int  # pieces
    per_minute: float
    memory_bytes: int  # of the processes that have done pieces
    waiting: float  # share of the time of its cores


class NodesInUse:
    """What machines have done so far."""

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
        """A piece is done, on so many cores; `nodes`: those of now, asked where one is new."""
        if piece.node not in self._nodes:
            self._nodes |= {node.key: node for node in nodes()}
        self._solved[piece.node] += 1
        self._seconds[piece.node] += piece.seconds * cores
        self._memory[piece.node, piece.process] = piece.memory_bytes

    def work(self) -> tuple[NodeWork, ...]:
        """What each has done."""
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


def node_lines(nodes: Sequence[NodeWork], things: str) -> list[str]:
    """A line for each machine; `things` are what is done: "flops"."""
    return [
        f"  {node.name}: {node.solved:,} {things} solved | {node.per_minute:.3g} {things}/min | "
        f"{data_size(node.memory_bytes)} | waiting {node.waiting:.0%}"
        for node in nodes
    ]
