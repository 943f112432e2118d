"""A report over boards by hands, as messages."""

from collections.abc import Iterator, Sequence

from allstreets.analysis import HAND_KEYS, BoardReport, ReportRow
from allstreets.explorer.models.place import Choice
from allstreets.explorer.models.reports import BoardHand, BoardHands, BoardHandsPart
from allstreets.explorer.views.betting import PLAYER_NAMES
from allstreets.explorer.views.figures import number
from allstreets.explorer.views.growing import Step


def board_hands(steps: Iterator[Step], actions: Sequence[Choice]) -> Iterator[BoardHandsPart]:
    """A part for each step; the last one has the report."""
    for step in steps:
        report = None if step.report is None else _message(step.report, actions)
        yield BoardHandsPart(done=step.done, boards=step.boards, report=report)


def _message(report: BoardReport, actions: Sequence[Choice]) -> BoardHands:
    category, draw, hand = ([_row(row) for row in report.by(key)] for key in HAND_KEYS)
    return BoardHands(
        line=report.line,
        player=PLAYER_NAMES[report.player],
        actions=list(actions),
        unit=report.unit.name,
        boards=len(report.boards),
        category=category,
        draw=draw,
        hand=hand,
        total=_row(report.total),
    )


def _row(row: ReportRow) -> BoardHand:
    return BoardHand(
        name=row.name,
        share=number(row.share),
        frequencies=[number(chance) for chance in row.frequencies],
        ev_oop=number(row.evs[0]),
        ev_ip=number(row.evs[1]),
        equity_oop=number(row.equities[0]),
        equity_ip=number(row.equities[1]),
        eqr_oop=number(row.eqrs[0]),
        eqr_ip=number(row.eqrs[1]),
    )
