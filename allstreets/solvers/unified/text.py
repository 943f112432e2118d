"""A whole game as plain data: what a manifest keeps, and what two games are compared by.

Chips are whole numbers and sizes are written in their canonical texts, so that the same game gives
the same data however its file was spelled, and is read back to the last bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from allstreets.betting import (
    IP,
    OOP,
    PostflopRules,
    PreflopRules,
    Street,
    parse_raise_sizes,
    sizes_from_spot,
)
from allstreets.cards import Flop, all_flops
from allstreets.cards.flop_sets import FlopSet
from allstreets.solvers.spot.text import sizes_mapping
from allstreets.solvers.unified.game import UnifiedGame

RULES = tuple(rule.name for rule in fields(PreflopRules) if rule.name != "raise_sizes")
POSTFLOP_RULES = (
    "max_raises",
    "add_allin_threshold",
    "force_allin_threshold",
    "merging_threshold",
)


def rules_mapping(rules: PreflopRules) -> dict[str, Any]:
    """The betting before the flop, amounts in chips."""
    keys: dict[str, Any] = {key: getattr(rules, key) for key in RULES}
    keys["raise_sizes"] = {
        player.seat.lower(): [[str(size) for size in level] for level in rules.raise_sizes[player]]
        for player in (IP, OOP)
    }
    return keys


def rules_of(keys: Mapping[str, Any]) -> PreflopRules:
    """The rules that `rules_mapping` wrote down."""
    sizes = parse_raise_sizes(keys["raise_sizes"])
    return PreflopRules(raise_sizes=sizes, **{key: keys[key] for key in RULES})


def game_mapping(game: UnifiedGame) -> dict[str, Any]:
    """All but the flops, of which there may be many."""
    after = PostflopRules(Street.FLOP, pot=1, stack=0, sizes=game.sizes)
    return {
        "preflop": rules_mapping(game.preflop),
        "postflop_sizes": sizes_mapping(after),
        **{f"postflop_{key}": getattr(game, key) for key in POSTFLOP_RULES},
        "flop_set": game.flops.name,
    }


def game_identity(game: UnifiedGame) -> dict[str, Any]:
    """JSON facts that two runs of the same game share, however their files were spelled."""
    return {"game": "unified", **game_mapping(game), **_flops(game)}


def former_game_identity(game: UnifiedGame) -> dict[str, Any]:
    """`game_identity` as earlier versions wrote it: 3.0bb and 3bb were two games."""
    return {
        "game": "unified",
        "preflop": repr(game.preflop),
        "sizes": repr(game.sizes),
        "max_raises": game.max_raises,
        "thresholds": [
            game.add_allin_threshold,
            game.force_allin_threshold,
            game.merging_threshold,
        ],
        **_flops(game),
    }


def _flops(game: UnifiedGame) -> dict[str, Any]:
    flops = game.flops
    return {"flops": [flop.text for flop in flops.flops], "weights": flops.weights.tolist()}


def game_of(keys: Mapping[str, Any], flops: Sequence[str], weights: Sequence[float]) -> UnifiedGame:
    """The game that `game_mapping` wrote down, with its flops as `Flop.text` spells them."""
    known = _flop_of_text()
    return UnifiedGame(
        preflop=rules_of(keys["preflop"]),
        sizes=sizes_from_spot(keys["postflop_sizes"], Street.FLOP),
        flops=FlopSet(
            keys["flop_set"],
            tuple(known[text] for text in flops),
            np.array(weights, np.float64),
        ),
        **{key: keys[f"postflop_{key}"] for key in POSTFLOP_RULES},
    )


@cache
def _flop_of_text() -> dict[str, Flop]:
    return {flop.text: flop for flop in all_flops()}
