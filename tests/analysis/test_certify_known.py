"""Numbers known of flops without playing them: against loops over pairs of combos."""

import numpy as np
import pytest

from allstreets.analysis.certificate_figures import known_numbers, known_totals
from allstreets.cards import (
    COMBO_MASKS,
    FLOP_COUNT,
    HAND_COUNT,
    HAND_OF_COMBO,
    all_flops,
    live_combos,
    matchups,
    parse_flop,
    preflop_equity,
)

FLOPS = [parse_flop(text).flop for text in ("9s7s2s", "KsKhKd", "AsTh4d")]


def reach() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.random.default_rng(3).random((2, 1, HAND_COUNT))


def test_pairs_and_margins() -> None:
    flop, given = FLOPS[0], reach()
    combos = np.flatnonzero(live_combos(flop.cards))
    counts = matchups(flop.cards, combos, combos)
    fits = (COMBO_MASKS[combos][:, None] & COMBO_MASKS[combos]) == 0
    net = np.where(fits, 2 * counts.equity - 1, 0.0)
    hands = HAND_OF_COMBO[combos]
    for player in (0, 1):
        opponent_reach = given[1 - player, 0][hands]
        met, won = (np.bincount(hands, each @ opponent_reach, HAND_COUNT) for each in (fits, net))
        found = known_numbers([flop], given, 2)[0, :, player, 0]
        np.testing.assert_allclose(found[0], met)
        np.testing.assert_allclose(found[1], won, rtol=1e-5, atol=1e-3)


def test_values_by_hand_classes_are_summed_as_flops_are_dealt() -> None:
    played = np.random.default_rng(4).random((FLOP_COUNT, 2, 1, HAND_COUNT))
    found = known_numbers(FLOPS, reach(), 3, played)
    for place, flop in enumerate(FLOPS):
        np.testing.assert_array_equal(found[place, 2], played[flop.number])
    # Each board is dealt as often as it has isomorphic forms, whatever hands are held.
    pairs = preflop_equity().pairs.astype(np.float64)
    wanted = np.zeros(reach().shape)
    boards = 0
    for flop in all_flops():
        wanted += flop.multiplicity * played[flop.number]
        boards += flop.multiplicity
    assert boards == 22_100
    # Of 22,100 boards 17,296 are left beside two hands that do not touch.
    totals = known_totals(pairs, reach(), 3, played)[2]
    np.testing.assert_allclose(totals, wanted / 17_296)


def test_sums_over_all_flops_are_those_before_the_flop() -> None:
    whole = preflop_equity()
    pairs = whole.pairs.astype(np.float64)
    totals = known_totals(pairs, reach(), 2)
    for player in (0, 1):
        opponent_reach = reach()[1 - player, 0]
        np.testing.assert_allclose(totals[0, player, 0], pairs @ opponent_reach)
        won = (pairs * (2 * whole.equity - 1)) @ opponent_reach
        np.testing.assert_allclose(totals[1, player, 0], won)
    # What one player wins the other loses.
    results = [float(reach()[player, 0] @ totals[1, player, 0]) for player in (0, 1)]
    assert results[0] == pytest.approx(-results[1])
