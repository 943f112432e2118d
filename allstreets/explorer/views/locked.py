"""One request at a time: views cache what they find, and a spot's solver has one workspace."""

from collections.abc import Mapping
from threading import Lock
from typing import Any

from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import EquityCurves, HandDetail, Place, RangeText
from allstreets.explorer.models.reports import CardReport, FlopReport
from allstreets.explorer.views.base import Description, SolutionView


class LockedView:
    """A view for many threads.

    A table over flops takes seconds the first time and works on nothing that others change: it has
    a lock of its own, so that other requests go on while it is built.
    """

    def __init__(self, view: SolutionView) -> None:
        self._view = view
        self._lock, self._flops_lock = Lock(), Lock()

    def describe(self) -> Description:
        """What it is."""
        with self._lock:
            return self._view.describe()

    def place(self, line: str) -> Place:
        """What is seen at a line."""
        with self._lock:
            return self._view.place(line)

    def hand(self, line: str, player: PlayerName, hand: str) -> HandDetail:
        """A cell of the grid, combo by combo."""
        with self._lock:
            return self._view.hand(line, player, hand)

    def equity(self, line: str) -> EquityCurves:
        """Both ranges, sorted by equity."""
        with self._lock:
            return self._view.equity(line)

    def range(self, line: str, player: PlayerName, action: str | None) -> RangeText:
        """A player's range at a line, or the part of it that takes an action."""
        with self._lock:
            return self._view.range(line, player, action)

    def cards(self, line: str) -> CardReport:
        """One row per card that can be dealt at a line."""
        with self._lock:
            return self._view.cards(line)

    def flops(self, line: str) -> FlopReport:
        """One row per flop: the decision of a line on all of them."""
        with self._flops_lock:
            return self._view.flops(line)

    def rows(self, line: str) -> list[Mapping[str, Any]]:
        """The decision of a line as a table: one row per combo or hand."""
        with self._lock:
            return self._view.rows(line)
