"""Locks of a whole game from frequencies, or as it plays.

Before the flop the strategy of the solution is changed as little as it takes, over all hands that
get there, each counted as often as it meets the other player's range (`spot.frequencies`), and
rounded so that the frequency stays.
Decisions are locked from the root on, so that a range that a lock has changed is the one that gets
to the next. On the flop a lock names frequencies and solution, and is spread over the hands of
every flop when the game is solved (`frequency_locks_by_flop`).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import BIG_BLINDS, action_text
from allstreets.cards import HAND_OF_COMBO, Range
from allstreets.games import Bound, GameNode, Lock, WholeGame, limits, smallest_change
from allstreets.solvers.spot.even_rounding import evenly_rounded
from allstreets.solvers.whole_game.result import UnifiedResult

DIGITS = 7  # of locked probabilities: more would only make texts long


def observed_game_locks(
    result: UnifiedResult, bounds: Sequence[Bound], folder: str
) -> tuple[Lock, ...]:
    """Locks that take every action as often as the bounds say; `folder` has the solution."""
    found: dict[str, tuple[GameNode, list[Bound]]] = {}
    for bound in bounds:
        place = result.game.node_at(bound.line, bound.where)
        found.setdefault(place.line, (place, []))[1].append(bound)
    before, locks = result.before, list[Lock]()
    # Nodes stand in pre-order: a decision comes after those that lead to it.
    for place, some in sorted(found.values(), key=lambda one: one[0].order):
        least, most = limits(place.tree, place.node, some, BIG_BLINDS)
        if place.root is not None:
            shares = {bound.action: bound.text for bound in some}
            locks.append(Lock(place.line, frequencies=shares, solution=folder))
            continue
        shown = before.node(place.node)
        if not shown.own.weights.any():
            raise InputError(
                f"{some[0].where}: no hand of {shown.seat} gets to '{place.line}', so nothing is "
                "taken there so often"
            )
        weights = shown.own.weights
        changed = smallest_change(shown.strategy, weights, least, most)
        changed = evenly_rounded(changed, weights, np.arange(len(weights)), _in_digits)
        lock, played = _played(place, changed)
        before = replace(before, strategies={**before.strategies, place.node: played})
        locks.append(lock)
    return tuple(locks)


def lock_game_as_played(result: UnifiedResult, line: str, folder: str) -> Lock:
    """What the whole range plays at a decision of the solution in `folder`."""
    place = result.game.node_at(line, f"line '{line}'")
    if place.root is not None:
        return Lock(place.line, solution=folder)
    return _played(place, result.before.strategies[place.node])[0]


def with_game_locks(game: WholeGame, locks: Sequence[Lock]) -> WholeGame:
    """The game with more locks, in place of those that it has at the same lines."""

    def line(lock: Lock) -> str:
        return game.node_at(lock.line, f"lock '{lock.line}'").line

    taken = {line(lock) for lock in locks}
    kept = (lock for lock in game.lock if line(lock) not in taken)
    return replace(game, lock=(*kept, *locks))


def _played(place: GameNode, strategy: Floats) -> tuple[Lock, Floats]:
    """A lock of a decision before the flop to a strategy [A, 169], and what it plays."""
    even = _in_digits(strategy)
    words = [action_text(action, BIG_BLINDS) for action in place.tree.actions_at(place.node)]
    ranges = {
        word: str(Range(row[HAND_OF_COMBO]))
        for word, row in zip(words, even, strict=True)
        if row.any()
    }
    return Lock(place.line, ranges=ranges), even


def _in_digits(strategy: Floats) -> Floats:
    """A strategy [A, H] as texts of ranges have it."""
    even = np.round(strategy, DIGITS)
    # What rounding has lost goes to the action that is taken most.
    even[even.argmax(axis=0), np.arange(even.shape[1])] += 1 - even.sum(axis=0)
    rounded: Floats = np.clip(np.round(even, DIGITS), 0.0, 1.0)
    return rounded
