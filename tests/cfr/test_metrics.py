"""Metrics keep their names apart."""

import math

import numpy as np
import pytest

from allstreets.cfr.metrics import (
    Metrics,
    avg_positive_regret,
    largest_by_set,
    max_regret,
    strategy_entropy,
)

SLOT_START = np.arange(0, 25, 2, dtype=np.int32)  # twelve sets of two actions, as Kuhn poker has


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


def test_entropy() -> None:
    uniform = np.full(24, 0.5)
    assert strategy_entropy(uniform, SLOT_START) == pytest.approx(1)
    pure = np.tile([0.0, 1.0], 12)
    assert strategy_entropy(pure, SLOT_START) == 0
    mixed_once = pure.copy()
    mixed_once[:2] = 0.25, 0.75
    in_bits = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert strategy_entropy(mixed_once, SLOT_START) == pytest.approx(in_bits / 12)


def test_largest_by_set() -> None:
    assert list(largest_by_set(np.arange(24.0), SLOT_START)) == list(range(1, 24, 2))
