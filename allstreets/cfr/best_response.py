"""Best response and exploitability, exact, for any game.

1. Turn the opponent's strategy into reach: one number for each of his lines.
2. Multiply by the player's payoff matrix: each of his actions gets what it earns at the terminals
right below it.
3. Going up the player's own tree, take the action with the largest value at each information set,
where a value sums over all histories of the set. So the choice depends only on what the player
knows; a response that chose history by history would see the opponent's cards, and its
   value would not go to 0 at equilibrium.

Exploitability is the mean of what both players gain by best responses, NashConv / 2.

A strategy is a readable table (information set → action → probability), or probabilities by slot,
[K]; axis letters are those of `game`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, InputError, Ints, Longs, suggest
from allstreets.cfr.game import FIRST, SECOND, TERMINAL, FlatGame, Game, compile_game
from allstreets.cfr.kernels.tabular import respond, spread_reach
from allstreets.cfr.sequence_form import SequenceForm, sequence_form

StrategyTable = Mapping[str, Mapping[str, float]]

TOLERANCE = 1e-6  # how far the probabilities of one set may be from 1 in sum


@dataclass(frozen=True)
class BestResponse:
    """The most that a player can get against a fixed opponent, and how."""

    value: float  # to the player
    actions: dict[str, str]  # information set → best action, the first where several are best


def best_response(
    game: Game | SequenceForm, strategies: StrategyTable, player: int
) -> BestResponse:
    """The best that `player` can do against the opponent's part of `strategies`."""
    form = compiled(game)
    flat = form.game
    value, choice = _respond(form, player, reach_of(form, from_table(flat, strategies)))
    sets = range(flat.set_start[player], flat.set_start[player + 1])
    return BestResponse(value, {flat.keys[i]: flat.actions[i][choice[i]] for i in sets})


def exploitability(game: Game | SequenceForm, strategies: StrategyTable) -> float:
    """Mean gain of both players' best responses to `strategies`, in the game's unit."""
    form = compiled(game)
    return exploitability_of(form, from_table(form.game, strategies))


def game_value(game: Game | SequenceForm, strategies: StrategyTable) -> float:
    """The first player's mean win when both play `strategies`."""
    form = compiled(game)
    return game_value_of(form, from_table(form.game, strategies))


def compiled(game: Game | SequenceForm) -> SequenceForm:
    """The game in sequence form, compiled now unless it is already."""
    return game if isinstance(game, SequenceForm) else sequence_form(compile_game(game))


def exploitability_of(form: SequenceForm, probabilities: Floats) -> float:
    """Exploitability of a strategy by slot, [K]."""
    reach = reach_of(form, probabilities)
    # What the two earn without deviating cancels: the game is zero-sum.
    return sum(_respond(form, player, reach)[0] for player in (FIRST, SECOND)) / 2


def game_value_of(form: SequenceForm, probabilities: Floats) -> float:
    """The first player's mean win under a strategy by slot, [K]."""
    flat = form.game
    reach = reach_of(form, probabilities)[form.lane]
    terminals = flat.actor == TERMINAL
    # `reach` ends with the 1 of a player who has not acted, which is where NOWHERE = −1 points.
    chance = flat.chance_reach[terminals] * reach[flat.last_slot[:, terminals]].prod(axis=0)
    return float(np.sum(chance * flat.utility[terminals]))


def reach_of(form: SequenceForm, probabilities: Floats) -> Floats:
    """[K + 1] both players' reach by lane, for a strategy by slot, [K]."""
    tables = form.empty_tables()
    strategy = form.to_lanes(probabilities)
    for player in (FIRST, SECOND):
        spread_reach(form.layout, player, strategy, tables.reach, tables.set_value)
    return tables.reach


def _respond(form: SequenceForm, player: int, reach: Floats) -> tuple[float, Longs]:
    """The value of the best response to `reach`, and its action at each of the player's sets."""
    choice = np.zeros(len(form.game.keys), dtype=np.int64)
    return respond(form.layout, player, reach, np.zeros(form.game.slots + 1), choice), choice


def normalised(sums: Floats, slot_start: Ints) -> Floats:
    """[K] each set's share of its sum; uniform where nothing has been added yet."""
    counts = np.diff(slot_start)
    if not len(counts):
        return sums.copy()
    totals = np.repeat(np.add.reduceat(sums, slot_start[:-1]), counts)
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
                f"the strategy has no entry for information set {key!r} of {game.name}: "
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
