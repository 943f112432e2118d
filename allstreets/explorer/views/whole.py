"""A solved whole game, or the part of one before the flop."""

from collections.abc import Mapping
from typing import Any

from allstreets.base import InputError
from allstreets.betting import NodeKind, Street
from allstreets.cards import card_text
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import (
    Deal,
    Decision,
    End,
    EquityCurves,
    Grids,
    HandDetail,
    Place,
    RangeText,
    Step,
)
from allstreets.explorer.models.reports import CardReport, FlopReport
from allstreets.explorer.views.base import Description
from allstreets.explorer.views.betting import Betting, street_name
from allstreets.explorer.views.curves import equity_curve
from allstreets.explorer.views.descriptions import describe_whole
from allstreets.explorer.views.ends import end
from allstreets.explorer.views.figures import decision, grids, hand_detail, table
from allstreets.explorer.views.range_words import range_text
from allstreets.explorer.views.scene import Floats, Scene
from allstreets.explorer.views.whole_flops import FlopTables
from allstreets.explorer.views.whole_lines import SEATS, UNIT, WholeLines, WholePlace
from allstreets.explorer.views.whole_scenes import WholeScenes
from allstreets.solvers.unified.result import PreflopResult

EV_NOTE = "bb over the whole hand: what a player has put in before counts as lost"
NO_CARDS = {
    "exact": "turn and river are not kept with cards: exact",
    "classes": "turn and river cards are averaged over",
    "buckets": "turn and river cards are averaged over",
}


class WholeView:
    """A `SolutionView` of a whole game."""

    def __init__(self, result: PreflopResult, manifest: Mapping[str, Any]) -> None:
        self.result = result
        self._manifest = manifest
        self._lines = WholeLines(result)
        self._scenes = WholeScenes(self._lines)
        self._tables = FlopTables(self._lines)

    def describe(self) -> Description:
        """What it is."""
        return describe_whole(self.result, self._manifest)

    def scene(self, line: str) -> Scene:
        """Both players' hands."""
        return self._scenes.at(self._lines.read(line))

    def place(self, line: str) -> Place:
        """What is seen at a line."""
        found = self._lines.read(line)
        before = self._lines.before()
        betting, node = before, found.before
        steps: list[Step] = before.steps(found.before, iter(()))
        board: list[str] = []
        if found.after is not None:
            flop = found.after.flop
            board = [card_text(card) for card in flop.cards]
            betting = self._lines.after(found.before, found.after.number, flop.text)
            node = found.after.node
            steps = [*steps, flop.step(before.line(found.before)), *betting.steps(node, iter(()))]
        return Place(
            solution="",
            line=self._lines.text(found),
            street=street_name(betting.tree.street[node]),
            board=board,
            unit=UNIT,
            ev_note=EV_NOTE,
            pot=betting.pot(node),
            stacks=betting.stacks(node),
            seats={"oop": SEATS[0], "ip": SEATS[1]},
            steps=steps,
            here=self._here(found, betting, node),
        )

    def _here(self, place: WholePlace, betting: Betting, node: int) -> Decision | Deal | End:
        tree = betting.tree
        if tree.kind[node] == NodeKind.CHANCE:
            return self._deal(place)
        if tree.kind[node] == NodeKind.DECISION:
            return decision(
                self._scenes.at(place), betting.choices(node), SEATS, betting.to_call(node)
            )
        return end(betting, node, self._payoffs(place), self._scenes.at(place))

    def _payoffs(self, place: WholePlace) -> Floats:
        if place.after is None:
            return self._scenes.payoffs
        whole = self._lines.whole
        assert whole is not None
        return whole.pot(place.after.number).payoffs

    def _deal(self, place: WholePlace) -> Deal:
        """The flop; or, with real combos, the turn, which is not kept."""
        whole, known = self._lines.whole, grids(self._scenes.at(place), SEATS)
        if place.after is not None:
            return _last(
                Street.TURN, 1, known, "With real combos, only the flop's decisions are kept."
            )
        if whole is None:
            return _last(Street.FLOP, 3, known, "Nothing is kept of what follows the flop.")
        return Deal(
            street=street_name(Street.FLOP),
            count=3,
            cards=[],
            pattern=self._lines.deal_line(place.before, "{cards}"),
            flops=len(whole.game.flops.flops),
            grids=known,
        )

    def hand(self, line: str, player: PlayerName, hand: str) -> HandDetail:
        """A cell of the grid: by combo where a model has combos, else as a whole."""
        return hand_detail(self.scene(line), player, hand)

    def equity(self, line: str) -> EquityCurves:
        """Both ranges, sorted by equity; empty where it is not known."""
        found = self._lines.read(line)
        oop, ip = self._scenes.at(found).sides
        text = self._lines.text(found)
        return EquityCurves(line=text, oop=equity_curve(oop), ip=equity_curve(ip))

    def range(self, line: str, player: PlayerName, action: str | None) -> RangeText:
        """A player's range at a line, or the part of it that takes an action."""
        return range_text(self.scene(line), player, action)

    def cards(self, line: str) -> CardReport:
        """No cards are dealt after the flop."""
        whole = self._lines.whole
        reason = NO_CARDS[whole.cards.kind] if whole else "this solution ends before the flop"
        raise InputError(f"line '{line}': there is no report over cards, since {reason}")

    def flops(self, line: str) -> FlopReport:
        """One row a flop: the decision of a line on all of them."""
        return self._tables.at(line)

    def rows(self, line: str) -> list[Mapping[str, Any]]:
        """The decision of a line as a table: one row a hand, or a combo."""
        return table(self.scene(line))


def _last(street: Street, count: int, known: Grids, note: str) -> Deal:
    """Where cards are dealt and the solution ends."""
    name = street_name(street)
    return Deal(street=name, count=count, cards=[], pattern=None, note=note, grids=known)
