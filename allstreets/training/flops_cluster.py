"""Flops one by one on a cluster: every flop is a piece of work for any machine.

The loop trains a flop where it is, as it does here; what comes out is stored here as it comes. A
flop whose worker dies is solved again elsewhere. Ctrl-C ends those in work, which `--resume`
begins again.
"""

from __future__ import annotations  # some types are of files that import this one

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from allstreets.base import Arrays, Control
from allstreets.cluster import Need, RayTasks, Task, Tasks, connect, fitting, require_versions
from allstreets.engines import CPU
from allstreets.storage import Row, drop
from allstreets.training.cluster_nodes import NodesInUse
from allstreets.training.cluster_run import told
from allstreets.training.flops_here import HERE
from allstreets.training.folder_run import CHECKPOINTS
from allstreets.training.loop import Intervals, train

if TYPE_CHECKING:
    from allstreets.cards import Flop
    from allstreets.games import PotGame
    from allstreets.training.flops_run import FlopsJob, FlopsRun
    from allstreets.training.watch import Watch


def solve_flop(job: FlopsJob, flop: Flop, pots: tuple[PotGame, ...]) -> list[tuple[Row, Arrays]]:
    """Solve a flop, on a worker."""
    solver = job.solver([flop], pots)
    intervals = Intervals(job.targets.check_interval, job.iterations)
    train(solver, job.rules(solver), intervals=intervals, control=Control())
    return solver.results(job.threads)


@dataclass(frozen=True)
class FlopsOnCluster:
    """The machines of a cluster: auto, local or HOST:PORT."""

    where: str

    @contextmanager
    def begin(self, job: FlopsJob, watch: Watch) -> Iterator[Callable[[FlopsRun], None]]:
        """Connect to them."""
        with connect(self.where) as cluster:
            tasks = RayTasks(cluster)
            nodes = fitting(tasks.nodes(), flop_need(job), "a flop")
            require_versions(tasks, nodes)
            told(watch, NodesInUse(nodes).text)
            yield lambda run: solve_by_tasks(run, tasks)


def flop_need(job: FlopsJob) -> Need:
    """What a flop takes of a machine."""
    memory_bytes = replace(job, threads=1).estimate(len(job.pots)).memory_bytes
    return Need(job.threads, int(job.device != CPU), memory_bytes)


def solve_by_tasks(run: FlopsRun, tasks: Tasks) -> None:
    """Solve what is missing; flops are stored as they come."""
    job, folder = run.job, run.bundle.folder
    drop(folder / CHECKPOINTS)  # of a run on one machine: here flops begin again
    groups = [one for group in job.groups(run.missing) for one in group.one_by_one()]
    need = flop_need(job)
    pieces = [Task((group.flops[0], tuple(group.pots)), need) for group in groups]
    # What a flop needs to know of the job.
    common = replace(job, flops=(), resume=False, crew=HERE)
    left = dict(enumerate(groups))
    use = NodesInUse(fitting(tasks.nodes(), need, "a flop"))

    def tell() -> None:
        run.tell(list(left.values())[: max(1, use.cores // job.threads)], use.work())

    tell()
    with closing(tasks.run(solve_flop, common, pieces)) as work:
        for some in work:
            solved: list[tuple[Row, Arrays]] = []
            for done in some:
                group = left.pop(done.place)
                if done.piece is None:
                    run.fail(group, done.error)
                    continue
                use.note(done.piece, need.cores, tasks.nodes)
                for row, arrays in done.piece.value:
                    row["seconds"] = done.piece.seconds / len(done.piece.value)
                    solved.append((row, arrays))
            if solved:
                run.keep(solved)
            tell()
            if run.request.wants_to_stop():
                return
