"""The same decision on every flop: a table of the flops, and a report by hands."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from allstreets.base import InputError
from allstreets.betting import Street
from allstreets.cards import Flop, hand_combos
from allstreets.engines import CardModel
from allstreets.explorer.models.reports import BoardHandsPart, FlopReport, FlopRow
from allstreets.explorer.views.betting import PLAYER_NAMES, Betting
from allstreets.explorer.views.board_hands import board_hands
from allstreets.explorer.views.class_rows import ClassDecision, RangeFigures, range_figures
from allstreets.explorer.views.figures import number, numbers
from allstreets.explorer.views.growing import Boards, GrowingReports
from allstreets.explorer.views.roots import Flops, SolvedFlop
from allstreets.explorer.views.whole_lines import WholeLines
from allstreets.solutions import Decision, OnBoard, is_reached, swept

CACHED = 8  # tables
ANY_FLOP = "*"


class TablesOverFlops:
    """Tables by decision. The first request reads every flop's file, which takes seconds."""

    def __init__(self, lines: WholeLines) -> None:
        self._lines = lines
        self._made = lru_cache(CACHED)(self._make)
        self._reports = GrowingReports(self._boards)

    def at(self, line: str) -> FlopReport:
        """The table of the decision that a line leads to, with "*" or any flop in it."""
        return self._made(*self._lines.read_decision(line))

    def hands(self, line: str) -> Iterator[BoardHandsPart]:
        """The decision of a line on all flops by hands."""
        root, node = self._lines.read_decision(line)
        actions = self._betting(root, node).choices(node)
        return board_hands(self._reports.steps((root, node)), actions)

    def _betting(self, root: int, node: int) -> Betting:
        betting = self._lines.after(root, ANY_FLOP)
        _require_quick(self._lines.flops(ANY_FLOP).cards, Street(int(betting.tree.street[node])))
        return betting

    def _boards(self, where: tuple[int, int]) -> Boards:
        (root, node), after = where, self._lines.flops(ANY_FLOP)
        flops = after.solved(root)
        return Boards(
            self._betting(root, node).line(node),
            len(flops),
            (OnBoard(one.weight, _decision(after, root, one.flop, node)) for one in flops),
        )

    def _make(self, root: int, node: int) -> FlopReport:
        after, betting = self._lines.flops(ANY_FLOP), self._betting(root, node)
        flops = after.solved(root)
        by_class = None
        if after.cards.plays_classes:
            by_class = ClassDecision(after.strategies(root, flops[0].flop), node)
        found = [_figures(after, root, one.flop, node, by_class) for one in flops]
        weights = np.array([one.weight for one in flops]) * [one.pairs for one in found]
        total = float(weights.sum())
        some = after.counted(after.view(root, flops[0].flop).node(node, ""))
        return FlopReport(
            line=betting.line(node),
            player=PLAYER_NAMES[betting.tree.player_at(node)],
            actions=betting.choices(node),
            unit=betting.notation.unit,
            pot=some.pot,
            paid={"oop": some.paid[0], "ip": some.paid[1]},
            rows=[
                self._row(root, node, *one)
                for one in zip(flops, found, (weights / (total or 1.0)).tolist(), strict=True)
            ],
        )

    def _row(
        self, root: int, node: int, solved: SolvedFlop, figures: RangeFigures, weight: float
    ) -> FlopRow:
        flop = solved.flop
        return FlopRow(
            line=self._lines.after(root, flop.text).line(node),
            weight=weight,
            share=figures.share,
            frequencies=numbers(figures.frequencies),
            ev_oop=number(figures.evs[0]),
            ev_ip=number(figures.evs[1]),
            equity_oop=number(figures.equities[0]),
            equity_ip=number(figures.equities[1]),
            flop=flop.text,
            suits=flop.texture.suits,
            pairing=flop.texture.pairing,
            connectedness=flop.texture.connectedness,
            high_card=flop.texture.high_card,
            exploitability_pct=solved.exploitability_pct,
        )


def _decision(after: Flops, root: int, flop: Flop, node: int) -> Decision:
    """The decision on a flop with all its EVs, by combo where a model has combos."""
    view = swept(after.view(root, flop), after.cards.plays_classes)
    if after.cards.plays_combos:
        return view.combo_node(node, "")
    return after.counted(view.node(node, ""))


def _figures(
    after: Flops, root: int, flop: Flop, node: int, by_class: ClassDecision | None
) -> RangeFigures:
    if by_class is not None:
        found = by_class.on(flop, after.strategies(root, flop).stored[0], after.reach(root))
    else:
        view = after.view(root, flop)
        # EVs that are stored with the strategies cost nothing.
        kept = node > 0 and view.evaluate is not None
        found = range_figures(after.counted(view.node(node, "")), evs=kept)
    combos = hand_combos(flop.cards)
    if node == 0 and is_reached((found.reach @ combos / combos.sum()).tolist()):
        found = replace(found, evs=after.first_evs(root, flop, found.reach, found.pairs))
    return found


def _require_quick(cards: CardModel, street: Street) -> None:
    """Refuse a table that would take hours: buckets of later streets are computed flop by flop.

    Where a turn is a real card, there is none that all flops share.
    """
    if (cards.kind == "buckets" or cards.stores_cards) and street > Street.FLOP:
        raise InputError(
            f"with {cards.kind} there are tables of decisions on the flop only, not on the "
            f"{street.text}: look at single flops"
        )
