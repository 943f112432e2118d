"""Schedule of saves of a running solve: early, so that there is something to view, then seldom.

What saving may take is a share of the time that has passed, and a second on top, so that the
first save of a usual spot comes with its first check.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SHARE = 0.07  # of the time that has passed
ALLOWANCE = 1.0  # seconds
BYTES_A_SECOND = 300e6  # how fast a first save is taken to be
CLOSEST, FARTHEST = 1.0, 300.0  # seconds between two saves, if they cost nothing
GROWTH = 0.1  # of the time that has passed, between two saves


@dataclass
class SaveBudget:
    """Decides when a save is due, by what the saves before it took."""

    solver_bytes: int
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _spent: float = field(default=0.0, init=False)
    _last: tuple[float, float] | None = field(default=None, init=False)  # when, how long

    def __post_init__(self) -> None:
        self._began = self.clock()

    def due(self) -> bool:
        """Whether to save now."""
        now = self.clock()
        passed = now - self._began
        if self._last is None:
            cost = self.solver_bytes / BYTES_A_SECOND
        else:
            ended, cost = self._last
            if now - ended < max(CLOSEST, min(GROWTH * passed, FARTHEST)):
                return False
        return self._spent + cost <= ALLOWANCE + SHARE * passed

    def saved(self, seconds: float) -> None:
        """A save has just ended that took so long."""
        self._spent += seconds
        self._last = self.clock(), seconds


class Thinned:
    """Rows of checks: all of the first ones, then fewer and fewer, and always the latest.

    A river is checked some hundred times per second; a curve shows the same with a row for every
    hundredth more iterations.
    """

    def __init__(self, ratio: float = 1.01, first: int = 100) -> None:
        self._ratio, self._first = ratio, first
        self._kept: list[dict[str, Any]] = []
        self.latest: dict[str, Any] | None = None  # where it is not one of those that stay

    def add(self, row: dict[str, Any]) -> bool:
        """Take a row; whether it is one of those that stay."""
        stays = (
            len(self._kept) < self._first
            or row["iteration"] >= self._ratio * self._kept[-1]["iteration"]
        )
        if stays:
            self._kept.append(row)
        self.latest = None if stays else row
        return stays

    def rows(self) -> list[dict[str, Any]]:
        """The rows that stay, and the latest one."""
        return [*self._kept, *([] if self.latest is None else [self.latest])]
