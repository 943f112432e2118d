"""The rules of a game as a spot file writes them.

board: Ks7d4c9h2s
pot: 100
stack: 500
bet_sizes:
  river_oop: {bet: [33%, 75%, a], raise: [60%, a]}
  river_ip: {bet: [33%, 75%, a], raise: [60%, a]}
force_allin_threshold: 0.1
"""

from collections.abc import Mapping
from typing import Any

from allstreets.base import InputError, suggest
from allstreets.betting.rules import PlayerSizes, PostflopRules, StreetSizes
from allstreets.betting.sizes import SizesInput, read_share
from allstreets.betting.table import IP, OOP, Player, Street, street_of_board
from allstreets.cards import parse_board

# Keys of a spot that are rules under the same name.
OTHERS = (
    "add_allin_threshold",
    "force_allin_threshold",
    "merging_threshold",
    "rake_cap",
    "max_raises",
    "chips_per_bb",
    "grains",
)


def rules_from_spot(spot: Mapping[str, Any]) -> PostflopRules:
    """The rules that a spot file describes; keys that are not rules (ranges, name) are ignored.

    The board gives the street. `bet_sizes` has a key for each street and player, "river_oop", with
    the lists `bet`, `raise` and, for OOP, `donk`. Sizes of streets before the board's are ignored,
    so that a spot can be solved again from a later street. A list `donk` beside `bet_sizes` serves
    every later street that has none of its own. Where `chips_per_bb` says what a big blind is, a
    bet is at least one, unless `min_bet` names another amount.
    """
    for key in ("board", "pot", "stack", "bet_sizes"):
        if key not in spot:
            raise InputError(f"the spot has no {key}")
    street = street_of_board(parse_board(spot["board"]))
    min_bet = spot.get("min_bet")
    return PostflopRules(
        street=street,
        pot=spot["pot"],
        stack=spot["stack"],
        sizes=sizes_from_spot(spot["bet_sizes"], street, spot.get("donk")),
        rake=read_share("rake", spot.get("rake", 0.0)),
        min_bet=(spot.get("chips_per_bb") or 0) if min_bet is None else min_bet,
        **{key: spot[key] for key in OTHERS if key in spot},
    )


def sizes_from_spot(
    bet_sizes: Mapping[str, Any], first: Street, donk: SizesInput | None = None
) -> tuple[StreetSizes, ...]:
    """The sizes of the streets from `first` on out of a spot's `bet_sizes`."""
    keys = {
        f"{street.text}_{player.name.lower()}": (street, player)
        for street in Street
        if street != Street.PREFLOP
        for player in Player
    }
    if not isinstance(bet_sizes, Mapping):
        raise InputError("bet_sizes: write river_oop: {bet: [...], raise: [...]} and so on")
    for key in bet_sizes:
        if key not in keys:
            raise InputError(f"bet_sizes has an unknown key '{key}': {suggest(str(key), keys)}")
    by_player: dict[tuple[Street, Player], PlayerSizes] = {}
    for key, (street, player) in keys.items():
        if street < first:
            continue
        if key not in bet_sizes:
            raise InputError(
                f"bet_sizes has no {key}: write {key}: {{bet: [], raise: []}} if this player "
                f"never bets on the {street.text}"
            )
        leads = player == OOP and street > first
        by_player[street, player] = _player_sizes(key, bet_sizes[key], donk if leads else None)
    return tuple(
        (by_player[street, OOP], by_player[street, IP]) for street in Street if street >= first
    )


def _player_sizes(
    key: str, lists: Mapping[str, Any], default_donk: SizesInput | None
) -> PlayerSizes:
    known = ("bet", "raise", "donk")
    if not isinstance(lists, Mapping):
        raise InputError(f"bet_sizes {key}: write {{bet: [...], raise: [...]}}")
    for name in lists:
        if name not in known:
            raise InputError(
                f"bet_sizes {key} has an unknown key '{name}': {suggest(str(name), known)}"
            )
    donk = lists.get("donk")
    return PlayerSizes.parse(
        _given(lists, "bet"),
        _given(lists, "raise"),
        default_donk if donk is None else donk,
        key,
    )


def _given(lists: Mapping[str, Any], name: str) -> Any:
    """A list of sizes as given; one that is left out or left empty is the empty list."""
    value = lists.get(name)
    return () if value is None else value
