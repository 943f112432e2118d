"""Reports over boards by hands, which grow board by board: reading many takes a while at first.

What was begun is gone on with by whoever asks next, and what is complete is kept.
"""

from collections.abc import Callable, Iterator, Sequence

from allstreets.analysis import HAND_KEYS, BoardReport, Gathering, ReportRow
from allstreets.explorer.models.place import Choice
from allstreets.explorer.models.reports import BoardHand, BoardHands, BoardHandsPart
from allstreets.explorer.views.figures import number, of_both, over_hand_rows
from allstreets.explorer.views.nodes import PLAYER_NAMES
from allstreets.solutions import Boards

KEPT = 8  # reports


class _Growing:
    """A report that is being made."""

    def __init__(self, boards: Boards) -> None:
        self.boards, self.done = boards, 0
        self._gathered = Gathering(boards.line)
        self.report: BoardReport | None = None  # when it is complete

    def step(self) -> None:
        """Read one more board."""
        board = next(self.boards.decisions, None)
        if board is not None:
            self._gathered.add(board)
            self.done += 1
        if board is None or self.done == self.boards.count:
            self.report = self._gathered.report


class GrowingReports:
    """Reports by the line that they are of; one thread at a time may take a step."""

    def __init__(self, begin: Callable[[str], Boards]) -> None:
        self._begin = begin
        self._kept: dict[str, _Growing] = {}

    def steps(self, line: str) -> Iterator[_Growing]:
        """The report after each board that is still to be read."""
        while True:
            growing = self._kept.pop(line, None) or _Growing(self._begin(line))
            if growing.report is None:
                growing.step()  # if that fails, the next who asks begins anew
            self._kept[line] = growing  # the last to be given up
            while len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
            yield growing
            if growing.report is not None:
                return

    def report(self, line: str) -> BoardReport:
        """The whole report."""
        *_, last = self.steps(line)
        assert last.report is not None
        return last.report

    def parts(
        self, line: str, actions: Sequence[Choice], *, over_hand: bool
    ) -> Iterator[BoardHandsPart]:
        """A message for each step; the last one has the report."""
        for step in self.steps(line):
            report = None
            if step.report is not None:
                report = _message(step.report, actions, over_hand=over_hand)
            yield BoardHandsPart(done=step.done, boards=step.boards.count, report=report)


def _message(report: BoardReport, actions: Sequence[Choice], *, over_hand: bool) -> BoardHands:
    tables = [report.by(key) for key in HAND_KEYS]
    rows = [[_row(row) for row in table] for table in (*tables, [report.total])]
    if over_hand:
        rows = [over_hand_rows(table, report.paid) for table in rows]
    category, draw, hand, (total,) = rows
    return BoardHands(
        line=report.line,
        player=PLAYER_NAMES[report.player],
        actions=list(actions),
        unit=report.unit.name,
        boards=len(report.boards),
        category=category,
        draw=draw,
        hand=hand,
        total=total,
    )


def _row(row: ReportRow) -> BoardHand:
    return BoardHand(
        name=row.name,
        share=number(row.share),
        frequencies=[number(chance) for chance in row.frequencies],
        **of_both(row.evs, row.equities),
        eqr_oop=number(row.eqrs[0]),
        eqr_ip=number(row.eqrs[1]),
    )
