"""Games written down and read back are the same games."""

import json
from dataclasses import fields

import numpy as np
from betting.random_games import postflop_rules
from betting.random_preflop import Game, preflop_games
from hypothesis import given
from hypothesis import strategies as st

from allstreets.betting import PostflopRules, Street
from allstreets.cards.flop_sets import parse_flop_set
from allstreets.solvers.unified_game import UnifiedGame
from allstreets.solvers.unified_text import game_mapping, game_of, rules_mapping, rules_of


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
