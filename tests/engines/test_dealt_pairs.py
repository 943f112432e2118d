"""Pairs of combos on flops, against the matrix of every two classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.cards import (
    CARD_PERMUTATIONS,
    HAND_COUNT,
    all_flops,
    hand_combos,
    hand_pairs,
    preflop_equity,
)
from allstreets.engines.card_model import DealtPairs

boards = st.lists(st.integers(0, 51), min_size=3, max_size=3, unique=True).map(tuple)


@settings(max_examples=30)
@given(st.lists(boards, min_size=1, max_size=4), st.integers(0, 2**31), st.booleans())
def test_sums_and_reach_are_those_of_the_matrices(
    flops: list[tuple[int, ...]], seed: int, removal: bool
) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.random(len(flops)) * 30
    own, other = generator.random((2, HAND_COUNT)) * (generator.random((2, HAND_COUNT)) < 0.5)
    matrices = [
        hand_pairs(flop) if removal else np.outer(hand_combos(flop), hand_combos(flop))
        for flop in flops
    ]
    dealt = DealtPairs.of(flops, removal=removal)
    assert dealt.flops == len(flops)
    expected = sum(w * matrix for w, matrix in zip(weights, matrices, strict=True))
    np.testing.assert_allclose(dealt.sum(weights), expected, atol=1e-9)
    reached = [own @ matrix @ other for matrix in matrices]
    np.testing.assert_allclose(dealt.reached(own, other), reached, rtol=1e-9, atol=1e-9)
    for flop, matrix in enumerate(matrices):
        np.testing.assert_allclose(dealt.met(flop, other), matrix @ other, rtol=1e-9, atol=1e-9)


def test_one_hand_against_one_hand() -> None:
    """Aces against aces on a flop with an ace: three combos, no two of which fit together."""
    flop = next(flop for flop in all_flops() if flop.text == "AsKh7d")
    aces = np.zeros(HAND_COUNT)
    aces[0] = 1
    assert DealtPairs.of([flop.cards]).reached(aces, aces)[0] == 0
    assert DealtPairs.of([flop.cards], removal=False).reached(aces, aces)[0] == 9


def test_all_flops_deal_what_is_dealt_before_them() -> None:
    flops = all_flops()
    dealt = DealtPairs.of([flop.cards for flop in flops])
    total = dealt.sum(np.array([float(flop.multiplicity) for flop in flops]))
    np.testing.assert_allclose(total, 17_296 * preflop_equity().pairs, rtol=1e-12)


@pytest.mark.parametrize("permutation", [3, 14, 22])
def test_the_names_of_suits_do_not_matter(permutation: int) -> None:
    flop = (3, 18, 50)
    renamed = tuple(CARD_PERMUTATIONS[permutation][list(flop)].tolist())
    first, second = DealtPairs.of([flop]), DealtPairs.of([renamed])
    np.testing.assert_array_equal(first.sum(np.ones(1)), second.sum(np.ones(1)))
