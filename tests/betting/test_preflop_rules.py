"""Rules of the betting before the flop: reading them, and refusing bad ones."""

import math
from dataclasses import replace
from typing import Any

import pytest

from allstreets.base import InputError
from allstreets.betting import IP, OOP, PreflopRules, parse_raise_sizes, sizes_text


def test_big_blinds_become_chips() -> None:
    rules = PreflopRules.parse(20, ante=0.12, small_blind=0.4, rake=0.05, rake_cap=1.25)
    assert (rules.stack, rules.ante, rules.small_blind, rules.big_blind) == (2000, 12, 40, 100)
    assert rules.rake_cap == 125
    # In binary 0.29 · 100 is 28.999…
    assert PreflopRules.parse(20, ante=0.29).ante == 29
    # Eighths of a big blind are a common ante; chips are bet by the hundredth then.
    eighth = PreflopRules.parse(20, ante=0.125)
    assert (eighth.ante, eighth.grains, rules.grains) == (12.5, 100, 1)
    assert PreflopRules.parse(20, rake="5%").rake == 0.05


def test_a_big_blind_ante_is_gone_from_what_can_be_bet() -> None:
    rules = PreflopRules.parse(20, bb_ante=1)
    assert (rules.playing_stack, rules.posted(OOP), rules.posted(IP)) == (1900, 100, 50)


def test_when_all_in_is_offered() -> None:
    assert PreflopRules.parse(20).allin_spr is None
    assert PreflopRules.parse(20, allin="never").allin_spr == 0
    assert PreflopRules.parse(20, allin=3.5).allin_spr == 3.5


def test_what_is_usual_need_not_be_written() -> None:
    assert PreflopRules.parse(20) == PreflopRules(2000, parse_raise_sizes([2.5]), 4)
    assert PreflopRules.parse(20).no_flop_no_drop


def test_blinds_and_antes_as_far_as_the_stack_reaches() -> None:
    def posted(stack: float) -> tuple[float, float]:
        rules = PreflopRules.parse(stack, ante=0.2)
        return rules.posted(OOP), rules.posted(IP)

    assert posted(20) == (120, 70)
    assert posted(1) == (100, 70)
    assert posted(0.5) == (50, 50)


def test_sizes_by_raise() -> None:
    rules = PreflopRules.parse(100, {"sb": [2.5, 3], "bb": []})
    found = [sizes_text(rules.sizes_of(IP, raises)) for raises in range(4)]
    assert found == ["2.5x", "3x", "3x", "3x"]
    assert rules.sizes_of(OOP, 0) == rules.sizes_of(OOP, 3) == ()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"stack_depth": 0}, "stack 0 bb is not between 0.01 bb and 10000000 bb"),
        ({"stack_depth": 1e9}, "stack 1000000000 bb is not between"),
        ({"stack_depth": -3}, "stack -3 bb is not"),
        ({"stack_depth": "20"}, "stack_depth '20' is not a number"),
        ({"stack_depth": True}, "stack_depth True is not a number"),
        ({"stack_depth": math.nan}, "stack_depth nan is not a number"),
        ({"stack_depth": math.inf}, "stack_depth inf is not a number"),
        ({"ante": 0.12345}, "ante 0.12345 bb has too many decimals: write four at most"),
        ({"bb_ante": 20}, "bb_ante 20 bb is the whole stack of 20 bb: give a smaller one"),
        ({"allin": "sometimes"}, "'sometimes': write always, never, or the largest SPR"),
        ({"allin": -1}, "'-1': write always, never, or the largest SPR"),
        ({"rake": "5"}, "rake 5 is a fraction of the pot: write 0.05 for 5 %"),
        ({"rake": "five"}, "rake 'five' is not a share of the pot: write 5% or 0.05"),
        ({"ante": -0.1}, "ante -0.1 bb is not between 0 bb"),
        ({"big_blind": 0}, "big_blind 0 bb is not between 0.01 bb"),
        ({"small_blind": 2}, "small_blind 2 bb is larger than big_blind 1 bb: swap them"),
        ({"raise_cap": -1}, "raise_cap -1 is not a count: write 0, 1, 2, …, or nothing for no cap"),
        ({"raise_cap": 2.5}, "raise_cap 2.5 is not a count"),
        ({"raise_cap": True}, "raise_cap True is not a count"),
        ({"rake": 5}, "rake 5 is a fraction of the pot: write 0.05 for 5 %"),
        ({"rake": -0.05}, "rake -0.05 is negative: write 0 to switch it off"),
        ({"rake_cap": -1}, "rake_cap -1 is negative"),
        ({"rake_cap": "1"}, "rake_cap '1' is not a number"),
        ({"force_allin_threshold": None}, "force_allin_threshold None is not a number"),
    ],
)
def test_what_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        PreflopRules.parse(**{"stack_depth": 20, **keys})
    assert str(caught.value).startswith(message)


def test_chips_have_two_decimals() -> None:
    with pytest.raises(InputError, match=r"^stack 20\.125 chips has too many decimals"):
        replace(PreflopRules.parse(20), stack=20.125)
