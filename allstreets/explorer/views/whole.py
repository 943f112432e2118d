"""A whole game, the part of one before the flop, or flops solved one by one."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from allstreets.base import InputError
from allstreets.betting import NodeKind, Player, Street
from allstreets.cards import FLOP_COUNT, Flop, card_text
from allstreets.engines import CardModel
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import (
    Deal,
    Decision,
    End,
    EquityCurves,
    Grids,
    HandDetail,
    Place,
)
from allstreets.explorer.models.reports import BoardHandsPart, CardReport, FlopReport, HandGroups
from allstreets.explorer.views.base import Description
from allstreets.explorer.views.betting import Betting, street_name
from allstreets.explorer.views.card_walk import deal, dealt_cards
from allstreets.explorer.views.curves import equity_curve
from allstreets.explorer.views.ends import end, ended
from allstreets.explorer.views.figures import decision, grids, hand_detail, table
from allstreets.explorer.views.flop_names import NamedFlop
from allstreets.explorer.views.flop_walk import FlopWalk
from allstreets.explorer.views.hand_groups import hand_groups
from allstreets.explorer.views.range_words import Reaching, reaching
from allstreets.explorer.views.roots import Roots
from allstreets.explorer.views.scenes import (
    BUCKET_EVS,
    FLOP_EQUITY,
    NO_EQUITY,
    RARE,
    cached_scenes,
)
from allstreets.explorer.views.whole_flops import TablesOverFlops
from allstreets.explorer.views.whole_lines import WholeLines, WholePlace
from allstreets.solutions import Decision as Record
from allstreets.solutions import PotView, live, swept

CACHED_FLOPS = 8  # pots on flops, with all their values


class WholeView:
    """A `SolutionView` of all that its roots lead to."""

    def __init__(self, roots: Roots, description: Description) -> None:
        self._roots, self._description = roots, description
        self._lines = WholeLines(roots)
        self._scene_at = cached_scenes(self._find)
        self._view = lru_cache(CACHED_FLOPS)(self._pot_on_flop)
        self._walk = lru_cache(CACHED_FLOPS)(self._new_walk)
        self._tables = TablesOverFlops(self._lines)

    def describe(self) -> Description:
        """What it is."""
        return self._description

    def record(self, line: str) -> Record:
        """Both players' hands at a line."""
        return self._scene_at(self._lines.read(line))

    def _find(self, place: WholePlace) -> Record:
        betting, node = self._lines.betting(place)
        if place.flop is None:
            return ended(_with_notes(self._roots.scene(place.root)), betting, node)
        if place.cards:
            way = self._walk(place.root, place.flop).way(place)
            scene = self._lines.flops("").later(place.root, place.flop, way)
            return ended(_with_notes(scene), betting, node)
        return ended(self._on_flop(place.root, place.flop, node), betting, node)

    def _on_flop(self, root: int, flop: NamedFlop, node: int) -> Record:
        """A place on a flop, in the suits that were named."""
        flops, view = self._lines.flops(flop.text), self._view(root, flop.flop)
        if flops.cards.plays_combos:
            scene = view.combo_node(node, "")
            oop, ip = (replace(hands, combos=flop.shown(live(view.flop))) for hands in scene.hands)
            scene = replace(scene, hands=(oop, ip))
        else:
            scene = flops.counted(view.node(node, ""))
            scene = _with_notes(scene, *_card_notes(flops.cards, scene.street))
        return replace(scene, board=flop.cards)

    def _pot_on_flop(self, root: int, flop: Flop) -> PotView:
        flops = self._lines.flops(flop.text)
        return swept(flops.view(root, flop), flops.cards.plays_classes)

    def place(self, line: str) -> Place:
        """What is seen at a line."""
        found = self._lines.read(line)
        betting, node = self._lines.betting(found)
        root, flop, seats = found.root, found.flop, self._roots.notation.seats
        steps = self._roots.steps(root)
        if flop is not None:
            walk = self._walk(root, flop)
            cards = dealt_cards(walk, walk.way(found)) if found.cards else iter(())
            steps = [*steps, flop.step(self._lines.line(root)), *betting.steps(node, cards)]
        return Place(
            solution="",
            line=betting.line(node),
            street=street_name(betting.tree.street[node]),
            board=[card_text(card) for card in (*(flop.cards if flop else ()), *found.cards)],
            unit=self._roots.notation.unit,
            ev_note=self._roots.ev_note,
            pot=betting.pot(node),
            stacks=betting.stacks(node),
            seats={"oop": seats[0], "ip": seats[1]},
            settings=self._roots.settings(root, flop),
            steps=steps,
            here=self._here(found, betting, node),
        )

    def _here(self, place: WholePlace, betting: Betting, node: int) -> Decision | Deal | End:
        if place.flop is None and self._lines.deals(place.root):
            return self._deal(place)
        walk = self._cards_of(place)
        if walk is not None and betting.tree.kind[node] == NodeKind.CHANCE:
            return deal(walk, walk.way(place))
        scene = self._scene_at(place)
        match NodeKind(betting.tree.kind[node]):
            case NodeKind.DECISION:
                return decision(scene, betting.choices(node))
            case NodeKind.CHANCE:
                note = "With real combos, only the flop's decisions are stored."
                return _last(Street.TURN, 1, grids(scene), note)
        return end(betting, node, scene)

    def _cards_of(self, place: WholePlace) -> FlopWalk | None:
        """The pot on a flop where turn and river are stored card by card; None: they are not."""
        after = self._roots.after
        if place.flop is None or after is None or not after.cards.stores_cards:
            return None
        return self._walk(place.root, place.flop)

    def _new_walk(self, root: int, flop: NamedFlop) -> FlopWalk:
        return FlopWalk(root, flop, self._lines, self._scene_at)

    def _deal(self, place: WholePlace) -> Deal:
        """The flop; who holds what is not known where no betting comes before it."""
        after, known = self._roots.after, None
        if self._roots.before is not None:
            known = grids(self._scene_at(place))
        if after is None and not self._roots.any_flop:
            return _last(Street.FLOP, 3, known, "Nothing after the flop is stored.")
        solved = after.solved(place.root) if after is not None else ()
        return Deal(
            street=street_name(Street.FLOP),
            count=3,
            cards=[],
            pattern=self._lines.line(place.root, "{cards}"),
            flops=len(solved),
            named=[] if len(solved) == FLOP_COUNT else [one.flop.text for one in solved],
            any_flop=self._roots.any_flop,
            grids=known,
        )

    def hand(self, line: str, player: PlayerName, hand: str) -> HandDetail:
        """A cell of the grid: by combo where a model has combos, else as a whole."""
        return hand_detail(self.record(line), player, hand)

    def equity(self, line: str) -> EquityCurves:
        """Both ranges, sorted by equity; empty where it is not known."""
        found = self._lines.read(line)
        oop, ip = (equity_curve(self._scene_at(found), player) for player in Player)
        return EquityCurves(line=self._lines.text(found), oop=oop, ip=ip)

    def range(self, line: str, player: PlayerName | None, action: str | None) -> Reaching:
        """A player's range at a line, or the part of it that takes an action."""
        return reaching(self.record(line), player, action)

    def cards(self, line: str) -> Iterator[CardReport]:
        """One row per card of the deal at a line, where turn and river go by their cards."""
        found = self._lines.read(line)
        walk = self._cards_of(found)
        if walk is not None:
            return walk.reports.parts(walk.way(found))
        after, reason = self._roots.after, "turn and river cards are averaged over"
        if after is None:
            reason = "this solution ends before the flop"
        elif after.cards.stores_cards:
            reason = "no flop is dealt yet: pick one"
        elif after.cards.plays_combos:
            reason = "turn and river are not stored with cards: exact"
        raise InputError(f"line '{line}': there is no report over cards, since {reason}")

    def flops(self, line: str) -> FlopReport:
        """One row per flop: the decision of a line on all of them."""
        return self._tables.at(line)

    def flop_hands(self, line: str) -> Iterator[BoardHandsPart]:
        """The decision of a line on all flops by hands."""
        return self._tables.hands(line)

    def groups(self, line: str) -> HandGroups:
        """The hands of a line by category."""
        return hand_groups(self.record(line), line)

    def rows(self, line: str) -> list[Mapping[str, Any]]:
        """The decision of a line as a table: one row per hand or combo."""
        return table(self.record(line))


def _with_notes(scene: Record, *notes: str) -> Record:
    rare = (RARE,) if scene.actor is not None and scene.is_rare else ()
    return replace(scene, notes=(*rare, *notes))


def _card_notes(cards: CardModel, street: Street) -> tuple[str, ...]:
    """What a card model leaves out."""
    if cards.kind == "buckets":
        return NO_EQUITY, BUCKET_EVS
    return (FLOP_EQUITY,) if street > Street.FLOP else ()


def _last(street: Street, count: int, known: Grids | None, note: str) -> Deal:
    """Where cards are dealt and the solution ends."""
    name = street_name(street)
    return Deal(street=name, count=count, cards=[], pattern=None, note=note, grids=known)
