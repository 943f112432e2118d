"""Flops one by one on a cluster: every flop is a piece of work for any machine.

The loop trains a flop where it is, as it does here; what comes out is stored here as it comes. A
flop whose worker dies is solved again elsewhere. Ctrl-C ends those in work, which `--resume`
begins again.
"""

from __future__ import annotations  # some types are of files that import this one

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from allstreets.base import Arrays, Control
from allstreets.cluster import Done, Node, Piece, RayTasks, connect
from allstreets.kernels.cuda.device import CPU
from allstreets.storage import Row, drop
from allstreets.training.cluster_run import told
from allstreets.training.flops_here import HERE
from allstreets.training.folder_run import CHECKPOINTS
from allstreets.training.loop import Intervals, train

if TYPE_CHECKING:
    from allstreets.cards import Flop
    from allstreets.solvers import PotGame
    from allstreets.training.flops_run import FlopsJob, FlopsRun
    from allstreets.training.watch import Watch


class Tasks(Protocol):
    """Who does pieces of work: `RayTasks`."""

    def nodes(self) -> tuple[Node, ...]:
        """The machines."""

    def run(
        self, work: Callable[..., Any], common: Any, pieces: Sequence[tuple[Any, ...]]
    ) -> Generator[list[Done], None, None]:
        """Do `work(common, *piece)` for all pieces; what has been done, as it comes."""


def solve_flop(job: FlopsJob, flop: Flop, pots: tuple[PotGame, ...]) -> list[tuple[Row, Arrays]]:
    """Solve a flop, on a worker."""
    solver = job.solver([flop], pots)
    intervals = Intervals(job.targets.check_interval, job.iterations)
    train(solver, job.rules(solver), intervals=intervals, control=Control())
    return solver.results(job.threads)


@dataclass(frozen=True)
class NodeFlops:
    """What a machine of the cluster has done."""

    name: str
    solved: int  # flops
    flops_per_minute: float
    memory_bytes: int  # of the processes that have solved flops
    waiting: float  # share of the time of its cores


@dataclass(frozen=True)
class FlopsOnCluster:
    """The machines of a cluster: auto, local or HOST:PORT."""

    where: str

    @contextmanager
    def begin(self, job: FlopsJob, watch: Watch) -> Iterator[Callable[[FlopsRun], None]]:
        """Connect to them."""
        with connect(self.where) as cluster:
            need = replace(job, threads=1).estimate(len(job.pots)).memory_bytes
            tasks = RayTasks(cluster, job.threads, int(job.device != CPU), need)
            tasks.require_versions()
            cores = sum(node.cores for node in tasks.nodes())
            count = len(tasks.nodes())
            told(
                watch,
                f"{count} machine{'s' if count > 1 else ''} with {cores} "
                f"core{'s' if cores > 1 else ''} in all",
            )
            yield lambda run: solve_by_tasks(run, tasks)


def solve_by_tasks(run: FlopsRun, tasks: Tasks) -> None:
    """Solve what is missing; flops are stored as they come."""
    job, folder = run.job, run.bundle.folder
    drop(folder / CHECKPOINTS)  # of a run on one machine: here flops begin again
    groups = [one for group in job.groups(run.missing) for one in group.one_by_one()]
    pieces = [(group.flops[0], tuple(group.pots)) for group in groups]
    # What a flop needs to know of the job.
    common = replace(job, flops=(), resume=False, crew=HERE)
    left, use = dict(enumerate(groups)), NodesInUse(tasks.nodes())

    def tell() -> None:
        run.tell(list(left.values())[: max(1, use.cores // job.threads)], use.of_nodes(job.threads))

    tell()
    with closing(tasks.run(solve_flop, common, pieces)) as work:
        for some in work:
            solved: list[tuple[Row, Arrays]] = []
            for done in some:
                group = left.pop(done.place)
                if done.piece is None:
                    run.fail(group, done.error)
                    continue
                use.note(done.piece, tasks.nodes)
                for row, arrays in done.piece.value:
                    row["seconds"] = done.piece.seconds / len(done.piece.value)
                    solved.append((row, arrays))
            if solved:
                run.keep(solved)
            tell()
            if run.request.wants_to_stop():
                return


class NodesInUse:
    """What machines have done so far."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = {node.key: node for node in nodes}
        self._solved: Counter[str] = Counter()  # by machine
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._memory: dict[tuple[str, int], int] = {}  # by machine and process
        self._began = time.monotonic()

    @property
    def cores(self) -> int:
        """Of all machines."""
        return sum(node.cores for node in self._nodes.values())

    def note(self, piece: Piece, nodes: Callable[[], Iterable[Node]]) -> None:
        """A flop is solved; `nodes`: the machines of now, asked where one is new."""
        if piece.node not in self._nodes:
            self._nodes |= {node.key: node for node in nodes()}
        self._solved[piece.node] += 1
        self._seconds[piece.node] += piece.seconds
        self._memory[piece.node, piece.process] = piece.memory_bytes

    def of_nodes(self, threads: int) -> tuple[NodeFlops, ...]:
        """What each does, where a flop takes so many threads."""
        passed = time.monotonic() - self._began
        return tuple(
            NodeFlops(
                name=node.address,
                solved=self._solved[node.key],
                flops_per_minute=60 * self._solved[node.key] / passed if passed else 0.0,
                memory_bytes=sum(
                    size for (key, _), size in self._memory.items() if key == node.key
                ),
                waiting=max(0.0, 1 - self._seconds[node.key] * threads / (passed * node.cores))
                if passed
                else 0.0,
            )
            for node in self._nodes.values()
        )
