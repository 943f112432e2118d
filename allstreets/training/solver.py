"""What the training loop needs of a solver. Solvers know nothing of files, terminals or colours."""

from __future__ import annotations  # some types are of files that import this one

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from allstreets.cfr import Metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Called with the iterations done so far; answers True to stop after the current one.
BatchCallback = Callable[[int], bool]


class TrainingSolver(Protocol):
    """A solver that can be trained in batches, evaluated, stored and restored.

    Nothing but `train_batch` and `restore` may change what the next iteration does, and how a run
    is cut into batches may not either: that is what makes a resumed run equal an uninterrupted one.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """JSON facts that a checkpoint must share to be restored: game, algorithm, seed, …"""

    @property
    def unit(self) -> str:
        """The unit of exploitability and regrets, as a person reads it ("chips", "mbb/hand")."""

    @property
    def iterations(self) -> int:
        """Iterations done so far, counted from 1; one updates both players."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays that grow with the game."""

    @property
    def avg_positive_regret(self) -> float | None:
        """Σ max(R, 0) / (entries · weight of the iterations); `None` when not known."""

    def train_batch(self, iterations: int, callback: BatchCallback | None = None) -> None:
        """Run `iterations` more; between some of them ask `callback` whether to stop early."""

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        """All figures the solver knows; `exploitability=False` leaves out the costly one."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on, random state included."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same identity, bit for bit as if never interrupted.

        All of it is taken over, whatever the solver held before, and nothing of it is kept: the
        arrays may be files that are read part by part.
        """
