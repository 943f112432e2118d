"""The one error of a cluster: some of what was solved is gone with the worker that owned it."""

from collections.abc import Sequence


class WorkerLost(Exception):  # noqa: N818  # a fact, as people say it
    """Workers have died or stopped answering, and the state of their flops is lost.

    Those that remain are in the middle of an iteration: everything goes back to a checkpoint.
    """

    def __init__(self, workers: Sequence[int], why: str) -> None:
        """`workers`: their places in the crew; `why`, for people: which and what happened."""
        super().__init__(workers, why)
        self.workers, self.why = tuple(workers), why

    def __str__(self) -> str:
        return self.why
