"""A spot as plain data: what a manifest stores, and what two spots are compared by.

Ranges and sizes are written in their canonical texts, so that the same game gives the same data
however its file was spelled, and `Spot.from_mapping` reads it back to the last bit.
"""

import hashlib
import json
from typing import Any

from allstreets.betting import Player, PlayerSizes, PostflopRules, Street, neat, sizes_text
from allstreets.cards import cards_text
from allstreets.games.locks import Lock
from allstreets.games.spot import Spot


def spot_mapping(spot: Spot) -> dict[str, Any]:
    """The keys of a spot file that describe this game."""
    rules = spot.rules
    keys: dict[str, Any] = {
        "board": cards_text(spot.cards),
        "oop_range": str(spot.ranges[0]),
        "ip_range": str(spot.ranges[1]),
        "pot": neat(spot.pot),
        "stack": neat(spot.stack),
        "bet_sizes": sizes_mapping(rules),
        "add_allin_threshold": float(rules.add_allin_threshold),
        "force_allin_threshold": float(rules.force_allin_threshold),
        "merging_threshold": float(rules.merging_threshold),
        "rake": float(rules.rake),
        "rake_cap": None if rules.rake_cap is None else float(rules.rake_cap),
    }
    for key in ("max_raises", "chips_per_bb", "grains"):
        if getattr(rules, key) is not None:
            keys[key] = getattr(rules, key)
    if rules.min_bet != (rules.chips_per_bb or 0):
        keys["min_bet"] = rules.min_bet
    if spot.edit:
        keys["edit"] = [edit.mapping() for edit in spot.edit]
    if spot.lock:
        keys["lock"] = [lock_mapping(lock) for lock in spot.lock]
    return keys


def sizes_mapping(rules: PostflopRules) -> dict[str, dict[str, str]]:
    """The sizes of every street and player, as `bet_sizes` has them."""
    return {
        f"{street.text}_{player.name.lower()}": _lists(rules.sizes_of(street, player))
        for street in Street
        if street >= rules.street
        for player in Player
    }


def _lists(sizes: PlayerSizes) -> dict[str, str]:
    lists = {"bet": sizes_text(sizes.bet), "raise": sizes_text(sizes.raises)}
    if sizes.donk is not None:
        lists["donk"] = sizes_text(sizes.donk)
    return lists


def lock_mapping(lock: Lock) -> dict[str, Any]:
    """A lock as a spot file has it."""
    keys: dict[str, Any] = {"line": lock.line}
    if lock.strategy is not None:
        keys["strategy"] = {word: float(chance) for word, chance in lock.strategy.items()}
    if lock.hands:
        keys["hands"] = {
            hands: {word: float(chance) for word, chance in given.items()}
            for hands, given in lock.hands.items()
        }
    if lock.ranges:
        keys["ranges"] = dict(lock.ranges)
    if lock.frequencies:
        keys["frequencies"] = dict(lock.frequencies)
    if lock.solution is not None:
        keys["solution"] = lock.solution
    return keys


def data_hash(data: Any) -> str:
    """SHA-256 of JSON data in one fixed spelling."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
