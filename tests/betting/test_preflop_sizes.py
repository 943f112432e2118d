"""Raise sizes before the flop as text and lists."""

from typing import Any

import pytest

from allstreets.base import InputError
from allstreets.betting import IP, OOP, RaiseLevels, parse_raise_sizes, sizes_text
from allstreets.betting.sizes import AllIn


def texts(levels: RaiseLevels) -> list[str]:
    return [sizes_text(sizes) for sizes in levels]


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        (2.5, ["2.5x"]),
        (3, ["3x"]),
        ("2.5", ["2.5x"]),
        ("3bb", ["3bb"]),
        ([2.5], ["2.5x"]),
        ((2.5, 3), ["2.5x", "3x"]),
        ([2.5, [3, "4x", "9bb"], "a"], ["2.5x", "3x,4x,9bb", "a"]),
        (["2, 3.0", " 50% "], ["2x,3x", "50%"]),
        (["e", "2e150%", "250c", "A"], ["e", "2e150%", "250c", "a"]),
        ([[], 3], ["", "3x"]),
        ([AllIn(), [AllIn(), 2]], ["a", "a,2x"]),
        (["12x"], ["12x"]),
        ([], []),
        ("", [""]),
    ],
)
def test_sizes_are_read(given: Any, levels: list[str]) -> None:
    found = parse_raise_sizes(given)
    assert found[OOP] == found[IP]
    assert texts(found[IP]) == levels


def test_players_may_differ() -> None:
    found = parse_raise_sizes({"sb": [2.5, 3], "bb": "4bb"})
    assert texts(found[IP]) == ["2.5x", "3x"]
    assert texts(found[OOP]) == ["4bb"]


FORMS = (
    "write 2.5 or 2.5x (times the last bet), 3bb, 50% (of the pot), 250c (chips), e (geometric) or "
    "a (all-in)"
)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [2.5, 0.5],
            "raise_sizes, raise 2: '0.5' is not a raise: a plain number multiplies the last "
            "bet: write 2.5, or 50% for a share of the pot",
        ),
        (
            1,
            "raise_sizes: '1' is not a raise: a plain number multiplies the last bet: write "
            "2.5, or 100% for a share of the pot",
        ),
        (
            [0],
            "raise_sizes, raise 1: '0' is not a raise: a plain number multiplies the last bet: "
            "write 2.5",
        ),
        (
            [["2.5", 25]],
            "raise_sizes, raise 1: '25' without a unit is 25 times the last bet: write 25x if you "
            "mean it, 25bb, 25% of the pot or 25c (chips)",
        ),
        (["2y"], f"raise_sizes, raise 1: '2y' is not a bet size: {FORMS}"),
        ([-2], f"raise_sizes, raise 1: '-2' is not a bet size: {FORMS}"),
        ([float("nan")], f"raise_sizes, raise 1: 'nan' is not a bet size: {FORMS}"),
        ([None], f"raise_sizes, raise 1: None is not a raise size: {FORMS}"),
        (True, f"raise_sizes: True is not a raise size: {FORMS}"),
        ([{"sb": 2}], f"raise_sizes, raise 1: {{'sb': 2}} is not a raise size: {FORMS}"),
        ([[[2]]], f"raise_sizes, raise 1: [2] is not a raise size: {FORMS}"),
        (None, "raise_sizes: None is not a list of raise sizes such as [2.5, 3]"),
        (
            "2.5,3",
            "raise_sizes: '2.5,3' could be the sizes of one raise or of several: write [2.5, 3] "
            "for the first raise and later ones, [[2.5, 3]] for a choice of two sizes",
        ),
        (
            {"sb": [2.5]},
            "raise_sizes has no bb: write bb: [] if he is to raise all-in only",
        ),
        (
            {"sb": 2, "oop": 3},
            "raise_sizes has an unknown key 'oop': choose one of: sb, bb",
        ),
        ({"sb": 2, "bb": [1]}, "raise_sizes bb, raise 1: '1' is not a raise: a plain number"),
    ],
)
def test_what_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_raise_sizes(given)
    assert str(caught.value).startswith(message)


NAMED = {"open": [2, 2.5], "over_limp": "3bb", "3bet": {"bb": ["9bb", 4], "sb": 3}, "4bet+": 2.3}


def test_raises_by_name() -> None:
    """By player and by the raises before: a 3-bet of the small blind comes after his limp."""
    found = parse_raise_sizes(NAMED)
    assert texts(found[IP]) == ["2x,2.5x", "3x", "2.3x"]
    assert texts(found[OOP]) == ["3bb", "9bb,4x", "2.3x"]


def test_a_raise_without_a_name_is_all_in_and_over_a_limp_the_open_serves() -> None:
    found = parse_raise_sizes({"open": 2.5, "3-bet": []})
    assert [texts(levels) for levels in found] == [["2.5x", "", ""]] * 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"opn": 2}, "raise_sizes has an unknown key 'opn': did you mean 'open'?"),
        ({"open": 2, "4bt": 2}, "raise_sizes has an unknown key '4bt': did you mean '4bet'?"),
        ({"open": 2, "sb": 2}, "raise_sizes has an unknown key 'sb': choose one of: open, over_"),
        ({"3bet": 3}, "raise_sizes has no open: write open: [] for all-in only"),
        ({"open": 2, "5bet": 2}, "raise_sizes has a 5bet and no 3bet: write 3bet: [] for all-in"),
        (
            {"open": 2, "3bet+": 3, "4bet": 2},
            "raise_sizes: 3bet+ is every later raise too, so drop",
        ),
        ({"open": 2, "3bet": 3, "3-bet": 3}, "raise_sizes has '3bet' once too often"),
        ({"open": {"sb": 2}}, "raise_sizes open is the small blind's alone: write open: [2.5, 3]"),
        ({"open": 2, "3bet": {"bb": 3}}, "raise_sizes 3bet has no sb: write sb: [] if he is to"),
        ({"open": 2, "3bet": {"utg": 3}}, "raise_sizes 3bet has an unknown key 'utg': choose one"),
        ({"open": 2, "3bet": {"bb": 3, "sb": 1}}, "raise_sizes 3bet sb: '1' is not a raise"),
    ],
)
def test_names_that_are_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_raise_sizes(given)
    assert str(caught.value).startswith(message)
