"""Asking everybody at once: answers, errors, and how long to wait for them."""

import pytest
from builders.crews import CrewHere

from allstreets.cluster import WorkerLost
from allstreets.cluster.crew import FIRST_SECONDS, LEAST_SECONDS, PATIENCE, Patience


def test_patience_follows_what_has_been_answered() -> None:
    patience = Patience()
    assert patience.limit("step") == FIRST_SECONDS
    patience.note("step", 0.2)
    assert patience.limit("step") == LEAST_SECONDS
    patience.note("step", 50.0)
    patience.note("step", 1.0)
    assert patience.limit("step") == PATIENCE * 50.0
    assert patience.limit("own") == FIRST_SECONDS


def test_errors_of_workers_say_where(tmp_path_factory: pytest.TempPathFactory) -> None:
    crew = CrewHere(2)
    here = tmp_path_factory.getbasetemp()
    assert [answer.value for answer in crew.ask("sees", here)] == [True, True]
    with pytest.raises(StopIteration) as error:
        crew.ask_each("average", {1: (0, 0, 0)})
    assert error.value.__notes__ == ["on 10.0.0.1"]


def test_those_who_are_lost_are_named_when_all_have_answered() -> None:
    lost = WorkerLost([0], "")
    crew = CrewHere(3, lambda answers: lost if answers in (1, 3) else None, spare=1)
    with pytest.raises(WorkerLost) as error:
        crew.ask("shared_state")
    assert error.value.workers == (0, 2)
    assert crew.answers == 3
    assert crew.replace(error.value.workers) == [1, None]
    assert len(crew.ask("shared_state")) == 2
