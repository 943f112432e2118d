"""A whole game as plain data: what a manifest stores, and what two games are compared by.

Chips are whole numbers and sizes are written in their canonical texts, so that the same game gives
the same data however its file was spelled, and is read back to the last bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from allstreets.betting import (
    CHIPS_PER_BB,
    IP,
    OOP,
    PostflopRules,
    PreflopRules,
    Street,
    StreetSizes,
    parse_raise_sizes,
    sizes_from_spot,
)
from allstreets.cards import Flop, FlopSet, all_flops
from allstreets.games.locks import Lock
from allstreets.games.spot_data import lock_mapping, sizes_mapping
from allstreets.games.whole_game import WholeGame

# Rules that came later are written only where they differ from the behaviour before them.
LATER_RULES = ("bb_ante", "limp", "allin_spr")
RULES = tuple(
    rule.name for rule in fields(PreflopRules) if rule.name not in ("raise_sizes", *LATER_RULES)
)
POSTFLOP_RULES = (
    "max_raises",
    "add_allin_threshold",
    "force_allin_threshold",
    "merging_threshold",
)
MIN_BET, POT_SIZES, LOCK = "postflop_min_bet", "postflop_pot_sizes", "lock"


def rules_mapping(rules: PreflopRules) -> dict[str, Any]:
    """The betting before the flop, amounts in chips."""
    keys: dict[str, Any] = {key: getattr(rules, key) for key in RULES} | _later_rules(rules)
    keys["raise_sizes"] = {
        player.seat.lower(): [[str(size) for size in level] for level in rules.raise_sizes[player]]
        for player in (IP, OOP)
    }
    return keys


def _later_rules(rules: PreflopRules) -> dict[str, Any]:
    usual = {rule.name: rule.default for rule in fields(PreflopRules)}
    found = {key: getattr(rules, key) for key in LATER_RULES}
    return {key: value for key, value in found.items() if value != usual[key]}


def rules_of(keys: Mapping[str, Any]) -> PreflopRules:
    """The rules that `rules_mapping` wrote down."""
    given = {key: value for key, value in keys.items() if key != "raise_sizes"}
    return PreflopRules(raise_sizes=parse_raise_sizes(keys["raise_sizes"]), **given)


def game_mapping(game: WholeGame) -> dict[str, Any]:
    """All but the flops, of which there may be many."""
    return {
        "preflop": rules_mapping(game.preflop),
        "postflop_sizes": _sizes_mapping(game.sizes),
        **{f"postflop_{key}": getattr(game, key) for key in POSTFLOP_RULES},
        **_later_keys(game),
        "flop_set": game.flops.name,
    }


def _later_keys(game: WholeGame) -> dict[str, Any]:
    """Rules that earlier versions did not have, where they make this another game."""
    keys: dict[str, Any] = {}
    if game.pot_sizes:
        kinds = sorted(game.pot_sizes.items())
        keys[POT_SIZES] = {kind: _sizes_mapping(sizes) for kind, sizes in kinds}
    if game.may_bet_less:
        keys[MIN_BET] = game.smallest_bet
    if game.lock:
        keys[LOCK] = [lock_mapping(lock) for lock in game.lock]
    return keys


def _sizes_mapping(sizes: tuple[StreetSizes, ...]) -> dict[str, dict[str, str]]:
    rules = PostflopRules(Street.FLOP, pot=1, stack=0, sizes=sizes, chips_per_bb=CHIPS_PER_BB)
    return sizes_mapping(rules)


def game_identity(game: WholeGame) -> dict[str, Any]:
    """JSON facts that two runs of the same game share, however their files were spelled."""
    return {"game": "unified", **game_mapping(game), **_flops(game)}


def _flops(game: WholeGame) -> dict[str, Any]:
    flops = game.flops
    return {"flops": [flop.text for flop in flops.flops], "weights": flops.weights.tolist()}


def game_of(keys: Mapping[str, Any], flops: Sequence[str], weights: Sequence[float]) -> WholeGame:
    """The game that `game_mapping` wrote down, with its flops as `Flop.text` spells them."""
    known = _flop_of_text()
    return WholeGame(
        preflop=rules_of(keys["preflop"]),
        sizes=sizes_from_spot(keys["postflop_sizes"], Street.FLOP),
        flops=FlopSet(
            keys["flop_set"],
            tuple(known[text] for text in flops),
            np.array(weights, np.float64),
        ),
        pot_sizes={
            kind: sizes_from_spot(sizes, Street.FLOP)
            for kind, sizes in keys.get(POT_SIZES, {}).items()
        },
        min_bet=keys.get(MIN_BET, 0),  # without it, no size is below a big blind
        lock=tuple(Lock.from_mapping(lock) for lock in keys.get(LOCK, ())),
        **{key: keys[f"postflop_{key}"] for key in POSTFLOP_RULES},
    )


@cache
def _flop_of_text() -> dict[str, Flop]:
    return {flop.text: flop for flop in all_flops()}
