"""The rules of a postflop game: refusals and their messages."""

from typing import Any

import pytest

from allstreets.base import InputError
from allstreets.betting import IP, OOP, PlayerSizes, PostflopRules, Street, same_sizes


def rules(**changes: Any) -> PostflopRules:
    street = changes.get("street", Street.RIVER)
    given = {
        "street": street,
        "pot": 100,
        "stack": 500,
        "sizes": same_sizes(street, "50%", "60%"),
        **changes,
    }
    return PostflopRules(**given)


def test_sizes_are_found_by_street_and_player() -> None:
    turn = (PlayerSizes.parse("1%", "2%"), PlayerSizes.parse("3%", "4%"))
    river = (PlayerSizes.parse("5%", "6%", "7%"), PlayerSizes.parse("8%", "9%"))
    game = rules(street=Street.TURN, sizes=(turn, river))
    assert game.sizes_of(Street.TURN, IP) == turn[IP]
    assert game.sizes_of(Street.RIVER, OOP) == river[OOP]


def test_rules_are_values() -> None:
    assert rules() == rules()
    assert hash(rules()) == hash(rules())
    assert rules() != rules(rake=0.05)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pot": 0}, "pot 0 is not between 0.01 and 1000000000"),
        ({"pot": 7.125}, "pot 7.125: amounts have 2 decimals at most, so count in a smaller unit"),
        ({"pot": True}, "pot True is not a number"),
        ({"stack": -1}, "stack -1 is not between 0 and"),
        ({"stack": "500"}, "stack '500' is not a number"),
        ({"stack": 10**10}, "stack 10000000000 is not between"),
        ({"chips_per_bb": 0}, "chips_per_bb 0 is not between 0.01 and"),
        (
            {"sizes": same_sizes(Street.RIVER, "50%", "3bb")},
            "'3bb': the big blind is not defined: give chips_per_bb, or write 50% (of the pot) "
            "or 100c (chips)",
        ),
        ({"add_allin_threshold": -0.1}, "add_allin_threshold -0.1 is negative: write 0 to switch"),
        ({"force_allin_threshold": float("nan")}, "force_allin_threshold nan is not a number"),
        ({"merging_threshold": None}, "merging_threshold None is not a number"),
        ({"rake": 5}, "rake 5 is a fraction of the pot: write 0.05 for 5 %"),
        ({"rake": -0.05}, "rake -0.05 is negative"),
        ({"rake_cap": -1}, "rake_cap -1 is negative"),
        ({"max_raises": -1}, "max_raises -1 is not a count: write 0, 1, 2, … or leave it out"),
        ({"max_raises": 1.5}, "max_raises 1.5 is not a count"),
        ({"street": Street.PREFLOP}, "postflop rules start on the flop, the turn or the river"),
        (
            {"sizes": same_sizes(Street.FLOP, "50%", "")},
            "sizes for 3 streets, but from the river to the river there are 1",
        ),
        (
            {"sizes": ((PlayerSizes(), PlayerSizes(donk=())),)},
            "river donk sizes for IP: only OOP can donk",
        ),
        (
            {"sizes": ((PlayerSizes(donk=()), PlayerSizes()),)},
            "river donk sizes have no effect on the first street: put what OOP may lead into his "
            "bet sizes",
        ),
    ],
)
def test_bad_rules_say_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        rules(**changes)
    assert message in str(caught.value)


def test_multiples_of_the_last_bet_are_for_raises_only() -> None:
    assert PlayerSizes.parse("50%", "2.5x").raises
    with pytest.raises(
        InputError, match="flop bet sizes, entry 2: '3x': a multiple of the last bet"
    ):
        PlayerSizes.parse("50%,3x", "", what="flop")
    with pytest.raises(InputError, match="donk sizes: a multiple of the last bet is for raises"):
        PlayerSizes(donk=PlayerSizes.parse("", "2x").raises)
