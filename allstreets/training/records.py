"""What a training run reports about itself: frozen records, which observers draw as they like."""

from __future__ import annotations  # some types are of files that import this one

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from allstreets.cfr import Metrics

if TYPE_CHECKING:
    from allstreets.base import Place
    from allstreets.cluster import NodeUse
    from allstreets.engines import DeviceUse
    from allstreets.training.stopping import StopRule

# Why a run ended. All but the last are the names of stop rules.
Reason = Literal[
    "exploitability_threshold", "regret_threshold", "iterations", "time", "interrupted"
]


@dataclass(frozen=True)
class Check:
    """The figures at one iteration: a line of the metrics file, a point of the curve."""

    iteration: int
    seconds: float  # of the whole run, the time before a resume included
    iterations_per_second: float | None  # None = too early to say
    solver_bytes: int
    process_bytes: int | None  # None = this platform does not say
    metrics: Metrics

    def to_row(self) -> dict[str, Any]:
        """As one flat JSON object."""
        row = {each.name: getattr(self, each.name) for each in fields(self)}
        del row["metrics"]
        return row | asdict(self.metrics)

    @staticmethod
    def from_row(row: Mapping[str, Any]) -> Check:
        """Back from `to_row`. Raises `KeyError` or `TypeError` on anything else."""

        own = {each.name: row[each.name] for each in fields(Check) if each.name != "metrics"}
        # A figure that an earlier version did not have is not known.
        figures = {each.name: row.get(each.name) for each in fields(Metrics)}
        return Check(**own, metrics=Metrics(**figures))


@dataclass(frozen=True)
class Progress:
    """Where a run stands. Emitted at every check, and a few times per second in between."""

    iteration: int
    total: int | None  # None = no fixed number of iterations
    seconds: float  # of the whole run, the time before a resume included
    session_seconds: float  # since this process began to train
    iterations_per_second: float | None
    eta_seconds: float | None  # to the fixed number of iterations
    target_eta_seconds: float | None  # to the exploitability target, by the slope of the curve
    solver_bytes: int
    process_bytes: int | None
    unit: str  # of exploitability and regrets
    rules: tuple[StopRule, ...]
    check: Check | None  # the latest one; None before the first
    holding: tuple[Reason, ...] = ()  # the rules that hold, the most significant first
    recent: tuple[float | None, ...] = ()  # exploitability at the latest checks, newest last
    device: DeviceUse | None = None  # what the run makes of a GPU
    nodes: tuple[NodeUse, ...] = ()  # what the machines of a cluster do
    reserve_seconds: float = 0.0  # of the next iterations and their check, by the last ones
    paused: bool = False  # the run waits here, and its time stands still

    @property
    def metrics(self) -> Metrics | None:
        """The figures of the latest check."""
        return self.check.metrics if self.check else None

    @property
    def fresh_metrics(self) -> Metrics | None:
        """The figures of this very iteration; `None` between two checks."""
        return self.metrics if self.check and self.check.iteration == self.iteration else None


@dataclass(frozen=True)
class TrainingOutcome:
    """How a run ended."""

    reason: Reason
    progress: Progress
    history: tuple[Check, ...]
    checkpoints: Place | None  # the folder that the run was saved in
    unsaved: str | None = None  # why the last checkpoint could not be written, for people
    seconds_per_iteration: float | None = None  # without checks; None = nothing was trained

    @property
    def converged(self) -> bool:
        """Whether a threshold was reached."""
        return self.reason in ("exploitability_threshold", "regret_threshold")
