"""Strategies in whole numbers: what reads back, and how little is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.engines.quantised import ONE_BYTE, TWO_BYTES, Numbers, agree, decode, encode
from allstreets.engines.simd.quantise import round_shares
from allstreets.engines.simd.vectors import LANES

NUMBERS = st.sampled_from([ONE_BYTE, TWO_BYTES])


def sums_of(actions: int) -> st.SearchStrategy[list[list[float]]]:
    """Sums of a few hands, of any size, some of them of actions that are never played."""
    sums = st.just(0.0) | st.floats(2.0**-100, 2.0**100, width=32)
    return st.lists(st.lists(sums, min_size=actions, max_size=actions), min_size=1, max_size=5)


@given(st.integers(1, 6).flatmap(sums_of), NUMBERS)
def test_shares_come_back_within_half_a_step_of_the_largest(
    sums: list[list[float]], numbers: Numbers
) -> None:
    largest = np.iinfo(numbers).max
    stored = encode(np.array(sums).T, numbers)
    back = decode(stored)
    assert stored.dtype == numbers
    np.testing.assert_allclose(back.sum(axis=0), 1.0, rtol=1e-15)
    for hand, row in enumerate(sums):
        if not any(row):
            np.testing.assert_array_equal(back[:, hand], 1 / len(row))
            continue
        for action, chance in enumerate(row):
            share = chance / max(row)
            assert abs(stored[action, hand] - share * largest) <= 0.5
            assert bool(stored[action, hand]) or share * largest <= 0.5
            # An error of half a step in each, and the sum of them is divided by.
            error = len(row) / 2 / largest
            assert back[action, hand] == pytest.approx(chance / sum(row), abs=error)
    np.testing.assert_array_equal(encode(back, numbers), stored)


@pytest.mark.parametrize("numbers", [ONE_BYTE, TWO_BYTES])
@pytest.mark.parametrize("played", [1, 2, 3, 7])
def test_equal_chances_stay_equal(numbers: Numbers, played: int) -> None:
    """Half of 255 is no whole number; a share of the likeliest is."""
    chances = np.zeros((7, 1))
    chances[:played] = 1 / played
    np.testing.assert_array_equal(decode(encode(chances, numbers)), chances)


def test_older_bytes_are_255ths_of_a_probability() -> None:
    np.testing.assert_array_equal(
        decode(np.array([[51], [0], [204]], np.uint8)), [[0.2], [0], [0.8]]
    )
    np.testing.assert_array_equal(decode(np.array([[128], [128]], np.uint8)), [[0.5], [0.5]])
    np.testing.assert_array_equal(decode(np.zeros((4, 1), np.uint8)), np.full((4, 1), 0.25))


def test_five_per_cent_either_way() -> None:
    assert agree(1.04, 1.0)
    assert agree(0.96, 1.0)
    assert not agree(1.06, 1.0)
    assert not agree(0.94, 1.0)
    assert not agree(0.01, 0.0)


@pytest.mark.parametrize("numbers", [ONE_BYTE, TWO_BYTES])
def test_sums_are_rounded_in_place_as_they_are_encoded(numbers: Numbers) -> None:
    """Nodes of 2 and 3 actions, two blocks of hands each; what lies between is left alone."""
    generator, blocks = np.random.default_rng(1), 2
    actions, starts = np.array([3, 2]), np.array([0, 3 * blocks * LANES + 16])
    sums = generator.random(starts[1] + 2 * blocks * LANES).astype(np.float32) ** 8
    sums[generator.random(len(sums)) < 0.3] = 0.0
    rounded = sums.copy()
    round_shares(rounded, starts, actions, blocks, int(np.iinfo(numbers).max))
    between = slice(3 * blocks * LANES, starts[1])
    np.testing.assert_array_equal(rounded[between], sums[between])

    def by_action(numbers: NDArray[np.float32], start: int, count: int) -> Floats:
        block = numbers[start : start + count * blocks * LANES]
        turned = block.reshape(blocks, count, LANES).transpose(1, 0, 2)
        return turned.reshape(count, -1).astype(np.float64)

    for start, count in zip(starts.tolist(), actions.tolist(), strict=True):
        before, after = by_action(sums, start, count), by_action(rounded, start, count)
        known = before.max(axis=0) > 0
        assert 0 < (~known).sum() < len(known)
        np.testing.assert_array_equal(after[:, known], encode(before[:, known], numbers))
        assert not after[:, ~known].any()
