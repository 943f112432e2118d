"""The checks and ends of a run: small frozen rules, each with its own name and figure.

A rule is evaluated only at checks, never before the first iteration: an untrained solver has no
regret, and would count as converged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from allstreets.base import InputError
from allstreets.jobs.job import Progress, Reason, StopRule


@dataclass(frozen=True)
class ExploitabilityThreshold:
    """The mean best-response gain is at most `target`: the truth, and the rule to prefer.

    With `checks` above 1 it must hold at that many checks in a row. Before the iteration `begins`
    it does not hold: a run that is not calibrated yet is not at its target.
    """

    target: float
    checks: int = 1
    begins: int = 0
    name: ClassVar[Reason] = "exploitability_threshold"

    def __post_init__(self) -> None:
        _require_positive(self.name, self.target)
        if self.checks < 1:
            raise InputError(f"{self.name}: {self.checks} checks in a row; give 1 or more")

    def holds(self, progress: Progress) -> bool:
        if progress.iteration < self.begins:
            return False
        metrics = progress.fresh_metrics
        values = [metrics.exploitability if metrics else None]
        if self.checks > 1:
            values += progress.recent[-self.checks :]
            if len(progress.recent) < self.checks:
                return False
        return all(value is not None and value <= self.target for value in values)

    def describe(self, unit: str) -> str:
        times = f", {self.checks} times in a row" if self.checks > 1 else ""
        return f"exploitability at most {self.target:g} {unit}{times}"


@dataclass(frozen=True)
class RegretThreshold:
    """The average positive regret is at most `target`: a trend, not a bound.

    Before the iteration `begins` it does not hold.
    """

    target: float
    begins: int = 0
    name: ClassVar[Reason] = "regret_threshold"

    def __post_init__(self) -> None:
        _require_positive(self.name, self.target)

    def holds(self, progress: Progress) -> bool:
        metrics = progress.fresh_metrics
        value = metrics.avg_positive_regret if metrics else None
        return progress.iteration >= self.begins and value is not None and value <= self.target

    def describe(self, unit: str) -> str:
        return f"avg +regret at most {self.target:g} {unit}"


@dataclass(frozen=True)
class Iterations:
    """A limit on iterations, those before a resume included."""

    total: int
    name: ClassVar[Reason] = "iterations"

    def __post_init__(self) -> None:
        if self.total < 1:
            raise InputError(
                f"iterations must be 1 or more, not {self.total}; "
                "to run until a threshold holds, leave iterations out"
            )

    def holds(self, progress: Progress) -> bool:
        return progress.iteration >= self.total

    def describe(self, unit: str) -> str:  # noqa: ARG002
        return f"{self.total:,} iterations"


@dataclass(frozen=True)
class LastResort:
    """Ends a run whose target is out of reach; unlike `Iterations` it promises no number."""

    total: int
    name: ClassVar[Reason] = "iterations"

    def holds(self, progress: Progress) -> bool:
        return progress.iteration >= self.total

    def describe(self, unit: str) -> str:  # noqa: ARG002
        return f"{self.total:,} iterations"


@dataclass(frozen=True)
class TimeLimit:
    """A limit on the seconds of this process: a resumed run gets the whole time again.

    Checks count, so a run ends while there is time for its last check: when the next iterations and
    their check would overrun the limit, if they take as long as the last ones.
    """

    seconds: float
    spent: float = 0.0  # used by this process before: for its set-up, for work that a cluster lost
    name: ClassVar[Reason] = "time"

    def __post_init__(self) -> None:
        _require_positive("the time limit", self.seconds)

    def holds(self, progress: Progress) -> bool:
        return progress.session_seconds + progress.reserve_seconds >= self.left

    @property
    def left(self) -> float:
        """Seconds that this run has."""
        return self.seconds - self.spent

    def describe(self, unit: str) -> str:  # noqa: ARG002
        return f"{self.seconds:g} seconds"


@dataclass(frozen=True)
class Intervals:
    """Iterations between two checks, and between two checkpoints."""

    check: int = 100
    checkpoint: int = 1000

    def __post_init__(self) -> None:
        for name, interval in (("check", self.check), ("checkpoint", self.checkpoint)):
            if interval < 1:
                raise InputError(f"the {name} interval must be at least 1, not {interval}")


# When several rules hold at once, the most significant one is the reason.
_ORDER: tuple[Reason, ...] = ("exploitability_threshold", "regret_threshold", "iterations", "time")

Rule = TypeVar("Rule")


def find_rule(rules: Iterable[object], kind: type[Rule]) -> Rule | None:
    """The rule of this kind, or `None`."""
    return next((rule for rule in rules if isinstance(rule, kind)), None)


def holding(rules: Iterable[StopRule], progress: Progress) -> tuple[Reason, ...]:
    """Names of the rules that hold, the most significant first; none before the first iteration."""
    if progress.iteration == 0:
        return ()
    return tuple(sorted({r.name for r in rules if r.holds(progress)}, key=_ORDER.index))


def _require_positive(name: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise InputError(f"{name} must be above 0, not {value:g}; for example 0.01")
