"""Rules out of spot files."""

from typing import Any

import pytest

from allstreets.base import InputError
from allstreets.betting import (
    IP,
    OOP,
    Street,
    build_postflop_tree,
    line_text,
    parse_line,
    rules_from_spot,
    sizes_text,
)

BOTH = {"bet": ["33%", "75%"], "raise": "60%,a"}
RIVER = {"river_oop": BOTH, "river_ip": BOTH}
TURN = {"turn_oop": BOTH, "turn_ip": BOTH}


def spot(**changes: Any) -> dict[str, Any]:
    return {
        "name": "a spot",
        "board": "AhTd6s3c",
        "oop_range": "AA",
        "pot": 100,
        "stack": 500,
        "bet_sizes": TURN | RIVER,
        "donk": None,
        **changes,
    }


def test_everything_that_is_a_rule_is_read() -> None:
    rules = rules_from_spot(
        spot(
            add_allin_threshold=1.5,
            force_allin_threshold=0.2,
            merging_threshold=0.1,
            rake=0.05,
            rake_cap=30,
            max_raises=2,
            chips_per_bb=10,
        )
    )
    assert (rules.street, rules.pot, rules.stack) == (Street.TURN, 100, 500)
    assert sizes_text(rules.sizes_of(Street.RIVER, IP).bet) == "33%,75%"
    assert sizes_text(rules.sizes_of(Street.RIVER, IP).raises) == "60%,a"
    assert rules.sizes_of(Street.RIVER, OOP).donk is None
    assert (rules.add_allin_threshold, rules.force_allin_threshold) == (1.5, 0.2)
    assert (rules.merging_threshold, rules.rake, rules.rake_cap) == (0.1, 0.05, 30)
    assert (rules.max_raises, rules.chips_per_bb) == (2, 10)


def test_what_is_left_out_has_the_usual_value() -> None:
    rules = rules_from_spot(spot())
    assert (rules.rake, rules.rake_cap, rules.max_raises) == (0, None, None)


def test_sizes_of_streets_that_are_over_do_not_matter() -> None:
    later = rules_from_spot(spot(board="AhTd6s3c2c"))
    assert later.street == Street.RIVER
    assert later.sizes == rules_from_spot(spot()).sizes[1:]


def test_donk_sizes_by_street_or_for_all() -> None:
    own = TURN | RIVER | {"river_oop": {**BOTH, "donk": ["20%"]}}
    assert sizes_text(river_donk(spot(bet_sizes=own))) == "20%"
    assert sizes_text(river_donk(spot(donk="25%"))) == "25%"
    assert sizes_text(river_donk(spot(bet_sizes=own, donk="25%"))) == "20%"
    assert river_donk(spot(donk=[])) == ()


def river_donk(given: dict[str, Any]) -> Any:
    return rules_from_spot(given).sizes_of(Street.RIVER, OOP).donk


def test_lists_may_be_left_empty() -> None:
    only_bets = {"bet": ["50%"]}
    rules = rules_from_spot(
        spot(bet_sizes=TURN | {"river_oop": only_bets, "river_ip": {"bet": None, "raise": []}})
    )
    assert rules.sizes_of(Street.RIVER, OOP).raises == ()
    assert rules.sizes_of(Street.RIVER, IP).bet == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"board": ""}, "a spot needs a board of 3 (flop), 4 (turn) or 5 (river) cards, not 0"),
        ({"board": "AhTd"}, "the board 'AhTd' has 2 cards"),
        (
            {"bet_sizes": TURN | {"river_oop": BOTH}},
            "bet_sizes has no river_ip: write river_ip: {bet: [], raise: []} if this player "
            "never bets on the river",
        ),
        (
            {"bet_sizes": TURN | RIVER | {"rivr_ip": BOTH}},
            "bet_sizes has an unknown key 'rivr_ip': did you mean 'river_ip'?",
        ),
        (
            {"bet_sizes": TURN | {"river_oop": {"bets": []}, "river_ip": BOTH}},
            "bet_sizes river_oop has an unknown key 'bets': did you mean 'bet'?",
        ),
        (
            {"bet_sizes": TURN | {"river_oop": "33%", "river_ip": BOTH}},
            "bet_sizes river_oop: write {bet: [...], raise: [...]}",
        ),
        (
            {"bet_sizes": TURN | {"river_oop": BOTH, "river_ip": {"bet": ["33%", "75"]}}},
            "river_ip bet sizes, entry 2: '75' without a unit is 75 times the pot",
        ),
        ({"bet_sizes": TURN | {"river_oop": {"bet": 0}, "river_ip": BOTH}}, "'0' bets nothing"),
        ({"pot": 12.555}, "pot 12.555: amounts have 2 decimals at most"),
        ({"rake": "x%"}, "rake 'x%' is not a share of the pot: write 5% or 0.05"),
        ({"bet_sizes": ["33%"]}, "bet_sizes: write river_oop: {bet: [...], raise: [...]} and so"),
    ],
)
def test_bad_spots_say_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        rules_from_spot(spot(**changes))
    assert message in str(caught.value)


@pytest.mark.parametrize("key", ["board", "pot", "stack", "bet_sizes"])
def test_what_a_spot_needs(key: str) -> None:
    given = spot()
    del given[key]
    with pytest.raises(InputError, match=f"the spot has no {key}"):
        rules_from_spot(given)


def test_amounts_with_decimals_are_bet_by_the_hundredth() -> None:
    """A third of 5.5 is 1.82, and a raise to three times that 5.46; whole games round to chips."""
    river = {"river_oop": {"bet": ["33%", "2c"]}, "river_ip": {"raise": ["3x"]}}
    fine = build_postflop_tree(
        rules_from_spot(spot(board="AhTd9c4s2h", pot=5.5, stack=19.25, bet_sizes=river))
    )
    assert (fine.pot, fine.stack) == (5.5, 19.25)
    assert [str(action.amount) for action in fine.actions_at(0)] == ["0", "1.82", "2"]
    raised = parse_line(fine, "b1.82 r5.46").node
    assert line_text(fine, raised) == "b1.82 r5.46"
    assert (fine.pot_at(raised), fine.to_call_at(raised)) == (12.78, 3.64)
    assert parse_line(fine, "b33%").node == parse_line(fine, "b1.82").node
    whole = build_postflop_tree(
        rules_from_spot(spot(board="AhTd9c4s2h", pot=550, stack=1925, bet_sizes=river))
    )
    assert whole.actions_at(0)[2].amount == 182


def test_a_big_blind_gives_sizes_their_unit_and_bets_their_minimum() -> None:
    """Into a pot of 2 bb a quarter is half a big blind: it becomes one, once."""
    river = {"river_oop": {"bet": ["25%", "40%", "3bb"]}, "river_ip": {}}
    given = spot(board="AhTd9c4s2h", pot=20, stack=95, bet_sizes=river, chips_per_bb=10)

    def first_bets(**changes: Any) -> list[float]:
        tree = build_postflop_tree(rules_from_spot({**given, **changes}))
        return [action.amount for action in tree.actions_at(0)[1:]]

    assert first_bets() == [10, 30]
    assert first_bets(stack=7) == [7]  # all-in below the minimum is legal
    in_shares = {**river, "river_oop": {"bet": ["25%", "40%"]}}
    assert first_bets(bet_sizes=in_shares, chips_per_bb=None) == [5, 8]
