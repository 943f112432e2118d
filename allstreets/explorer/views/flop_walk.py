"""A pot on a flop of a whole game whose turns and rivers are stored card by card."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from allstreets.betting import POSTFLOP, Line
from allstreets.cards import COMBO_COUNT, Runouts, runouts
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.card_reports import CardReports
from allstreets.explorer.views.flop_names import NamedFlop
from allstreets.explorer.views.whole_lines import WholeLines, WholePlace
from allstreets.solutions import Decision


@dataclass(frozen=True, eq=False)
class FlopWalk:
    """A `CardWalk` in the suits that the flop was named in."""

    root: int
    flop: NamedFlop
    lines: WholeLines
    scenes: Callable[[WholePlace], Decision]

    @property
    def kept(self) -> int:
        """Every street is stored."""
        return len(POSTFLOP)

    @cached_property
    def reports(self) -> CardReports:
        """Reports over cards."""
        return CardReports(self)

    @cached_property
    def _first(self) -> Runouts:
        return runouts(self.flop.cards, [np.ones(COMBO_COUNT)])

    def runouts(self, cards: tuple[int, ...]) -> Runouts:
        """Which cards are the same after these were dealt."""
        found = self._first
        for card in cards:
            found = found.after(card)
        return found

    def betting(self, cards: tuple[int, ...]) -> Betting:
        """The tree with these cards dealt."""
        return self.lines.after(self.root, self.flop.text, cards)

    def way(self, place: WholePlace) -> Line:
        """The way to a place from the flop on."""
        tree = self.betting(()).tree
        return Line(tuple(tree.path_to(place.node)), place.cards)

    def scene(self, line: Line) -> Decision:
        """Both players' hands at a place."""
        return self.scenes(WholePlace(self.root, self.flop, line.node, line.cards))
