"""The other boards of the set that a spot is one of."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from allstreets.analysis import BoardFigures
from allstreets.base import InputError
from allstreets.cards import cards_text
from allstreets.explorer.folders import id_of
from allstreets.explorer.models.place import Choice
from allstreets.explorer.models.reports import BoardHandsPart, FlopReport, FlopRow
from allstreets.explorer.views.betting import PLAYER_NAMES
from allstreets.explorer.views.board_hands import board_hands
from allstreets.explorer.views.figures import number
from allstreets.explorer.views.growing import Boards, GrowingReports
from allstreets.storage import Entry, SpotSet, folder_kind, load_spots


class BoardsBeside:
    """The boards on which a spot of a set is solved."""

    def __init__(self, spots: SpotSet, name: str) -> None:
        self._spots, self._name = spots, name
        self._entries = [entry for entry in spots.entries if entry.name == name]
        self._reports = GrowingReports(self._boards)

    def _boards(self, line: str) -> Boards:
        return Boards(line, len(self._entries), self._spots.decisions(line, self._name))

    def hands(self, line: str, actions: Sequence[Choice]) -> Iterator[BoardHandsPart]:
        """The decision of a line on all boards by hands."""
        return board_hands(self._reports.steps(line), actions)

    def at(self, line: str, actions: Sequence[Choice]) -> FlopReport:
        """The decision of a line on every board."""
        report = self._reports.report(line)
        total = sum(one.mass for one in report.boards) or 1.0
        return FlopReport(
            line=line,
            player=PLAYER_NAMES[report.player],
            actions=list(actions),
            unit=report.unit.name,
            pot=report.pot,
            paid={"oop": report.paid[0], "ip": report.paid[1]},
            rows=[
                self._row(entry, one, one.mass / total)
                for entry, one in zip(self._entries, report.boards, strict=True)
            ],
        )

    def _row(self, entry: Entry, one: BoardFigures, weight: float) -> FlopRow:
        texture = one.texture
        return FlopRow(
            line=one.line,
            weight=weight,
            frequencies=[number(chance) for chance in one.frequencies],
            ev_oop=number(one.evs[0]),
            ev_ip=number(one.evs[1]),
            equity_oop=number(one.equities[0]),
            equity_ip=number(one.equities[1]),
            flop=cards_text(one.board),
            suits=texture.suits,
            pairing=texture.pairing,
            connectedness=texture.connectedness,
            high_card=texture.high_card,
            exploitability_pct=(entry.row or {}).get("exploitability_pct"),
            solution=id_of(self._spots.folder / entry.folder),
        )


def boards_beside(folder: Path) -> BoardsBeside | None:
    """The boards beside a spot; None: it is no part of a set, or alone there."""
    with suppress(InputError):
        if folder_kind(folder.parent) == "spots":
            spots = load_spots(folder.parent)
            own = [entry for entry in spots.entries if entry.folder == folder.name]
            if own and sum(entry.name == own[0].name for entry in spots.entries) > 1:
                return BoardsBeside(spots, own[0].name)
    return None
