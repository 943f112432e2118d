"""What was practised: the file of results in figures, as tables, and as cards for Anki."""

from collections.abc import Iterable
from pathlib import Path

from allstreets.betting import POT_KINDS, Street
from allstreets.cards import RANKS, parse_board, texture
from allstreets.explorer.errors import MissingError
from allstreets.explorer.folders import id_of
from allstreets.explorer.models.base import path_text
from allstreets.explorer.models.practice import (
    PracticeCards,
    PracticeGroup,
    PracticeLeak,
    PracticeMiss,
    PracticeResults,
    PracticeSource,
    PracticeSummary,
)
from allstreets.explorer.replay import card_list
from allstreets.explorer.views.nodes import street_name
from allstreets.study import (
    PAIRINGS,
    SUITS,
    Results,
    StoredAnswer,
    Summary,
    Wanted,
    anki_package,
    anki_problem,
    chosen,
    export_text,
    grouped,
    summarise,
)


class Practised:
    """A file of results; `solution` is the id of the one that is asked for, None: all of them."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def results(self, solution: str | None = None) -> PracticeResults:
        """What was kept, in figures."""
        kept = Results(self._file)
        folder = _folder(kept, solution)
        stored, played = kept.answers(folder), kept.solutions()
        own = [one for one in played if folder in (None, one.folder)]
        return PracticeResults(
            file=path_text(kept.path),
            solutions=[
                PracticeSource(
                    id=id_of(one.folder),
                    name=one.name,
                    folder=path_text(one.folder),
                    hands=one.hands,
                    waiting=one.waiting,
                )
                for one in played
            ],
            hands=sum(one.hands for one in own),
            waiting=sum(one.waiting for one in own),
            summary=summary_message(summarise(one.answer for one in stored)),
            days=_groups(grouped(stored, "day")),
            streets=_groups(grouped(stored, "street")),
            pots=_groups(grouped(stored, "pot")),
            cards=_anki_cards(stored),
        )

    def table(self, form: str, solution: str | None = None) -> str:
        """All decisions as "csv" or "json"."""
        kept = Results(self._file)
        return export_text(kept.answers(_folder(kept, solution)), form)

    def anki(self, wanted: Wanted, solution: str | None = None) -> bytes:
        """The decisions that were missed, as a file for Anki."""
        kept = Results(self._file)
        return anki_package(chosen(kept.answers(_folder(kept, solution)), wanted))

    def delete(self) -> None:
        """Delete everything that was kept."""
        Results(self._file).delete()


def _folder(kept: Results, solution: str | None) -> Path | None:
    """The folder of a solution that was played on, whether it is still there or not."""
    if solution is None:
        return None
    for one in kept.solutions():
        if id_of(one.folder) == solution:
            return one.folder
    raise MissingError("no hand was played on this solution, or its results were deleted")


def _anki_cards(stored: Iterable[StoredAnswer]) -> PracticeCards:
    missed = chosen(stored, Wanted())
    streets, pots = {one.street for one in missed}, {one.pot_kind for one in missed}
    flops = [texture(parse_board(one.board)[:3]) for one in missed if one.board]
    suits, pairings = {flop.suits for flop in flops}, {flop.pairing for flop in flops}
    high = {flop.high_card for flop in flops}
    return PracticeCards(
        count=len(missed),
        problem=anki_problem(),
        streets=[street_name(street) for street in Street if street.text in streets],
        pots=[kind for kind in POT_KINDS if kind in pots],
        suits=[one for one in SUITS if one in suits],
        pairings=[one for one in PAIRINGS if one in pairings],
        high_cards=[one for one in reversed(RANKS) if one in high],
    )


def summary_message(summary: Summary) -> PracticeSummary:
    """Decisions in figures, as they are sent."""
    return PracticeSummary(
        decisions=summary.decisions,
        judged=summary.graded,
        right=summary.right,
        score=summary.score,
        loss=summary.loss_bb,
        loss_per_100=summary.loss_per_100,
        leaks=[
            PracticeLeak(text=leak.text, times=leak.times, loss=leak.loss_bb)
            for leak in summary.leaks
        ],
        worst=[
            PracticeMiss(
                line=one.line,
                cards=card_list(one.cards),
                taken=one.taken,
                best=None if one.best is None else one.best.action,
                loss=one.loss_bb or 0.0,
            )
            for one in summary.worst
        ],
    )


def _groups(rows: list[tuple[str, Summary]]) -> list[PracticeGroup]:
    return [
        PracticeGroup(
            name=name, decisions=row.decisions, score=row.score, loss_per_100=row.loss_per_100
        )
        for name, row in rows
    ]
