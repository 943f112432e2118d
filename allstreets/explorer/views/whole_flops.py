"""The table over flops of a whole game: the same decision on every one of them."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from allstreets.base import InputError
from allstreets.betting import CHIPS_PER_BB, Player, Street
from allstreets.cards import Flop, hand_combos
from allstreets.explorer.models.base import Number
from allstreets.explorer.models.reports import FlopReport, FlopRow
from allstreets.explorer.views.betting import PLAYER_NAMES
from allstreets.explorer.views.class_rows import ClassDecision
from allstreets.explorer.views.figures import number
from allstreets.explorer.views.scene import Floats, quotient
from allstreets.explorer.views.whole_lines import UNIT, WholeLines
from allstreets.solvers.reached import is_reached

KEPT = 8  # tables
ANY_FLOP = "*"

Pair = tuple[float | None, float | None]
MakeRow = Callable[[int, int, int, int], tuple[float, FlopRow]]


class FlopTables:
    """Tables by decision. The first look at one reads every flop's file, which takes seconds."""

    def __init__(self, lines: WholeLines) -> None:
        self._lines = lines
        self._made = lru_cache(KEPT)(self._make)

    def at(self, line: str) -> FlopReport:
        """The table of the decision that a line leads to, with "*" or any flop in it."""
        return self._made(*self._lines.read_decision(line))

    def _make(self, before: int, pot: int, node: int) -> FlopReport:
        whole = self._lines.whole
        assert whole is not None
        tree = whole.pot(pot).tree
        require_quick(whole.cards.kind == "buckets", int(tree.street[node]))
        flops, told = whole.game.flops, whole.source.rows
        row = self._class_rows(before, pot, node) if whole.cards.kind == "classes" else self._row
        found = [row(place, before, pot, node) for place in range(len(flops.flops))]
        weights = flops.weights * np.array([weight for weight, _ in found])
        total = float(weights.sum())
        betting = self._lines.after(before, pot, ANY_FLOP)
        return FlopReport(
            line=betting.line(node),
            player=PLAYER_NAMES[tree.player_at(node)],
            actions=betting.choices(node),
            unit=UNIT,
            rows=[
                row.model_copy(
                    update={
                        "weight": float(weight) / total if total > 0 else 0.0,
                        "exploitability_pct": known["exploitability_pct"],
                    }
                )
                for (_, row), weight, known in zip(found, weights, told, strict=True)
            ],
        )

    def _class_rows(self, before: int, pot: int, node: int) -> MakeRow:
        """Makes rows of the model `classes`."""
        whole = self._lines.whole
        assert whole is not None
        decision = ClassDecision(whole.flop_view(0, pot).kept, node)
        start = whole.before.reach[before]

        def row(place: int, before: int, pot: int, node: int) -> tuple[float, FlopRow]:
            flop, arrays = whole.game.flops.flops[place], whole.source.arrays(place)
            here = decision.on(flop, arrays[f"strategy.{pot}.0"], start)
            evs: Pair = (None, None)
            combos = hand_combos(flop.cards)
            if node == 0 and is_reached(here.reach @ combos / combos.sum()):
                values = arrays["values"][:, pot].astype(np.float64)
                evs = _root_evs(here.reach, values, np.full(2, here.pairs))
            line = self._lines.pot_line(before, pot, flop.text)(node)
            shares = number(here.equities[0]), number(here.equities[1])
            return here.pairs, flop_row(flop, line, here.share, here.frequencies, evs, shares)

        return row

    def _row(self, place: int, before: int, pot: int, node: int) -> tuple[float, FlopRow]:
        """(pairs of combos that get there, the row) of a flop, whatever the model."""
        whole = self._lines.whole
        assert whole is not None
        view = whole.flop_view(place, pot)
        here, flop = view.node(node, ""), view.flop
        evs: Pair = (None, None)
        if node == 0 and here.reached:
            values = whole.source.arrays(place)["values"][:, pot].astype(np.float64)
            evs = _root_evs(here.reach, values, here.weights.sum(axis=1))
        elif view.evaluate is not None:  # kept with the strategies, so that it costs nothing
            evs = number(here.ev(Player.OOP)), number(here.ev(Player.IP))
        line = self._lines.pot_line(before, pot, flop.text)(node)
        row = flop_row(flop, line, here.share, here.frequencies(), evs, (None, None))
        return float(here.weights[here.player].sum()), row


def require_quick(buckets: bool, street: int) -> None:
    """Refuse a table that would take hours: buckets of later streets are found flop by flop."""
    if buckets and street > Street.FLOP:
        raise InputError(
            f"with buckets there are tables of decisions on the flop only, not on the "
            f"{Street(street).text}: look at single flops"
        )


def _root_evs(reach: Floats, values: Floats, pairs: Floats) -> Pair:
    """EVs in bb where a flop is seen; `values` [2, 169] are the totals that are kept of it."""
    oop, ip = quotient((reach * values).sum(axis=1), pairs * CHIPS_PER_BB).tolist()
    return number(oop), number(ip)


def flop_row(
    flop: Flop,
    line: str,
    share: float | None,
    frequencies: Floats | Sequence[Number],
    evs: Pair,
    equities: Pair,
) -> FlopRow:
    """A row without its weight."""
    return FlopRow(
        line=line,
        weight=0.0,
        share=share,
        frequencies=[number(chance) for chance in frequencies],
        ev_oop=evs[0],
        ev_ip=evs[1],
        equity_oop=equities[0],
        equity_ip=equities[1],
        flop=flop.text,
        suits=flop.texture.suits,
        pairing=flop.texture.pairing,
        connectedness=flop.texture.connectedness,
        high_card=flop.texture.high_card,
    )
