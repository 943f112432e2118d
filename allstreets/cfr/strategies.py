"""Strategies in their three forms: sums, probabilities by slot, and tables that a person reads.

Axis letters as in `flat`: I information sets, K slots.
"""

from collections.abc import Mapping

import numpy as np

from allstreets.base import Floats, InputError, suggest
from allstreets.cfr.game import FlatGame

# Information set → action → probability.
StrategyTable = Mapping[str, Mapping[str, float]]

TOLERANCE = 1e-6  # how far the probabilities of one set may be from 1 in sum


def normalised(game: FlatGame, sums: Floats) -> Floats:
    """[K] each set's share of its sum; uniform where nothing has been added yet."""
    counts = np.diff(game.slot_start)
    if not len(counts):
        return sums.copy()
    totals = np.repeat(np.add.reduceat(sums, game.slot_start[:-1]), counts)
    uniform = 1.0 / np.repeat(counts, counts)
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), uniform)


def as_table(game: FlatGame, probabilities: Floats) -> dict[str, dict[str, float]]:
    """Probabilities by slot as information set → action → probability."""
    numbers = probabilities.tolist()
    return {
        key: dict(zip(labels, numbers[begin : begin + len(labels)], strict=True))
        for key, labels, begin in zip(game.keys, game.actions, game.slot_start, strict=False)
    }


def from_table(game: FlatGame, table: StrategyTable) -> Floats:
    """[K] a strategy table as probabilities by slot; every information set must be in it."""
    probabilities: list[float] = []
    for key, labels in zip(game.keys, game.actions, strict=True):
        row = table.get(key)
        if row is None:
            raise InputError(
                f"the strategy says nothing about information set {key!r} of {game.name}: "
                "give every set its probabilities"
            )
        unknown = next((label for label in row if label not in labels), None)
        if unknown is not None:
            raise InputError(
                f"information set {key!r} has no action {unknown!r}: {suggest(unknown, labels)}"
            )
        numbers = [float(row.get(label, 0.0)) for label in labels]
        if not all(number >= 0 for number in numbers) or abs(sum(numbers) - 1) > TOLERANCE:
            raise InputError(
                f"the probabilities of information set {key!r} are {numbers}: "
                "they must not be negative and must sum to 1"
            )
        probabilities += numbers
    return np.array(probabilities)


def entropy(game: FlatGame, probabilities: Floats) -> float:
    """Mean entropy over the sets with a choice, each in units of its maximum: 0 pure, 1 uniform."""
    counts = np.diff(game.slot_start)
    if not np.any(counts > 1):
        return 0.0
    logarithms = np.log(np.where(probabilities > 0, probabilities, 1.0))
    by_set = -np.add.reduceat(probabilities * logarithms, game.slot_start[:-1])
    choice = counts > 1
    return float(np.mean(by_set[choice] / np.log(counts[choice])))


def largest_by_set(game: FlatGame, by_slot: Floats) -> Floats:
    """[I] the largest entry of each set."""
    if not len(game.keys):
        return np.zeros(0)
    return np.maximum.reduceat(by_slot, game.slot_start[:-1])
