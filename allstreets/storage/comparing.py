"""Comparing two solutions of the same game, by their folders or as they were loaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allstreets.base import InputError
from allstreets.solvers import (
    Comparison,
    PreflopResult,
    SpotResult,
    UnifiedResult,
    compare_decisions,
    game_mapping,
    rules_mapping,
    spot_mapping,
)
from allstreets.storage.opening import Solution, load

SHOWN = 60  # letters of a value in a message


def compare(
    first: "Solution | Path | str",
    second: "Solution | Path | str",
    line: str = "",
    flop: str | None = None,
) -> Comparison:
    """The decision of a line in two solutions of the same spot, or of the same whole game.

    Locks, and the flops and cards of whole games, may differ; `notes` says so. Solutions of
    different games are an `InputError` that says what differs. `flop` is that of a line of a
    whole game that names none.
    """
    one = load(first) if isinstance(first, Path | str) else first
    other = load(second) if isinstance(second, Path | str) else second
    if isinstance(one, SpotResult) and isinstance(other, SpotResult):
        if flop is not None:
            raise InputError("--flop is for whole games: these are spots")
        there, here = spot_mapping(one.spot), spot_mapping(other.spot)
        notes = _notes("locks", there.pop("lock", None), here.pop("lock", None))
        _require_same(there, here)
        return compare_decisions(one.node(line), other.node(line), notes)
    if isinstance(one, PreflopResult) and isinstance(other, PreflopResult):
        whole = isinstance(one, UnifiedResult) and isinstance(other, UnifiedResult)
        there, here = _game(one, whole), _game(other, whole)
        notes = _notes("locks", there.pop("lock", None), here.pop("lock", None))
        _require_same(there, here)
        notes += _notes("flops and cards", _after(one), _after(other))
        return compare_decisions(one.node(line, flop), other.node(line, flop), notes)
    raise InputError(
        f"a {_kind(one)} and a {_kind(other)} cannot be compared: name two spots, or two preflop "
        "or whole games"
    )


def _game(result: PreflopResult, whole: bool) -> dict[str, Any]:
    """The rules, of betting before the flop alone where one of two solutions has no other."""
    if whole and isinstance(result, UnifiedResult):
        keys = game_mapping(result.game)
        del keys["flop_set"]  # flops may differ
        return {**keys.pop("preflop"), **keys}
    return rules_mapping(result.rules)


def _after(result: PreflopResult) -> str:
    """What stands below the flop, in words."""
    if not isinstance(result, UnifiedResult):
        return "none"
    return f"{len(result.game.flops.flops):,} flops ({result.game.flops.name}), {result.cards}"


def _notes(what: str, one: Any, other: Any) -> tuple[str, ...]:
    if one == other:
        return ()
    return (f"{what} differ: {_short(one)} and {_short(other)}",)


def _require_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    if keys:
        lines = [f"  {key}: {_short(one.get(key))} and {_short(other.get(key))}" for key in keys]
        raise InputError("these are different games; they differ in\n" + "\n".join(lines))


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _kind(result: object) -> str:
    kinds = {"SpotResult": "spot", "TrimmedResult": "spot", "SpotSet": "set of spots"}
    kinds |= {"FlopsResult": "model of flops", "PreflopResult": "preflop game"}
    return kinds.get(type(result).__name__, "whole game")
