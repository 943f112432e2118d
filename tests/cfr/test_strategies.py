"""Strategies as sums, probabilities and tables."""

import math

import numpy as np
import pytest
from reference.games import random_table

from allstreets.cfr import Kuhn, compile_game
from allstreets.cfr.strategies import as_table, entropy, from_table, largest_by_set, normalised

FLAT = compile_game(Kuhn())


def test_normalised_shares_and_uniform_where_nothing_was_added() -> None:
    sums = np.zeros(FLAT.slots)
    sums[2:4] = 3, 1
    probabilities = normalised(FLAT, sums)
    assert list(probabilities[:6]) == [0.5, 0.5, 0.75, 0.25, 0.5, 0.5]
    assert list(sums[:2]) == [0, 0]


def test_tables_read_back() -> None:
    table = random_table(Kuhn(), 3)
    assert as_table(FLAT, from_table(FLAT, table)) == table


def test_entropy() -> None:
    uniform = np.full(FLAT.slots, 0.5)
    assert entropy(FLAT, uniform) == pytest.approx(1)
    pure = np.tile([0.0, 1.0], 12)
    assert entropy(FLAT, pure) == 0
    one = pure.copy()
    one[:2] = 0.25, 0.75
    in_bits = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert entropy(FLAT, one) == pytest.approx(in_bits / 12)


def test_largest_by_set() -> None:
    assert list(largest_by_set(FLAT, np.arange(24.0))) == list(range(1, 24, 2))
