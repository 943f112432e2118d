"""A decision as messages, in figures of whole ranges: grids, actions, equity curves."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from allstreets.base import Floats
from allstreets.betting import Player, Street
from allstreets.explorer.models.base import Numbers
from allstreets.explorer.models.place import (
    ActionFigures,
    Choice,
    Grids,
    PlayerGrid,
    RangeSummary,
)
from allstreets.explorer.models.place import Decision as DecisionMessage
from allstreets.explorer.models.reports import (
    BoardHand,
    CardReport,
    CardRow,
    FlopReport,
    FlopRow,
)
from allstreets.explorer.views.nodes import PLAYER_NAMES
from allstreets.solutions import CHIPS, Decision, Node

RARE = "play hardly ever gets here: the numbers are rough"
FLOP_EQUITY = "turn and river are averaged over: equity is that of the flop"
NO_EQUITY = "hands of a bucket play alike: their equity is not known here"
BUCKET_EVS = (
    "EVs of actions do not quite add up to the EV of the range: buckets meet without regard to the "
    "cards they hold, while frequencies are counted over real pairs of hands; and a hand lies in "
    "several buckets: the EV of its action is that of taking it in all of them"
)
BEHIND = (
    "allstreets report FOLDER --line … --behind solves what would follow by itself, as if the "
    "whole range came here"
)
CURVE_STEPS = 199
"""Of a curve at most: with two points each and none lost, some 400 points."""

Points = list[tuple[float, float]]
Row = TypeVar("Row", CardRow, FlopRow, BoardHand)
Report = TypeVar("Report", CardReport, FlopReport)


def numbers(values: Floats) -> Numbers:
    """A list with None instead of what does not exist."""
    return [value if value == value else None for value in values.tolist()]


def number(value: float) -> float | None:
    """A number, or None where it does not exist."""
    return float(value) if np.isfinite(value) else None


def notes(node: Node, shown: Decision) -> list[str]:
    """Notes that a reader needs to read the numbers of a decision correctly."""
    if node.unit == CHIPS:  # a spot
        return [] if shown.reached else [BEHIND]
    notes = [RARE] if shown.is_rare and not node.source else []
    if not node.board or shown.by_combo or not shown.reached:
        return notes
    if not any(np.isfinite(shares).any() for shares in shown.equities):
        return [*notes, NO_EQUITY, BUCKET_EVS]
    return [*notes, FLOP_EQUITY] if node.street > Street.FLOP else notes


def grids(shown: Decision) -> Grids:
    """Both players' hands."""
    oop, ip = _grid(shown, Player.OOP), _grid(shown, Player.IP)
    return Grids(oop=oop, ip=ip, not_reached=shown.why_not() or None)


def _grid(shown: Decision, player: Player) -> PlayerGrid:
    evs = shown.cells(shown.evs(player), player, evs=True)
    equity = shown.cells(shown.equity(player), player)
    return PlayerGrid(
        combos=shown.class_counts().tolist(),
        reach=shown.reach_cells(player).tolist(),
        ev=numbers(evs),
        equity=numbers(equity),
        eqr=numbers(shown.eqr(player, evs, equity)),
        summary=_summary(shown, player),
    )


def _summary(shown: Decision, player: Player) -> RangeSummary:
    """A player's whole range."""
    equity, ev = shown.mean(shown.equity(player), player), shown.ev(player)
    eqr = shown.eqr(player, np.array([ev]), np.array([equity]))
    return RangeSummary(
        combos=shown.hands[player].size,
        ev=number(ev),
        equity=number(equity),
        eqr=number(eqr[0]),
    )


def decision(
    shown: Decision, choices: Sequence[Choice], notes: Sequence[str] = ()
) -> DecisionMessage:
    """Everything about a decision."""
    return DecisionMessage(
        player=PLAYER_NAMES[shown.player],
        seat=shown.seat,
        to_call=shown.to_call,
        pot_odds=shown.to_call / (shown.pot + shown.to_call) if shown.to_call > 0 else None,
        share=shown.share,
        actions=_actions(shown, choices),
        locked=shown.locked_cells().tolist(),
        grids=grids(shown),
        notes=list(notes),
    )


def _actions(shown: Decision, choices: Sequence[Choice]) -> list[ActionFigures]:
    taken, evs, whole = shown.taken, shown.taken_evs(), shown.range_evs()
    return [
        ActionFigures(
            **{**dict(choice), "frequency": number(taken[index])},
            ev=number(evs[index]),
            ev_range=number(whole[index]),
            known=bool(shown.known_actions[index]),
            combos=float((shown.reach * np.nan_to_num(shown.strategy[index])) @ shown.own.counts),
            chances=numbers(shown.cells(shown.strategy[index])),
            evs=numbers(shown.cells(shown.action_evs[index], evs=True)),
        )
        for index, choice in enumerate(choices)
    ]


def of_both(evs: Sequence[float] | Floats, equities: Sequence[float] | Floats) -> dict[str, Any]:
    """Figures of both ranges as keys of a row."""
    return {
        "ev_oop": number(evs[0]),
        "ev_ip": number(evs[1]),
        "equity_oop": number(equities[0]),
        "equity_ip": number(equities[1]),
    }


def over_hand_rows(rows: Sequence[Row], paid: tuple[float, float]) -> list[Row]:
    """Rows with results of the whole hand instead of EVs from there on."""
    return [
        row.model_copy(
            update={
                "ev_oop": None if row.ev_oop is None else row.ev_oop - paid[0],
                "ev_ip": None if row.ev_ip is None else row.ev_ip - paid[1],
            }
        )
        for row in rows
    ]


def counted(report: Report, *, over_hand: bool) -> Report:
    """A report whose EVs count from there on, or `over_hand`; `paid` is the difference."""
    if not over_hand:
        return report.model_copy(update={"paid": {"oop": 0.0, "ip": 0.0}})
    paid = report.paid["oop"], report.paid["ip"]
    return report.model_copy(update={"rows": over_hand_rows(list(report.rows), paid)})


def equity_curve(shown: Decision, player: Player) -> Points:
    """A range sorted by equity, a step curve from x = 0 to x = 1; its area is the range's equity.

    Hands that lie within the same 199th of the range become one step at their mean.
    """
    weights, equity = shown.hands[player].weights, shown.equity(player)
    live = (weights > 0) & np.isfinite(equity)
    if not live.any():
        return []
    order = np.argsort(equity[live], kind="stable")
    heights, widths = equity[live][order], weights[live][order]
    widths = widths / widths.sum()
    if len(heights) > CURVE_STEPS:
        heights, widths = _gathered(heights, widths)
    ends = np.concatenate([[0.0], np.cumsum(widths)])
    ends[-1] = 1.0
    steps = zip(heights.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return [point for height, start, stop in steps for point in ((start, height), (stop, height))]


def _gathered(heights: Floats, widths: Floats) -> tuple[Floats, Floats]:
    middles = np.cumsum(widths) - widths / 2
    steps = np.minimum((middles * CURVE_STEPS).astype(np.int64), CURVE_STEPS - 1)
    totals = np.bincount(steps, widths, minlength=CURVE_STEPS).astype(np.float64)
    sums = np.bincount(steps, widths * heights, minlength=CURVE_STEPS)
    full = totals > 0
    return sums[full] / totals[full], totals[full]
