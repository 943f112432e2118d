"""Metrics keep their names apart."""

import numpy as np
import pytest

from allstreets.cfr.metrics import Metrics, avg_positive_regret, max_regret


def test_only_positive_regrets_are_summed() -> None:
    regrets = np.array([10.0, -50.0, 30.0])
    assert avg_positive_regret(regrets, 10) == pytest.approx(40 / 3 / 10)
    assert max_regret(regrets, 10) == 3


def test_untrained_and_empty_solvers_have_none() -> None:
    assert avg_positive_regret(np.array([5.0]), 0) == 0
    assert avg_positive_regret(np.zeros(0), 10) == 0
    assert max_regret(np.zeros(0), 10) == 0
    assert max_regret(np.array([-5.0]), 10) == 0


def test_what_is_not_known_is_none() -> None:
    assert Metrics() == Metrics(None, None, None, None, None)
