"""A solved spot: real combos, and every turn and river card."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from allstreets.base import InputError
from allstreets.betting import CHIPS, Line, NodeKind, Player, Street, line_text, parse_line
from allstreets.cards import Runouts, card_text
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import (
    Choice,
    Deal,
    Decision,
    End,
    EquityCurves,
    HandDetail,
    Place,
)
from allstreets.explorer.models.reports import BoardHandsPart, CardReport, FlopReport, HandGroups
from allstreets.explorer.views.base import Description
from allstreets.explorer.views.betting import Betting, street_name
from allstreets.explorer.views.card_reports import CardReports
from allstreets.explorer.views.card_walk import deal, dealt_cards
from allstreets.explorer.views.curves import equity_curve
from allstreets.explorer.views.descriptions import describe_spot
from allstreets.explorer.views.ends import end, ended
from allstreets.explorer.views.figures import decision, hand_detail, table
from allstreets.explorer.views.hand_groups import hand_groups
from allstreets.explorer.views.range_words import Reaching, reaching
from allstreets.explorer.views.scenes import BEHIND, cached_scenes
from allstreets.explorer.views.spot_boards import BoardsBeside
from allstreets.explorer.views.wrong_lines import with_hints
from allstreets.games import spot_root
from allstreets.solutions import Decision as Record
from allstreets.solutions import SpotSolution, TrimmedSolution

EV_NOTE = "chips from here on: folding is 0, and both players' EVs sum to the pot"


class SpotView:
    """A `SolutionView` of a spot."""

    def __init__(
        self,
        result: SpotSolution,
        manifest: Mapping[str, Any],
        beside: BoardsBeside | None = None,
    ) -> None:
        self.result = result
        self._manifest, self._beside = manifest, beside
        self.scene = cached_scenes(self._find)  # both players' hands at a line
        self._reports = CardReports(self)

    @property
    def kept(self) -> int:
        """How many streets are stored; what comes later is solved again."""
        last = Street.RIVER - self.result.spot.tree.first_street + 1
        return self.result.kept if isinstance(self.result, TrimmedSolution) else last

    @cached_property
    def _root(self) -> Runouts:
        return spot_root(self.result.spot)

    def runouts(self, cards: tuple[int, ...]) -> Runouts:
        """Which cards are the same after these were dealt."""
        found = self._root
        for card in cards:
            found = found.after(card)
        return found

    def describe(self) -> Description:
        """What it is."""
        found = describe_spot(self.result.spot, self._manifest, self.kept)
        flops = self._beside is not None
        return replace(found, features=found.features.model_copy(update={"flops": flops}))

    def line(self, text: str) -> Line:
        """The way that a text describes."""
        tree, board = self.result.spot.tree, self.result.spot.cards
        return with_hints(text, lambda given: parse_line(tree, given, board), self.text)

    def text(self, line: Line) -> str:
        """The canonical text of a line."""
        return line_text(self.result.spot.tree, line.node, line.cards)

    def _find(self, line: Line) -> Record:
        scene = self.result.at(line)
        if scene.actor is not None and not scene.reached:
            scene = replace(scene, notes=(BEHIND,))
        return ended(scene, self.betting(line.cards), line.node)

    def betting(self, cards: tuple[int, ...]) -> Betting:
        """The tree with these cards dealt; nodes beyond them are not reached."""
        tree = self.result.spot.tree
        return Betting(
            tree, self.result.spot.payoffs, CHIPS, lambda node: line_text(tree, node, cards)
        )

    def place(self, line: str) -> Place:
        """What is seen at a line."""
        found = self.line(line)
        spot, betting = self.result.spot, self.betting(found.cards)
        street = spot.tree.first_street + len(found.cards)
        return Place(
            solution="",
            line=self.text(found),
            street=street_name(street),
            board=[card_text(card) for card in (*spot.cards, *found.cards)],
            unit=CHIPS.unit,
            ev_note=EV_NOTE + (" less the rake" if spot.rake else ""),
            pot=betting.pot(found.node),
            stacks=betting.stacks(found.node),
            seats={"oop": CHIPS.seats[0], "ip": CHIPS.seats[1]},
            steps=betting.steps(found.node, dealt_cards(self, found)),
            here=self._here(betting, found),
        )

    def _here(self, betting: Betting, line: Line) -> Decision | Deal | End:
        tree, node = betting.tree, line.node
        if tree.kind[node] == NodeKind.CHANCE:
            return deal(self, line)
        if tree.kind[node] == NodeKind.DECISION:
            return decision(self.scene(line), betting.choices(node))
        return end(betting, node, self.scene(line))

    def record(self, line: str) -> Record:
        """Both players' hands at a line."""
        return self.scene(self.line(line))

    def hand(self, line: str, player: PlayerName, hand: str) -> HandDetail:
        """A cell of the grid, combo by combo."""
        return hand_detail(self.record(line), player, hand)

    def equity(self, line: str) -> EquityCurves:
        """Both ranges, sorted by equity."""
        found = self.line(line)
        oop, ip = (equity_curve(self.scene(found), player) for player in Player)
        return EquityCurves(line=self.text(found), oop=oop, ip=ip)

    def range(self, line: str, player: PlayerName | None, action: str | None) -> Reaching:
        """A player's range at a line, or the part of it that takes an action."""
        return reaching(self.record(line), player, action)

    def cards(self, line: str) -> Iterator[CardReport]:
        """One row per card of the deal at a line, or of the last one on the way to it."""
        return self._reports.parts(self.line(line))

    def flops(self, line: str) -> FlopReport:
        """The decision of a line on all boards of the set that the spot is one of."""
        if self._beside is None:
            raise self._alone(line)
        return self._beside.at(*self._decision(line))

    def flop_hands(self, line: str) -> Iterator[BoardHandsPart]:
        """The same by what hands make on the boards."""
        if self._beside is None:
            raise self._alone(line)
        return self._beside.hands(*self._decision(line))

    def _alone(self, line: str) -> InputError:
        return InputError(f"line '{line}': a spot has one board, so there is no table of flops")

    def _decision(self, line: str) -> tuple[str, list[Choice]]:
        """A decision that other boards have as well: the line to it, and its actions."""
        found = self.line(line)
        if found.cards or self.result.spot.tree.kind[found.node] != NodeKind.DECISION:
            raise InputError(
                f"line '{line}': tables over boards are of decisions before another card is dealt"
            )
        return self.text(found), self.betting(()).choices(found.node)

    def groups(self, line: str) -> HandGroups:
        """The hands of a line by category."""
        found = self.line(line)
        return hand_groups(self.scene(found), self.text(found))

    def rows(self, line: str) -> list[Mapping[str, Any]]:
        """The decision of a line as a table: one row per combo."""
        return table(self.record(line))
