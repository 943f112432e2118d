"""The sessions of practice that pages play, and the results that are kept."""

import secrets
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from allstreets.betting import POT_KINDS, Street
from allstreets.cards import RANKS, parse_board, texture
from allstreets.explorer.folders import id_of
from allstreets.explorer.library import Library
from allstreets.explorer.models import study as messages
from allstreets.explorer.models.base import BusyError, MissingError, path_text
from allstreets.explorer.models.params import HexId, Playable, Played
from allstreets.explorer.models.place import Choice
from allstreets.explorer.views.nodes import choices_of, decision
from allstreets.solutions import Solution
from allstreets.study import (
    PAIRINGS,
    SUITS,
    Answer,
    Question,
    Results,
    Session,
    StoredAnswer,
    Wanted,
    anki_package,
    anki_problem,
    chosen,
    export_text,
    grouped,
    load_playable,
    parse_seat,
    practice_note,
    seen_pots,
    summarise,
)

MOST_SESSIONS = 8
TEXTURES = ("suits", "pairings", "high_cards")


@dataclass(eq=False)
class _Played:
    """A session of a page."""

    id: str
    solution: str
    session: Session
    lock: Lock = field(default_factory=Lock)
    verdict: messages.PracticeVerdict | None = None


class Practising:
    """Sessions by id; any number of threads may use it. A new session replaces the oldest."""

    def __init__(self, library: Library, file: Path) -> None:
        self._library, self._file = library, file
        self.kept = Practised(file)
        self._lock = Lock()
        self._played: OrderedDict[str, _Played] = OrderedDict()

    def topics(self, solution: Playable) -> messages.PracticeTopics:
        """The choices that a solution offers for practice."""
        opened = self._open(solution)
        kinds = set(seen_pots(opened).values())
        flops = bool(kinds) and len(opened.streets) > 1
        textures = (SUITS, PAIRINGS, tuple(RANKS[::-1])) if flops else ((), (), ())
        return messages.PracticeTopics.of(
            opened,
            pots=[kind for kind in POT_KINDS if flops and kind in kinds],
            **dict(zip(TEXTURES, textures, strict=True)),
            seats=opened.unit.seats,
            note=practice_note(opened),
        )

    def begin(self, form: messages.PracticeForm) -> messages.PracticeState:
        """Start a session; the first hand is dealt."""
        wanted = Wanted.parse(
            form.streets, form.pots, form.line, form.suits, form.pairings, form.high_cards
        )
        solution = self._open(form.solution)
        results = Results(self._file)
        session = Session(solution, parse_seat(form.seat), wanted, form.seed, results)
        played = _Played(secrets.token_hex(8), form.solution, session)
        session.deal()
        with self._lock:
            self._played[played.id] = played
            while len(self._played) > MOST_SESSIONS:
                self._played.popitem(last=False)
        return _state(played)

    def answer(self, session: HexId, form: messages.PracticeAnswerForm) -> messages.PracticeState:
        """Answer the current question."""
        played = self._require(session)
        with played.lock:
            own, hand = played.session, played.session.hand
            asked = None if hand is None else hand.question
            if hand is None or asked is None or form.question != len(own.answers):
                raise BusyError("this decision was made already")
            answer = own.answer(form.action)
            played.verdict = _verdict(asked, answer, form.question)
            return _state(played)

    def deal(self, session: HexId) -> messages.PracticeState:
        """Deal the next hand, when one is over."""
        played = self._require(session)
        with played.lock:
            hand = played.session.hand
            if hand is not None and hand.question is not None:
                raise BusyError("the hand is not over yet")
            played.session.deal()
            played.verdict = None
            return _state(played)

    def _open(self, solution: str) -> Solution:
        return load_playable(self._library.folder(solution))

    def _require(self, id: str) -> _Played:
        with self._lock:
            session = self._played.get(id)
        if session is None:
            raise MissingError("this practice session has ended: start another one")
        return session


def _state(played: _Played) -> messages.PracticeState:
    session, hand = played.session, played.session.hand
    assert hand is not None
    question, end = None, None
    if (asked := hand.question) is not None:
        actions = [
            {"word": choice.word, "label": label, "tone": choice.tone, "shade": choice.shade}
            for choice, label in zip(_choices(asked), asked.labels, strict=True)
        ]
        node, number = asked.node, len(session.answers)
        facts = {"line": node.line, "words": node.words, "street": node.street, "board": node.board}
        question = messages.PracticeQuestion.of(
            asked, number=number, hint=session.hint(), **facts, actions=actions
        )
    if hand.end is not None:
        end = messages.PracticeEnd.of(hand.end, draws=hand.draws)
    return messages.PracticeState.of(
        hand,
        session=played.id,
        solution=played.solution,
        name=session.solution.name,
        note=practice_note(session.solution),
        hand=session.hands,
        question=question,
        verdict=played.verdict,
        end=end,
        summary=session.summary(),
    )


def _choices(asked: Question) -> list[Choice]:
    """The actions of a question."""
    node = asked.node
    return choices_of(
        node.tree,
        node.index,
        asked.decision.unit.notation,
        lambda child: node.solution.line(replace(node.position, node=child)),
    )


def _verdict(asked: Question, answer: Answer, number: int) -> messages.PracticeVerdict:
    options = [
        messages.PracticeOption.of(option, label=label)
        for option, label in zip(answer.options, asked.labels, strict=False)
    ]
    shown = decision(asked.decision, _choices(asked))
    return messages.PracticeVerdict.of(answer, question=number, options=options, decision=shown)


class Practised:
    """A file of results; `solution` is the id of one solution, None: all of them."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def results(self, solution: Played = None) -> messages.PracticeResults:
        """The stored results, in figures."""
        kept = Results(self._file)
        folder = _folder(kept, solution)
        stored, played = kept.answers(folder), kept.solutions()
        own = [source for source in played if folder in (None, source.folder)]
        return messages.PracticeResults.of(
            file=path_text(kept.path),
            solutions=[
                messages.PracticeSource.of(
                    source, id=id_of(source.folder), folder=path_text(source.folder)
                )
                for source in played
            ],
            hands=sum(source.hands for source in own),
            waiting=sum(source.waiting for source in own),
            summary=summarise(entry.answer for entry in stored),
            days=_groups(stored, "day"),
            streets=_groups(stored, "street"),
            pots=_groups(stored, "pot"),
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
        """Delete all stored results."""
        Results(self._file).delete()


def _folder(kept: Results, solution: str | None) -> Path | None:
    """The folder of a solution that was played on, whether it is still there or not."""
    if solution is None:
        return None
    for source in kept.solutions():
        if id_of(source.folder) == solution:
            return source.folder
    raise MissingError("no hand was played on this solution, or its results were deleted")


def _anki_cards(stored: Iterable[StoredAnswer]) -> messages.PracticeCards:
    missed = chosen(stored, Wanted())
    flops = [texture(parse_board(answer.board)[:3]) for answer in missed if answer.board]

    def held(known: Iterable[str], names: Iterable[str]) -> list[str]:
        """The known names that come up, in the order of `known`."""
        present = set(names)
        return [name for name in known if name in present]

    return messages.PracticeCards.of(
        count=len(missed),
        problem=anki_problem(),
        streets=held((street.text for street in Street), (answer.street for answer in missed)),
        pots=held(POT_KINDS, (answer.pot_kind for answer in missed)),
        suits=held(SUITS, (flop.suits for flop in flops)),
        pairings=held(PAIRINGS, (flop.pairing for flop in flops)),
        high_cards=held(reversed(RANKS), (flop.high_card for flop in flops)),
    )


def _groups(stored: Sequence[StoredAnswer], by: str) -> list[messages.PracticeGroup]:
    groups = grouped(stored, by)
    return [messages.PracticeGroup.of(summary, name=name) for name, summary in groups]
