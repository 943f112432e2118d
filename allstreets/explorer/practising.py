"""The sessions of practice that pages play."""

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from allstreets.betting import POT_KINDS, Street
from allstreets.cards import RANKS, cards_text, parse_board, texture
from allstreets.explorer.folders import id_of
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError, MissingError, path_text
from allstreets.explorer.models.place import Choice, Decision
from allstreets.explorer.models.study import (
    PracticeAction,
    PracticeAnswerForm,
    PracticeCards,
    PracticeDraw,
    PracticeEnd,
    PracticeForm,
    PracticeGroup,
    PracticeLeak,
    PracticeMiss,
    PracticeOption,
    PracticeQuestion,
    PracticeResults,
    PracticeSource,
    PracticeState,
    PracticeSummary,
    PracticeTopics,
    PracticeVerdict,
)
from allstreets.explorer.reviews import card_list
from allstreets.explorer.views.figures import decision
from allstreets.explorer.views.nodes import PLAYER_NAMES, choices_of, street_name
from allstreets.solutions import Solution
from allstreets.study import (
    PAIRINGS,
    SUITS,
    Answer,
    Hand,
    Question,
    Results,
    Session,
    StoredAnswer,
    Summary,
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


@dataclass(eq=False)
class _Played:
    """A session of a page."""

    id: str
    solution: str
    session: Session
    lock: Lock = field(default_factory=Lock)
    verdict: PracticeVerdict | None = None


class Practising:
    """Sessions by id; any number of threads may use it. The oldest gives way to a new one."""

    def __init__(self, library: Library, file: Path) -> None:
        self._library, self._file = library, file
        self.kept = Practised(file)
        self._lock = Lock()
        self._played: OrderedDict[str, _Played] = OrderedDict()

    def topics(self, solution: str) -> PracticeTopics:
        """What a solution can be practised on."""
        found = self._open(solution)
        kinds = set(seen_pots(found).values())
        flops = bool(kinds) and len(found.streets) > 1
        oop, ip = found.unit.seats
        return PracticeTopics(
            streets=[street_name(street) for street in found.streets],
            pots=[kind for kind in POT_KINDS if kind in kinds] if flops else [],
            suits=list(SUITS) if flops else [],
            pairings=list(PAIRINGS) if flops else [],
            high_cards=list(reversed(RANKS)) if flops else [],
            seats={"oop": oop, "ip": ip},
            note=practice_note(found),
        )

    def begin(self, form: PracticeForm) -> PracticeState:
        """A new session, and its first hand."""
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

    def answer(self, id: str, form: PracticeAnswerForm) -> PracticeState:
        """Take an action; what it cost, and what follows."""
        played = self._require(id)
        with played.lock:
            session, hand = played.session, played.session.hand
            asked = None if hand is None else hand.question
            if hand is None or asked is None or form.question != len(session.answers):
                raise BusyError("this decision was made already")
            answer = session.answer(form.action)
            played.verdict = _verdict(asked, answer, form.question)
            return _state(played)

    def deal(self, id: str) -> PracticeState:
        """The next hand."""
        played = self._require(id)
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
            found = self._played.get(id)
        if found is None:
            raise MissingError("this session of practice has ended: begin another one")
        return found


def _state(played: _Played) -> PracticeState:
    session, hand = played.session, played.session.hand
    assert hand is not None
    oop, ip = hand.seats
    return PracticeState(
        session=played.id,
        solution=played.solution,
        name=session.solution.name,
        note=practice_note(session.solution),
        seed=session.seed,
        hand=session.hands,
        player=PLAYER_NAMES[hand.player],
        seats={"oop": oop, "ip": ip},
        repeated=hand.repeated,
        question=_question(hand, len(session.answers)),
        verdict=played.verdict,
        end=_end(hand),
        summary=summary_message(session.summary()),
    )


def _question(hand: Hand, number: int) -> PracticeQuestion | None:
    asked = hand.question
    if asked is None:
        return None
    oop, ip = asked.stacks_bb
    return PracticeQuestion(
        number=number,
        line=asked.node.line,
        street=street_name(asked.node.street),
        board=card_list(cards_text(asked.node.board)),
        cards=card_list(cards_text(asked.cards)),
        pot=asked.pot_bb,
        to_call=asked.to_call_bb,
        stacks={"oop": oop, "ip": ip},
        actions=[
            PracticeAction(word=choice.word, label=label, tone=choice.tone)
            for choice, label in zip(_choices(asked), asked.labels, strict=True)
        ],
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


def _verdict(asked: Question, answer: Answer, number: int) -> PracticeVerdict:
    best = answer.best
    shown: Decision = decision(asked.decision, _choices(asked))
    return PracticeVerdict(
        question=number,
        line=answer.line,
        street=street_name(asked.node.street),
        board=card_list(answer.board),
        cards=card_list(answer.cards),
        taken=answer.taken,
        best=None if best is None else best.action,
        options=[
            PracticeOption(
                word=option.action, label=label, frequency=option.frequency, ev=option.ev_bb
            )
            for option, label in zip(answer.options, asked.labels, strict=False)
        ],
        loss=answer.loss_bb,
        missed=answer.missed,
        note=answer.note,
        decision=shown,
    )


def _end(hand: Hand) -> PracticeEnd | None:
    end = hand.end
    if end is None:
        return None
    return PracticeEnd(
        text=end.text,
        board=card_list(end.board),
        theirs=card_list(end.theirs),
        won=end.won_bb,
        draws=[
            PracticeDraw(
                seat=draw.seat,
                street=draw.street,
                action=draw.action,
                number=draw.number,
                mix=list(draw.mix),
            )
            for draw in hand.draws
        ],
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
