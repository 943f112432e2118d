"""A model of flops: full ranges at some stack-to-pot ratios, by hand class."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from allstreets.base import InputError
from allstreets.betting import NodeKind
from allstreets.cards import HAND_COUNT, Flop, card_text, hand_pairs
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import (
    Deal,
    Decision,
    End,
    EquityCurves,
    HandDetail,
    Place,
    RangeText,
    Step,
)
from allstreets.explorer.models.reports import CardReport, FlopReport, FlopRow
from allstreets.explorer.views.base import Description
from allstreets.explorer.views.betting import PLAYER_NAMES, Betting, street_name
from allstreets.explorer.views.class_rows import ClassDecision
from allstreets.explorer.views.curves import equity_curve
from allstreets.explorer.views.descriptions import describe_postflop
from allstreets.explorer.views.ends import end
from allstreets.explorer.views.figures import decision, hand_detail, number, table
from allstreets.explorer.views.postflop_lines import SEATS, UNIT, PostflopLines, PostflopPlace
from allstreets.explorer.views.postflop_scenes import PostflopScenes, weights_of
from allstreets.explorer.views.range_words import range_text
from allstreets.explorer.views.scene import Scene
from allstreets.explorer.views.whole_flops import ANY_FLOP, Pair, flop_row, require_quick
from allstreets.solvers import PostflopResult

EV_NOTE = (
    "share of the starting pot: 0.5 is an even split, and both players' EVs sum to 1; what a "
    "player puts in from the flop on counts as lost"
)
KEPT = 8  # tables over flops


class PostflopView:
    """A `SolutionView` of a model of flops."""

    def __init__(self, result: PostflopResult, manifest: Mapping[str, Any]) -> None:
        self.result = result
        self._manifest = manifest
        self._lines = PostflopLines(result)
        self._scenes = PostflopScenes(self._lines)
        self._tables = lru_cache(KEPT)(self._table)

    def describe(self) -> Description:
        """What it is."""
        return describe_postflop(
            self.result, self._manifest, self._lines.text(self._lines.read(""))
        )

    def place(self, line: str) -> Place:
        """What is seen at a line."""
        found = self._lines.read(line)
        flop = found.flop
        betting = self._lines.betting(found.spr, "" if flop is None else flop.text)
        steps: list[Step] = [self._lines.ratio_step(found)]
        if flop is not None:
            deal = self._lines.line(found.spr)
            steps = [*steps, flop.step(deal), *betting.steps(found.node, iter(()))]
        return Place(
            solution="",
            line=self._lines.text(found),
            street=street_name(betting.tree.street[found.node]),
            board=[] if flop is None else [card_text(card) for card in flop.cards],
            unit=UNIT,
            ev_note=EV_NOTE,
            pot=betting.pot(found.node),
            stacks=betting.stacks(found.node),
            seats={"oop": SEATS[0], "ip": SEATS[1]},
            settings=self._lines.settings(found),
            steps=steps,
            here=self._here(found, betting),
        )

    def _here(self, place: PostflopPlace, betting: Betting) -> Decision | Deal | End:
        tree, node = betting.tree, place.node
        if place.flop is None:
            return Deal(
                street="flop",
                count=3,
                cards=[],
                pattern=self._lines.line(place.spr, "{cards}"),
                flops=len(self._lines.flops(place.spr)),
            )
        if tree.kind[node] == NodeKind.DECISION:
            scene = self._scenes.at(place)
            return decision(scene, betting.choices(node), SEATS, betting.to_call(node))
        results = self.result.game(place.spr).payoffs
        return end(betting, node, results, self._scenes.at(place))

    def _scene(self, line: str) -> tuple[PostflopPlace, Scene]:
        found = self._lines.read(line)
        if found.flop is None:
            raise InputError(f"line '{line}': no flop is dealt yet: pick one")
        return found, self._scenes.at(found)

    def hand(self, line: str, player: PlayerName, hand: str) -> HandDetail:
        """A hand as a whole: its combos are played alike."""
        return hand_detail(self._scene(line)[1], player, hand)

    def equity(self, line: str) -> EquityCurves:
        """Both ranges, sorted by equity; empty where it is not known."""
        found, scene = self._scene(line)
        oop, ip = (equity_curve(side) for side in scene.sides)
        return EquityCurves(line=self._lines.text(found), oop=oop, ip=ip)

    def range(self, line: str, player: PlayerName, action: str | None) -> RangeText:
        """A player's range at a line, or the part of it that takes an action."""
        return range_text(self._scene(line)[1], player, action)

    def cards(self, line: str) -> CardReport:
        """No cards are dealt after the flop."""
        raise InputError(
            f"line '{line}': there is no report over cards, since turn and river are averaged over"
        )

    def rows(self, line: str) -> list[Mapping[str, Any]]:
        """The decision of a line as a table: one row a hand."""
        return table(self._scene(line)[1])

    def flops(self, line: str) -> FlopReport:
        """One row a flop: the decision of a line on all of them."""
        place = self._lines.read_any(line)
        return self._tables(place.spr, place.node)

    def _table(self, spr: float, node: int) -> FlopReport:
        betting = self._lines.betting(spr, ANY_FLOP)
        if betting.tree.kind[node] != NodeKind.DECISION:
            raise InputError(f"line '{betting.line(node)}': nobody acts there")
        require_quick(self._scenes.has_buckets, int(betting.tree.street[node]))
        told = {row["flop"]: row for row in self.result.flops if float(row["spr"]) == spr}
        flops = self._lines.flops(spr)
        decision = None
        if not self._scenes.has_buckets:
            decision = ClassDecision(self.result.strategies(flops[0].text, spr), node)
        found = [self._row(flop, told[flop.text], spr, node, decision) for flop in flops]
        total = sum(weight for weight, _ in found)
        return FlopReport(
            line=betting.line(node),
            player=PLAYER_NAMES[betting.tree.player_at(node)],
            actions=betting.choices(node),
            unit=UNIT,
            rows=[
                row.model_copy(update={"weight": weight / total if total > 0 else 0.0})
                for weight, row in found
            ],
        )

    def _row(
        self,
        flop: Flop,
        told: Mapping[str, Any],
        spr: float,
        node: int,
        decision: ClassDecision | None,
    ) -> tuple[float, FlopRow]:
        """(how often play gets there, the row) of a flop; `decision`: by class."""
        evs: Pair = (told["ev_oop"], told["ev_ip"]) if node == 0 else (None, None)
        line = self._lines.line(spr, flop.text, node)
        if decision is not None:
            stored = self.result.strategies(flop.text, spr).stored[0]
            here = decision.on(flop, stored, np.ones((2, HAND_COUNT)))
            shares = number(here.equities[0]), number(here.equities[1])
            row = flop_row(flop, line, here.share, here.frequencies, evs, shares)
            met = here.pairs
        else:
            view, pairs = self._scenes.view(flop.text, spr).node(node, ""), hand_pairs(flop.cards)
            weights = weights_of(view, pairs.astype(np.float64))
            met = float(weights[view.player].sum())
            taken = replace(view, weights=weights).frequencies()
            row = flop_row(flop, line, met / float(pairs.sum()), taken, evs, (None, None))
        error = 100 * float(told["exploitability"])
        return flop.multiplicity * met, row.model_copy(update={"exploitability_pct": error})
