"""Training on a cluster: find workers, and solve again the flops that are lost with one.

A worker that dies takes the state of its flops with it. The others are then in the middle of an
iteration, so everything goes back to the last checkpoint, or to the beginning if there is none: the
lost flops are built by the remaining workers or a new one, all read their part of the checkpoint,
and the run continues. Its result is bit-identical to an uninterrupted run.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import TypeVar

from allstreets.base import Floats, InputError, Place, Remote, data_size
from allstreets.cluster import ClusterEngine, RayPool, WorkerLost, WorkerPool, connect
from allstreets.engines import CPU, EngineSpec
from allstreets.jobs.job import Callbacks, Progress
from allstreets.storage import claim, newest_checkpoint

MOST_LOSSES = 10  # without a new checkpoint

Outcome = TypeVar("Outcome")


@contextmanager
def cluster_games(
    where: str,
    spec: EngineSpec,
    costs: Floats,
    threads: int | None,
    folder: Place,
    callbacks: Callbacks,
    need_bytes: int = 0,
) -> Iterator[ClusterEngine]:
    """The games of `spec` on the machines of a cluster, which must see `folder`.

    On processors they must have room for `need_bytes`.
    """
    with connect(where) as cluster:
        if spec.device == CPU:
            _require_room(need_bytes, sum(node.memory_bytes for node in cluster.nodes()))
        pool = RayPool(cluster, gpus=spec.device != CPU)
        try:
            cores = sum(node.cores for node in pool.nodes)
            workers = len(pool.nodes)
            callbacks.say(
                f"cluster: {workers} worker{'s' if workers > 1 else ''} with {cores} "
                f"core{'s' if cores > 1 else ''} in all"
            )
            yield begin_games(spec, pool, costs, threads, folder, callbacks)
        finally:
            pool.close()


def begin_games(
    spec: EngineSpec,
    pool: WorkerPool,
    costs: Floats | None,
    threads: int | None,
    folder: Place,
    callbacks: Callbacks,
) -> ClusterEngine:
    """Let workers build their games; replace those that die meanwhile."""
    for losses in count(1):
        try:
            games = ClusterEngine(spec, pool, costs, threads)
            _require_shared(games, folder)
        except WorkerLost as lost:
            if losses > MOST_LOSSES:
                raise InputError(
                    f"{lost}, for the {losses}th time before the first iteration: perhaps a "
                    "machine has too little memory"
                ) from None
            callbacks.say(f"cluster: {lost}; its flops are built again")
            pool.replace(lost.workers)
        else:
            return games
    raise AssertionError


def _require_shared(games: ClusterEngine, folder: Place) -> None:
    """Let every worker look for a file that is written here."""
    with claim(folder):
        sign = folder / f".metrics.jsonl.{secrets.token_hex(4)}.tmp"  # which the next run removes
        sign.touch()
        try:
            games.require_folder(sign)
        finally:
            sign.unlink(missing_ok=True)


def train_through_losses(
    games: ClusterEngine,
    checkpoints: Place,
    train: Callable[[bool, float], Outcome],
    *,
    resume: bool,
    callbacks: Callbacks,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Call `train` until it ends without losing a worker.

    Its arguments say whether to resume from the latest checkpoint, and how many seconds have passed
    since the first call: a time limit does not begin again with every loss.
    """
    losses, reached, began = 0, newest_checkpoint(checkpoints), clock()
    while True:
        try:
            return train(resume, clock() - began)
        except WorkerLost as error:
            lost: WorkerLost | None = error
        while lost is not None:
            newest = newest_checkpoint(checkpoints)
            losses = losses + 1 if newest == reached else 1
            reached, resume = newest, newest is not None
            if losses > MOST_LOSSES:
                raise InputError(
                    f"{lost}, for the {losses}th time since the last checkpoint: perhaps a machine "
                    "has too little memory.\nContinue with the same command and --resume."
                )
            back = "the beginning" if newest is None else f"iteration {newest:,}"
            callbacks.say(f"cluster: {lost}; its flops are solved again from {back}")
            try:
                games.recover(lost.workers, fresh=not resume)
                lost = None
            except WorkerLost as error:
                lost = error


def with_nodes(callbacks: Callbacks, games: ClusterEngine) -> Callbacks:
    """Observers also see the work of the machines."""

    def seeing(observer: Callable[[Progress], None]) -> Callable[[Progress], None]:
        return lambda progress: observer(replace(progress, nodes=games.node_use()))

    return replace(callbacks, progress=tuple(seeing(observer) for observer in callbacks.progress))


def require_cluster(output: Remote, cluster: str | None) -> None:
    """Refuse a URL without a cluster, or where nothing can be written."""
    if cluster is None:
        raise InputError(
            f"--output {output}: a URL is for runs on a cluster.\n"
            "Add --cluster local, or name a folder of this machine."
        )
    output.require_writable()


def _require_room(need_bytes: int, lent_bytes: int) -> None:
    """Refuse a game that does not fit into the memory of all machines."""
    if need_bytes > lent_bytes:
        raise InputError(
            f"this game needs {data_size(need_bytes)} of memory and all machines of the cluster "
            f"have {data_size(lent_bytes)}.\nAdd machines, or make the game smaller: fewer flops, "
            "river buckets or bet sizes."
        )
