"""The sessions of practice that pages play."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from allstreets.betting import POT_KINDS
from allstreets.cards import RANKS, cards_text
from allstreets.explorer.errors import BusyError, MissingError
from allstreets.explorer.library import Library
from allstreets.explorer.models.place import Choice, Decision
from allstreets.explorer.models.practice import (
    PracticeAction,
    PracticeAnswerForm,
    PracticeDraw,
    PracticeEnd,
    PracticeForm,
    PracticeOption,
    PracticeQuestion,
    PracticeState,
    PracticeTopics,
    PracticeVerdict,
)
from allstreets.explorer.practised import Practised, summary_message
from allstreets.explorer.replay import card_list
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
    Wanted,
    load_playable,
    parse_seat,
    practice_note,
    seen_pots,
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
