"""Many spots on a cluster: every spot is a task for any machine.

    with spots_on_cluster("auto") as run:
        solve_many(spots, run=run)

Rows travel to the asker. A solution may take gigabytes, so whoever solves a spot writes it, now and
then and at the end: the folder of the set has to be one that all machines see. A spot whose worker
dies goes on elsewhere from what was saved of it last, and so do those that Ctrl-C ends, with
`--resume`.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from allstreets.base import Control
from allstreets.cluster import (
    Need,
    Node,
    RayTasks,
    Sign,
    Task,
    Tasks,
    connect,
    fitting,
    require_versions,
    signed,
)
from allstreets.engines import CPU
from allstreets.games import Spot, estimate_spot
from allstreets.storage import HeldError, claim
from allstreets.training.cluster_nodes import NodesInUse, NodeWork
from allstreets.training.spot_jobs import SpotJob, SpotRow, solve_spot_job

GPU = "cuda"  # the one that Ray lends
LOCK_SECONDS = 120  # until a file server gives back what a machine held that has died


class SpotsOnCluster:
    """Who runs jobs (`spot_jobs.RunJobs`): the machines of a cluster."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._use = NodesInUse(())

    def nodes(self) -> tuple[NodeWork, ...]:
        """What the machines have done of the jobs that are run."""
        return self._use.work()

    def __call__(
        self, jobs: Sequence[SpotJob], stop: Callable[[], bool]
    ) -> Iterator[tuple[int, SpotRow]]:
        """Run jobs; those that are at work when the run is to end have no row."""
        nodes = self._tasks.nodes()
        fit: dict[Node, None] = {}  # the machines that have something to do
        asked: list[tuple[int, Task]] = []
        for place, job in enumerate(jobs):
            if stop():
                return
            try:
                need = spot_need(job)
                fit |= dict.fromkeys(fitting(nodes, need, "this spot"))
            except Exception as error:
                yield place, SpotRow.failed(job, error)
            else:
                asked.append((place, Task((as_sent(job),), need)))
        self._use = NodesInUse(fit)
        with ExitStack() as stack:
            folders = dict.fromkeys(job.folder.parent for job in jobs if job.folder is not None)
            signs = tuple(stack.enter_context(signed(folder)) for folder in folders)
            self._tasks.ask_each(fit, require_signs, signs)
            tasks = [task for _, task in asked]
            work = stack.enter_context(closing(self._tasks.run(solve_there, signs, tasks)))
            for some in work:
                for done in some:
                    place, task = asked[done.place]
                    if done.piece is None:
                        yield place, SpotRow.failed(jobs[place], done.error)
                        continue
                    self._use.note(done.piece, task.need.cores, self._tasks.nodes)
                    yield place, done.piece.value
                if stop():
                    return


@contextmanager
def spots_on_cluster(
    where: str, told: Callable[[str], None] | None = None
) -> Iterator[SpotsOnCluster]:
    """Connect to a cluster (auto, local or HOST:PORT); who runs jobs there.

    `told` is called with what there is, in words.
    """
    with connect(where) as cluster:
        tasks = RayTasks(cluster)
        nodes = fitting(tasks.nodes(), Need(), "a spot")
        require_versions(tasks, nodes)
        if told is not None:
            told(f"cluster: {NodesInUse(nodes).text}")
        yield SpotsOnCluster(tasks)


def spot_need(job: SpotJob) -> Need:
    """What a spot takes of a machine."""
    spot, how = Spot.from_mapping(job.game), job.settings
    size = estimate_spot(spot, how["precision"], job.threads, how["river_groups"])
    return Need(job.threads, int(how["device"] != CPU), size.process_bytes)


def as_sent(job: SpotJob) -> SpotJob:
    """A job as another machine understands it: folders by their whole names, any GPU."""
    folder = None if job.folder is None else job.folder.resolve()
    device = CPU if job.settings["device"] == CPU else GPU
    return replace(job, folder=folder, settings={**job.settings, "device": device})


# On a worker.


def require_signs(signs: Sequence[Sign]) -> None:
    """Refuse to work where a folder is not seen."""
    for sign in signs:
        sign.require()


def solve_there(signs: Sequence[Sign], job: SpotJob) -> SpotRow:
    """Solve a spot, and keep it in the folder that all see."""
    require_signs(signs)
    if job.folder is not None:
        wait_until_free(job.folder)
    row = solve_spot_job(job, Control())
    assert row is not None, "nobody stops it but by ending its process"
    return row


def wait_until_free(folder: Path, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait for the lock of whoever was at work here and has died; in vain, the solver says so."""
    for _ in range(LOCK_SECONDS):
        try:
            with claim(folder):
                return
        except HeldError:
            sleep(1.0)
