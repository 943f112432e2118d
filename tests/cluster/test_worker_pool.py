"""Asking all workers together: answers, errors, and timeouts."""

import pytest
from builders.worker_pools import PoolHere

from allstreets.cluster import WorkerLost
from allstreets.cluster.worker_pool import FIRST_SECONDS, LEAST_SECONDS, TIMEOUT_FACTOR, Timeouts


def test_patience_follows_what_has_been_answered() -> None:
    timeouts = Timeouts()
    assert timeouts.limit("step") == FIRST_SECONDS
    timeouts.note("step", 0.2)
    assert timeouts.limit("step") == LEAST_SECONDS
    timeouts.note("step", 50.0)
    timeouts.note("step", 1.0)
    assert timeouts.limit("step") == TIMEOUT_FACTOR * 50.0
    assert timeouts.limit("own") == FIRST_SECONDS


def test_errors_of_workers_say_where(tmp_path_factory: pytest.TempPathFactory) -> None:
    pool = PoolHere(2)
    here = tmp_path_factory.getbasetemp()
    assert [answer.value for answer in pool.ask("sees", here)] == [True, True]
    with pytest.raises(StopIteration) as error:
        pool.ask_each("average", {1: (0, 0, 0)})
    assert error.value.__notes__ == ["on 10.0.0.1"]


def test_those_who_are_lost_are_named_when_all_have_answered() -> None:
    lost = WorkerLost([0], "")
    pool = PoolHere(3, lambda answers: lost if answers in (1, 3) else None, spare=1)
    with pytest.raises(WorkerLost) as error:
        pool.ask("shared_state")
    assert error.value.workers == (0, 2)
    assert pool.answers == 3
    assert pool.replace(error.value.workers) == [1, None]
    assert len(pool.ask("shared_state")) == 2
