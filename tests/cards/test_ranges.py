"""Ranges as weights, and writing them as text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.cards import HAND_COUNT, HAND_NAMES, HAND_OF_COMBO, Range, parse_board
from allstreets.cards.range_writing import format_weights

weight_values = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 1 / 3, 1e-7])


@st.composite
def hand_ranges(draw: st.DrawFn) -> Range:
    """Ranges that treat all combos of a hand alike."""
    by_hand = draw(st.lists(weight_values, min_size=HAND_COUNT, max_size=HAND_COUNT))
    return Range(np.array(by_hand)[HAND_OF_COMBO])


@st.composite
def combo_ranges(draw: st.DrawFn) -> Range:
    """Ranges with single combos on top."""
    weights = draw(hand_ranges()).weights.copy()
    for combo in draw(st.lists(st.integers(0, 1325), max_size=12)):
        weights[combo] = draw(weight_values)
    return Range(weights)


@settings(max_examples=60)
@given(combo_ranges())
def test_every_range_reads_back_from_its_text(given_range: Range) -> None:
    text = str(given_range)
    if text:
        assert Range.parse(text) == given_range
    else:
        assert not given_range.weights.any()


@settings(max_examples=60)
@given(hand_ranges())
def test_the_text_is_never_longer_than_naming_every_hand(given_range: Range) -> None:
    weights = given_range.hand_weights
    named = [
        HAND_NAMES[hand] + ("" if weights[hand] == 1 else f":{weights[hand]!r}")
        for hand in np.flatnonzero(weights)
    ]
    assert len(str(given_range)) <= len(",".join(named))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("AA,KK,QQ", "QQ+"),
        ("QQ,KK", "KK-QQ"),
        ("AKo,AKs", "AK"),
        ("AKs,AQs,AJs,ATs", "ATs+"),
        ("AQs,AJs,ATs,A9s", "AQs-A9s"),
        ("A5s,A4s", "A5s,A4s"),
        ("98s,87s,76s,65s", "98s-65s"),
        ("98s+", "AKs-98s"),
        ("AKs:0.5,AQs:0.5,AJs:0.5", "AJs+:0.5"),
        ("AsKs,AA,AhKh:0.25", "AA,AsKs,AhKh:0.25"),
        ("22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32", None),
        ("A2s+,A8o+", "A2s+,A8+"),
    ],
)
def test_canonical_text(text: str, canonical: str | None) -> None:
    assert str(Range.parse(text)) == (canonical or text)


@pytest.mark.long
def test_the_text_is_nearly_always_the_shortest() -> None:
    """Against an exact search over all tokens (integer programming) on ranges of many kinds.

    Long: a search over ranges.
    """
    from reference.shortest_cover import shortest_length

    rng = np.random.default_rng(5)
    strength = np.arange(HAND_COUNT) % 78 + rng.normal(0, 6, (12, HAND_COUNT))
    lengths = []
    for row in strength:
        chosen = row < rng.uniform(5, 70)
        text = format_weights(chosen[HAND_OF_COMBO].astype(np.float64))
        lengths.append((len(text) + 1, shortest_length(frozenset(np.flatnonzero(chosen).tolist()))))
    ours, best = np.array(lengths).T
    assert (ours >= best).all()
    assert ours.sum() <= 1.02 * best.sum()


def test_figures_of_a_range() -> None:
    given_range = Range.parse("QQ+,AKs:0.5")
    assert given_range.combos == 20
    assert given_range.fraction == 20 / 1326
    assert given_range.hand_weights[13] == 0.5
    assert Range.full().combos == 1326
    assert repr(given_range) == "Range.parse('QQ+,AKs:0.5')"
    assert len({given_range, Range.parse("AKs:0.5,QQ,KK,AA"), Range.parse("QQ+")}) == 2


def test_the_board_takes_its_cards() -> None:
    assert Range.parse("QQ").on(parse_board("QsJh2h")).combos == 3
    with pytest.raises(InputError, match="the range 'QsQh' is blocked"):
        Range.parse("QsQh").on(parse_board("QsJh2h"))


def test_weights_cannot_be_changed_behind_its_back() -> None:
    source = np.ones(1326)
    given_range = Range(source)
    source[:] = 0
    assert given_range.combos == 1326
    with pytest.raises(ValueError, match="read-only"):
        given_range.weights[0] = 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(1325), "a range has 1326 weights, not shape"),
        (np.full(1326, 1.5), "the weights of a range lie between 0 and 1"),
        (np.full(1326, -0.5), "the weights of a range lie between 0 and 1"),
        (np.full(1326, np.nan), "the weights of a range lie between 0 and 1"),
    ],
)
def test_bad_weights(weights: np.ndarray[tuple[int], np.dtype[np.float64]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Range(weights)


@given(combo_ranges(), st.floats(1e-290, 1.0))
@settings(max_examples=30)
def test_a_multiple_is_the_same_range(given_range: Range, factor: float) -> None:
    if not given_range.weights.any():
        return
    scaled = Range(given_range.weights * factor).normalised()
    assert scaled.largest == 1
    np.testing.assert_allclose(scaled.weights, given_range.normalised().weights, rtol=1e-9)
