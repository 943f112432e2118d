"""Practice as the page asks for it."""

from pathlib import Path

import pytest
from builders.explorer_solutions import folder, view

from allstreets.base import InputError
from allstreets.explorer.errors import BusyError, MissingError
from allstreets.explorer.library import Library
from allstreets.explorer.models.place import Decision
from allstreets.explorer.models.practice import PracticeAnswerForm, PracticeForm, PracticeState
from allstreets.explorer.practising import MOST_SESSIONS, Practising
from allstreets.practice import Results


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "practice.sqlite"


@pytest.fixture
def practising(file: Path) -> Practising:
    return Practising(Library([folder("turn"), folder("classes")]), file)


def begin(practising: Practising, name: str, **form: object) -> PracticeState:
    solution = Library([folder(name)]).id_of(folder(name))
    given = {"solution": solution, "seed": 1, **form}
    return practising.begin(PracticeForm.model_validate(given))


@pytest.mark.parametrize("name", ["turn", "classes"])
def test_what_is_shown_is_what_the_explorer_shows(
    practising: Practising, file: Path, name: str
) -> None:
    """The whole range after a decision, place by place, and its own hand."""
    state, made = begin(practising, name), 0
    while made < 6:
        asked = state.question
        if asked is None:
            assert state.end is not None
            state = practising.deal(state.session)
            continue
        action = made % len(asked.actions)
        form = PracticeAnswerForm(question=asked.number, action=action)
        state, made = practising.answer(state.session, form), made + 1
        verdict, there = state.verdict, view(name).place(asked.line)
        assert verdict is not None
        assert isinstance(there.here, Decision)
        assert verdict.decision.actions == there.here.actions
        assert verdict.decision.grids == there.here.grids
        assert verdict.board == there.board
        stored = Results(file).answers()
        assert len(stored) == made == state.summary.decisions
        assert stored[-1].answer.loss_bb == verdict.loss
        assert (state.end is None) == (state.question is not None)
    kept = practising.results()
    assert kept.summary == state.summary
    assert len(kept.days) == 1


def test_a_decision_is_made_once(practising: Practising) -> None:
    state = begin(practising, "turn")
    with pytest.raises(BusyError, match="not over yet"):
        practising.deal(state.session)
    form = PracticeAnswerForm(question=0, action=0)
    practising.answer(state.session, form)
    with pytest.raises(BusyError, match="made already"):
        practising.answer(state.session, form)


def test_topics(practising: Practising) -> None:
    game = practising.topics(begin(practising, "classes").solution)
    assert game.streets == ["preflop", "flop", "turn", "river"]
    assert "raised" in game.pots
    assert game.seats == {"oop": "BB", "ip": "SB"}
    assert "does not see" in game.note
    turn = practising.topics(begin(practising, "turn").solution)
    assert (turn.streets, turn.pots, turn.suits) == (["turn", "river"], [], [])


def test_errors(practising: Practising) -> None:
    with pytest.raises(MissingError):
        practising.begin(PracticeForm(solution="0"))
    with pytest.raises(InputError, match="textures"):
        begin(practising, "turn", suits=["monotone"])
    first = begin(practising, "turn")
    for _ in range(MOST_SESSIONS):
        begin(practising, "turn")
    with pytest.raises(MissingError, match="has ended"):
        practising.deal(first.session)
