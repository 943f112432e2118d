"""Features of flops, counted pair by pair."""

import numpy as np
import pytest

from allstreets.cards import HAND_SIZES, flop_matchups, parse_flop, parse_hand
from allstreets.cards.flop_choice import FAR, hand_features, opponent_ranges


def test_opponent_ranges() -> None:
    ranges = opponent_ranges()
    shares = ranges @ HAND_SIZES / HAND_SIZES.sum()
    everything, wide, usual, narrow, capped, polarised = shares
    assert everything == 1
    for share, cut in ((wide, 0.5), (usual, 0.25), (narrow, 0.12)):
        assert cut <= share < cut + 0.02  # a hand is in it or not
    assert capped == pytest.approx(wide - narrow)
    assert narrow < polarised < 0.35
    aces, seven_deuce = parse_hand("AA"), parse_hand("72o")
    assert ranges[:, aces].tolist() == [1, 1, 1, 1, 0, 1]
    assert ranges[:, seven_deuce].tolist() == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("text", ["AsKh7d", "8s8h3s", "JsTs9s"])
def test_features_hand_by_hand(text: str) -> None:
    flop = parse_flop(text).flop
    ranges = opponent_ranges()[[0, 3]]
    found = hand_features(flop, ranges)
    table = flop_matchups(flop.number)
    for hand in (parse_hand("AA"), parse_hand("JTs"), parse_hand("72o"), parse_hand("88")):
        for place, weights in enumerate(ranges):
            pairs = sum(table.pairs[hand, o] * weights[o] for o in range(169))
            won = sum(table.margins[hand, o] / 990 * weights[o] for o in range(169))
            each = won / pairs if pairs else 0.0
            expected = [pairs, won, won * each, pairs * max(each - FAR, 0)]
            expected.append(pairs * max(-each - FAR, 0))
            np.testing.assert_allclose(found[:, hand, place], expected, rtol=1e-5, atol=1e-4)
