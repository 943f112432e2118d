"""What the explorer needs of a solution, whatever its kind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import EquityCurves, HandDetail, Place
from allstreets.explorer.models.reports import BoardHandsPart, CardReport, FlopReport, HandGroups
from allstreets.explorer.models.solution import Curve, Fact, Features
from allstreets.explorer.views.range_words import Reaching
from allstreets.solutions import Decision


@dataclass(frozen=True)
class Description:
    """A solution in words and figures."""

    title: str
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    curve: Curve
    features: Features
    root: str


class SolutionView(Protocol):
    """A solution that can be walked. A line that leads nowhere is an `InputError`."""

    def describe(self) -> Description:
        """What it is."""

    def place(self, line: str) -> Place:
        """What is seen at a line."""

    def record(self, line: str) -> Decision:
        """Both players' hands at a line, and what is done with them."""

    def hand(self, line: str, player: PlayerName, hand: str) -> HandDetail:
        """A cell of the grid, combo by combo."""

    def equity(self, line: str) -> EquityCurves:
        """Both ranges, sorted by equity."""

    def range(self, line: str, player: PlayerName | None, action: str | None) -> Reaching:
        """A player's range at a line, or the part of it that takes an action."""

    def cards(self, line: str) -> Iterator[CardReport]:
        """One row per card that can be dealt at a line: parts of a report, board by board."""

    def flops(self, line: str) -> FlopReport:
        """One row per flop: the decision of a line on all of them."""

    def flop_hands(self, line: str) -> Iterator[BoardHandsPart]:
        """The decision of a line on all flops by hands: a part for each flop that is read."""

    def groups(self, line: str) -> HandGroups:
        """The hands of a line by category."""

    def rows(self, line: str) -> list[Mapping[str, Any]]:
        """The decision of a line as a table: one row per combo or hand."""
