"""Games written down and read back are the same games."""

import json
from dataclasses import fields

import numpy as np
import pytest
from betting.random_games import postflop_rules
from betting.random_preflop import Game, preflop_games
from hypothesis import given
from hypothesis import strategies as st

from allstreets.betting import PostflopRules, PreflopRules, Street, same_sizes
from allstreets.cards.flop_sets import parse_flop_set
from allstreets.games.whole_game import (
    WholeGame,
    game_identity,
    game_mapping,
    game_of,
    rules_mapping,
    rules_of,
)


@given(preflop_games())
def test_rules_come_back(game: Game) -> None:
    keys = json.loads(json.dumps(rules_mapping(game.rules)))
    assert rules_of(keys) == game.rules


@given(
    postflop_rules().filter(lambda rules: rules.street == Street.FLOP),
    preflop_games(),
    st.sampled_from(["spread_4", "AhKd7s:2 9h8h2c", "all"]),
    st.sampled_from([(), ("limped",), ("3bet", "4bet")]),
)
def test_games_come_back(
    after: PostflopRules, before: Game, flops: str, kinds: tuple[str, ...]
) -> None:
    given_flops = parse_flop_set(flops.split() if " " in flops else flops)
    game = WholeGame(
        before.rules,
        after.sizes,
        given_flops,
        after.max_raises,
        after.add_allin_threshold,
        after.force_allin_threshold,
        after.merging_threshold,
        dict.fromkeys(kinds, same_sizes(Street.FLOP, ["33%"], ["a"])),
    )
    texts = [flop.text for flop in given_flops.flops]
    written = json.loads(json.dumps([game_mapping(game), texts, given_flops.weights.tolist()]))
    read = game_of(*written)
    for field in fields(game):
        if field.name not in ("flops", "min_bet"):
            assert getattr(read, field.name) == getattr(game, field.name), field.name
    assert (read.flops.name, read.flops.flops) == (game.flops.name, game.flops.flops)
    assert np.array_equal(read.flops.weights, game.flops.weights)
    assert game_mapping(read) == game_mapping(game)
    # The smallest bet is written down where it matters.
    assert read.may_bet_less == game.may_bet_less
    assert read.smallest_bet == (game.smallest_bet if game.may_bet_less else 0)


def test_games_that_earlier_versions_wrote_down_are_read_as_they_were_played() -> None:
    game = WholeGame(
        PreflopRules.parse(20), same_sizes(Street.FLOP, ["25%"], []), parse_flop_set(["AhKd7s"])
    )
    keys = json.loads(json.dumps(game_mapping(game)))
    assert not {"bb_ante", "limp", "allin_spr"} & set(keys["preflop"])
    del keys["postflop_min_bet"]
    read = game_of(keys, ["AsKh7d"], [1.0])
    assert [action.amount for action in read.pots[0].tree.actions_at(0)] == [0, 50]
    assert [action.amount for action in game.pots[0].tree.actions_at(0)] == [0, 100]


def spelled(before: object, after: object) -> WholeGame:
    return WholeGame(
        PreflopRules.parse(20, before, 3),  # type: ignore[arg-type]
        same_sizes(Street.FLOP, after, after),  # type: ignore[arg-type]
        parse_flop_set("spread_3"),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["3.0bb", "2.50x"], ["50.0%", 1]),
        (["3.00BB", 2.5], [".5", "100%"]),
        ({"sb": ["3bb", "2.5"], "bb": ["3bb", 2.5]}, "50%,1.0"),
    ],
)
def test_a_game_is_the_same_however_its_sizes_are_spelled(before: object, after: object) -> None:
    game, other = spelled(["3bb", "2.5x"], [0.5, 1.0]), spelled(before, after)
    assert json.dumps(game_identity(other)) == json.dumps(game_identity(game))
    assert game_identity(spelled(["3.01bb", "2.5x"], after)) != game_identity(game)
    assert game_identity(spelled(before, [0.5])) != game_identity(game)
