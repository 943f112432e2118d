"""A spot as data reads back as the same game."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import FLOP, RIVER, TURN, spot

from allstreets.games import Spot, spot_mapping
from allstreets.games.spot import data_hash

LOCK = {"line": "x b50", "hands": {"AA": {"fold": 0.25, "call": 0.75}}, "strategy": {"call": 1}}
REFERENCE = json.loads(Path("tests/data/spots.json").read_text())["spots"]


@pytest.mark.parametrize(
    "keys", [RIVER, TURN, FLOP, {**RIVER, "lock": [LOCK], "rake": 0.05, "rake_cap": 3}]
)
def test_the_same_game_comes_back(keys: dict[str, Any]) -> None:
    before = spot(keys)
    data = json.loads(json.dumps(spot_mapping(before)))
    after = Spot.from_mapping(data)
    assert after.rules == before.rules
    assert after.ranges == before.ranges
    assert (after.cards, after.lock) == (before.cards, before.lock)
    assert spot_mapping(after) == data


@pytest.mark.parametrize("keys", REFERENCE, ids=lambda keys: keys["name"])
def test_reference_spots(keys: dict[str, Any]) -> None:
    given = {key: keys[key] for key in keys if key not in ("decision_nodes", "ev")}
    before = Spot.from_mapping(given)
    assert Spot.from_mapping(spot_mapping(before)).rules == before.rules


def test_spelling_does_not_matter() -> None:
    first = spot(RIVER, board="Ks 7d 4c 9h 2s", bets="0.5, a")
    assert data_hash(spot_mapping(first)) == data_hash(spot_mapping(spot(RIVER)))
    assert data_hash(spot_mapping(first)) != data_hash(spot_mapping(spot(RIVER, pot=101)))
