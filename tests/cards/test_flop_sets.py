"""Sets of flops: names, weights, and refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.cards import FLOP_COUNT, all_flops, parse_flop
from allstreets.cards.flop_sets import (
    FlopSet,
    every_flop,
    named_flops,
    parse_flop_set,
    spread_flops,
)

DEALT = 22_100


def texts(flops: FlopSet) -> list[str]:
    return [flop.text for flop in flops.flops]


def test_all_flops_weigh_what_they_come() -> None:
    every = every_flop()
    assert every.is_all
    assert every.flops == all_flops()
    assert every.weights.tolist() == [flop.multiplicity for flop in all_flops()]
    assert every.weights.sum() == DEALT


@settings(max_examples=60)
@given(st.integers(1, FLOP_COUNT))
def test_spread_flops_stand_for_all(count: int) -> None:
    spread = spread_flops(count)
    assert spread.weights.sum() == pytest.approx(DEALT, rel=1e-12)
    assert len({flop.number for flop in spread.flops}) == len(spread.flops) == len(spread.weights)
    assert spread.weights.min() > 0
    assert len(spread.flops) <= count
    assert spread.is_all == (count == FLOP_COUNT)
    for flop in spread.flops:
        assert flop == all_flops()[flop.number]


@pytest.mark.parametrize("count", [20, 50, 200])
def test_spread_flops_have_the_textures_of_all_flops(count: int) -> None:
    """By part of the deals; a cut of the order may fall inside a group, once at either end."""
    spread = spread_flops(count)
    for part in ("rainbow", "two-tone", "monotone", "unpaired", "paired", "trips"):
        of_all = sum(
            flop.multiplicity
            for flop in all_flops()
            if part in (flop.texture.suits, flop.texture.pairing)
        )
        found = sum(
            weight
            for flop, weight in zip(spread.flops, spread.weights, strict=True)
            if part in (flop.texture.suits, flop.texture.pairing)
        )
        # Pairing is cut once in each group of suits.
        assert abs(found - of_all) <= 3 * DEALT / count + 1e-9


def test_a_middle_of_two_narrow_parts_weighs_as_much_as_both() -> None:
    spread = spread_flops(1700)
    assert len(spread.flops) < 1700
    part = DEALT / 1700
    times = spread.weights / part
    np.testing.assert_allclose(times, np.round(times), atol=1e-9)
    assert times.max() >= 2


def test_named_flops_weigh_their_multiplicity_times_the_factor() -> None:
    flops = named_flops(["AhKsQd", " 9h9d2c : 0.5", "7c7d7h:3", "8s5s2s"])
    assert flops.weights.tolist() == [24.0, 6.0, 12.0, 4.0]
    assert texts(flops) == [
        parse_flop(t).flop.text for t in ("AhKsQd", "9h9d2c", "7c7d7h", "8s5s2s")
    ]
    assert not flops.is_all


def test_suits_of_named_flops_may_be_renamed() -> None:
    first, second = named_flops(["AhKh7s", "9c8d2h"]), named_flops(["KdAd7c", "2s9h8c"])
    assert texts(first) == texts(second)
    assert first.weights.tolist() == second.weights.tolist()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("all", 1755),
        (" ALL ", 1755),
        (0, 1755),
        (1755, 1755),
        (99_999, 1755),
        ("spread_25", 25),
        ("spread25", 25),
        ("Spread-25", 25),
        ("spread_1755", 1755),
        (25, 25),
        (1, 1),
        ("AhKd7s", 1),
        ("AhKd7s:2", 1),
        ("AhKd7s, 9h8h2c", 2),
        ("AhKd7s 9h8h2c:0.5", 2),
        (["AhKd7s", "9h8h2c"], 2),
        (("AhKd7s",), 1),
    ],
)
def test_forms(given: str | int | list[str], expected: int) -> None:
    assert len(parse_flop_set(given).flops) == expected


def test_forms_agree() -> None:
    for other in ("spread_25", "spread-25", "spread25"):
        assert texts(parse_flop_set(other)) == texts(parse_flop_set(25))
    by_text, by_list = parse_flop_set("AhKd7s:2,9h8h2c"), parse_flop_set(["AhKd7s:2", "9h8h2c"])
    assert texts(by_text) == texts(by_list)
    assert by_text.weights.tolist() == by_list.weights.tolist() == [48.0, 12.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("some", "write all, subset_95, spread_25, or a list"),
        ("", "write all, subset_95, spread_25, or a list"),
        ("spread_0", "choose between 1 and 1755"),
        ("spread_1756", "choose between 1 and 1755"),
        (-1, "choose between 1 and 1755"),
        ([], "the list of flops is empty"),
        (["AhKd"], "a flop has 3"),
        (["AhKd7s2c"], "a flop has 3"),
        (["AhKdXs"], "Xs"),
        (["AhAh7s"], "Ah"),
        (["AhKd7s", "AsKc7d"], "AsKc7d is listed twice: AsKh7d up to the names of suits"),
        (["AhKd7s", "AhKd7s:2"], "listed twice"),
        (["AhKd7s:0"], "must be a positive number"),
        (["AhKd7s:-1"], "must be a positive number"),
        (["AhKd7s:x"], "must be a positive number"),
        (["AhKd7s:nan"], "must be a positive number"),
        (["AhKd7s:inf"], "must be a positive number"),
    ],
)
def test_what_is_refused(given: str | int | list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_flop_set(given)


@pytest.mark.parametrize("count", [0, -5, 1756])
def test_how_many_flops_there_may_be(count: int) -> None:
    with pytest.raises(InputError, match="choose between 1 and 1755"):
        spread_flops(count)
