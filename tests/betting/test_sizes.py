"""The language of bet sizes."""

from decimal import Decimal
from typing import Any

import pytest
from betting.random_games import raise_sizes
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import BetSize, parse_sizes, sizes_text
from allstreets.betting.sizes import AllIn, BigBlinds, Chips, Geometric, PotShare, TimesLastBet


@pytest.mark.parametrize(
    ("text", "size", "canonical"),
    [
        ("50%", PotShare(Decimal("0.5")), "50%"),
        ("0.5", PotShare(Decimal("0.5")), "50%"),
        (".5", PotShare(Decimal("0.5")), "50%"),
        ("1.", PotShare(Decimal(1)), "100%"),
        ("33.30%", PotShare(Decimal("0.333")), "33.3%"),
        ("250%", PotShare(Decimal("2.5")), "250%"),
        ("2.5x", TimesLastBet(Decimal("2.5")), "2.5x"),
        ("3X", TimesLastBet(Decimal(3)), "3x"),
        ("3bb", BigBlinds(Decimal(3)), "3bb"),
        ("2.25BB", BigBlinds(Decimal("2.25")), "2.25bb"),
        ("100c", Chips(100), "100c"),
        ("e", Geometric(), "e"),
        ("2e", Geometric(2), "2e"),
        ("3e200%", Geometric(3, Decimal(2)), "3e200%"),
        ("e66.5%", Geometric(None, Decimal("0.665")), "e66.5%"),
        ("a", AllIn(), "a"),
        ("All-in", AllIn(), "a"),
        ("allin", AllIn(), "a"),
    ],
)
def test_every_kind_of_size(text: str, size: BetSize, canonical: str) -> None:
    assert parse_sizes(text, raises=True) == (size,)
    assert str(size) == canonical


@pytest.mark.parametrize(
    ("given_sizes", "canonical"),
    [
        ("33%,75%,a", "33%,75%,a"),
        (" 33% , 0.75,\tA,", "33%,75%,a"),
        (["33%", 0.75, "a"], "33%,75%,a"),
        (["33%,75%", "a"], "33%,75%,a"),
        ((0.5, 1), "50%,100%"),
        (0.5, "50%"),
        (1, "100%"),
        (1 / 3, "33.33333333333333%"),
        ([Chips(5), AllIn()], "5c,a"),
        ("", ""),
        ([], ""),
    ],
)
def test_lists_and_texts(given_sizes: Any, canonical: str) -> None:
    assert sizes_text(parse_sizes(given_sizes)) == canonical


@given(st.lists(raise_sizes))
def test_printed_sizes_read_back(sizes: list[BetSize]) -> None:
    assert parse_sizes(sizes_text(sizes), raises=True) == tuple(sizes)


@given(st.floats(1e-4, 10))
def test_every_sensible_float_is_a_share_of_the_pot(number: float) -> None:
    (size,) = parse_sizes(number)
    assert isinstance(size, PotShare)
    assert float(size.share) == number
    assert parse_sizes(str(size)) == (size,)


@pytest.mark.parametrize(
    ("given_sizes", "message"),
    [
        (
            "33%,2x",
            "bet sizes, entry 2: '2x': a multiple of the last bet is for raises only: "
            "give a bet as 50% of the pot, 3bb or 100c",
        ),
        ([TimesLastBet(Decimal(2))], "bet sizes, entry 1: '2x': a multiple of the last bet is for"),
        (
            "33%,half",
            "bet sizes, entry 2: 'half' is not a bet size: write 50% or 0.5 (of the pot), 3bb, "
            "100c (chips), e, 2e (geometric) or a (all-in)",
        ),
        (
            "33",
            "bet sizes, entry 1: '33' without a unit is 33 times the pot: write 33% of the pot, "
            "33bb or 33c (chips)",
        ),
        ([33], "entry 1: '33' without a unit is 33 times the pot"),
        ("33% 75%", "entry 1: '33% 75%' is not a bet size"),
        ("0%", "entry 1: '0%' bets nothing: leave it out, a check is always offered"),
        ([0.5, 0.0], "entry 2: '0.0' bets nothing"),
        ("0c", "'0c' bets nothing"),
        ("1.555c", "'1.555c' is not a bet size"),
        ("0e", "'0e': all-in in 0 streets: write e, 1e, 2e or 3e"),
        ("3e200", "'3e200' is not a bet size"),
        ("e0%", "'e0%' bets nothing"),
        ("-50%", "'-50%' is not a bet size"),
        ([-0.5], "entry 1: -0.5 is not a fraction of the pot: write 0.5 for half the pot"),
        ([float("nan")], "entry 1: nan is not a fraction of the pot"),
        ([float("inf")], "entry 1: inf is not a fraction of the pot"),
        ([True], "entry 1: True is not a bet size"),
        ([None], "entry 1: None is not a bet size"),
        ([["33%"]], "entry 1: ['33%'] is not a bet size"),
        (None, "bet sizes: None is not a list of sizes such as [33%, 75%, a]"),
        ({"a": 1}, "bet sizes: {'a': 1} is not a list of sizes"),
    ],
)
def test_bad_sizes_point_at_the_entry(given_sizes: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_sizes(given_sizes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1x",
            "raise sizes, entry 1: '1x' is not a raise: 2x is the smallest raise of a first bet",
        ),
        ("x", "write 50% or 0.5 (of the pot), 2.5x (times the last bet), 3bb, 100c (chips)"),
    ],
)
def test_bad_raises(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_sizes(text, raises=True)
    assert message in str(caught.value)


def test_the_list_can_be_named() -> None:
    with pytest.raises(InputError, match="river_oop bet sizes, entry 1: 'z' is not a bet size"):
        parse_sizes("z", what="river_oop bet sizes")
