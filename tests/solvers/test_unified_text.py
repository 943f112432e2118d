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
from allstreets.solvers.unified.game import UnifiedGame
from allstreets.solvers.unified.text import (
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
)
def test_games_come_back(after: PostflopRules, before: Game, flops: str) -> None:
    given_flops = parse_flop_set(flops.split() if " " in flops else flops)
    game = UnifiedGame(
        before.rules,
        after.sizes,
        given_flops,
        after.max_raises,
        after.add_allin_threshold,
        after.force_allin_threshold,
        after.merging_threshold,
    )
    texts = [flop.text for flop in given_flops.flops]
    written = json.loads(json.dumps([game_mapping(game), texts, given_flops.weights.tolist()]))
    read = game_of(*written)
    for field in fields(game):
        if field.name != "flops":
            assert getattr(read, field.name) == getattr(game, field.name), field.name
    assert (read.flops.name, read.flops.flops) == (game.flops.name, game.flops.flops)
    assert np.array_equal(read.flops.weights, game.flops.weights)
    assert game_mapping(read) == game_mapping(game)


def spelled(before: object, after: object) -> UnifiedGame:
    return UnifiedGame(
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
