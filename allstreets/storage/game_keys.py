"""Which game a solution is of: what must be the same for two of them to be compared.

Locks of spots, and flops and cards of whole games, may differ: they are other answers to the same
question. A preflop solution and a whole game are compared by the betting before the flop alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allstreets.base import InputError
from allstreets.solvers import (
    PreflopResult,
    Spot,
    SpotResult,
    UnifiedGame,
    UnifiedResult,
    game_mapping,
    game_of,
    rules_mapping,
    rules_of,
    spot_mapping,
)
from allstreets.storage.manifest import folder_kind, read_manifest
from allstreets.storage.opening import Solution
from allstreets.storage.solution_files import facts_of
from allstreets.storage.spot_bundle import read_spot
from allstreets.subgames import CardModel

SHOWN = 60  # letters of a value in a message
LOCKS, BELOW = "locks", "flops and cards"

Keys = Mapping[str, Any]


@dataclass(frozen=True)
class GameKeys:
    """The game of a solution."""

    kind: str  # in words
    keys: Keys | None = None  # of a spot, or of betting before the flop; None: it has none of these
    after: Keys | None = None  # of betting after the flop, in whole games
    what: str = ""  # that may differ: LOCKS or BELOW
    free: Any = None  # this itself
    words: str = "none"  # and in words

    def apart(self, other: "GameKeys") -> dict[str, tuple[str, str]]:
        """The keys that make another one a different game, in both; none: it is the same."""
        if self.keys is None or other.keys is None or self.what != other.what:
            raise InputError(
                f"a {self.kind} and a {other.kind} cannot be compared: name two spots, or two "
                "preflop or whole games"
            )
        one, two = dict(self.keys), dict(other.keys)
        if self.after is not None and other.after is not None:
            one, two = {**one, **self.after}, {**two, **other.after}
        return {
            key: (_short(one.get(key)), _short(two.get(key)))
            for key in {**one, **two}
            if one.get(key) != two.get(key)
        }

    def notes(self, other: "GameKeys") -> tuple[str, ...]:
        """What else differs from one of the same game; an `InputError` if it is of another."""
        apart = self.apart(other)
        if apart:
            lines = [f"  {key}: {one} and {two}" for key, (one, two) in apart.items()]
            raise InputError("these are different games; they differ in\n" + "\n".join(lines))
        if self.free == other.free:
            return ()
        return (f"{self.what} differ: {_short(self.words)} and {_short(other.words)}",)


def game_keys(solution: Solution) -> GameKeys:
    """The game of a solution."""
    if isinstance(solution, SpotResult):
        return _of_spot(solution.spot)
    if isinstance(solution, UnifiedResult):
        return _of_game(solution.game, solution.cards)
    if isinstance(solution, PreflopResult):
        return GameKeys("preflop game", rules_mapping(solution.rules), what=BELOW)
    kinds = {"SpotSet": "set of spots", "FlopsResult": "model of flops"}
    return GameKeys(kinds[type(solution).__name__])


def stored_keys(folder: Path) -> GameKeys:
    """The game of the solution in a folder, by its manifest alone."""
    kind = folder_kind(folder)
    if kind == "spot":
        return _of_spot(read_spot(folder))
    if kind == "unified":
        manifest = read_manifest(folder, "unified")
        rows = manifest["flops"]
        flops, weights = [row["flop"] for row in rows], [row["weight"] for row in rows]
        cards = facts_of(manifest).cards or CardModel()
        return _of_game(game_of(manifest["game"], flops, weights), cards)
    if kind == "preflop":
        rules = rules_of(read_manifest(folder, "preflop")["game"]["preflop"])
        return GameKeys("preflop game", rules_mapping(rules), what=BELOW)
    return GameKeys("set of spots" if kind == "spots" else "model of flops")


def _of_spot(spot: Spot) -> GameKeys:
    keys = spot_mapping(spot)
    lock = keys.pop("lock", None)
    lines = dict.fromkeys(one.line.strip() for one in spot.lock)
    places = ", ".join(f"'{line}'" if line else "the first decision" for line in lines)
    words = f"{len(spot.lock)} at {places}" if spot.lock else "none"
    return GameKeys("spot", keys, what=LOCKS, free=lock, words=words)


def _of_game(game: UnifiedGame, cards: CardModel) -> GameKeys:
    keys = game_mapping(game)
    name, preflop = keys.pop("flop_set"), keys.pop("preflop")
    flops = tuple(flop.text for flop in game.flops.flops)
    words = f"{len(flops):,} flop{'s' * (len(flops) != 1)} ({name}), {cards}"
    return GameKeys("whole game", preflop, keys, BELOW, (flops, str(cards)), words)


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
