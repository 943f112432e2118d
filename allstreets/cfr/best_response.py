"""Best response and exploitability, exact, for any game.

1. Bring the opponent's strategy into the form of reach: one number for each of his lines.
2. Multiply by the player's payoff matrix: what each of his own actions earns at the ends below it.
3. Up the player's own tree take at each information set the action with the largest value, where a
   value sums over all histories of the set. So the choice depends on what the player knows and on
   nothing else; a response that chose history by history would see the opponent's cards, and its
   value would not go to 0 at equilibrium.

Exploitability is the mean of what both players gain by best responses, NashConv / 2.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats
from allstreets.cfr.game import FIRST, SECOND, TERMINAL, Game, compile_game
from allstreets.cfr.kernels.tabular import respond, spread_reach
from allstreets.cfr.sequence_form import SequenceForm, sequence_form
from allstreets.cfr.strategies import StrategyTable, from_table


@dataclass(frozen=True)
class BestResponse:
    """What a player can get against a fixed opponent, and how."""

    value: float  # to the player
    actions: dict[str, str]  # information set → best action, the first where several are best


def best_response(
    game: Game | SequenceForm, strategies: StrategyTable, player: int
) -> BestResponse:
    """The best that `player` can do against the opponent's part of `strategies`."""
    form = compiled(game)
    flat = form.game
    reach = reach_of(form, from_table(flat, strategies))
    choice = np.zeros(len(flat.keys), dtype=np.int64)
    value = respond(form.layout, player, reach, np.zeros(flat.slots + 1), choice)
    sets = range(flat.set_start[player], flat.set_start[player + 1])
    return BestResponse(value, {flat.keys[i]: flat.actions[i][choice[i]] for i in sets})


def exploitability(game: Game | SequenceForm, strategies: StrategyTable) -> float:
    """Mean gain of both players' best responses to `strategies`, in the game's unit."""
    form = compiled(game)
    return exploitability_of(form, from_table(form.game, strategies))


def game_value(game: Game | SequenceForm, strategies: StrategyTable) -> float:
    """What the first player wins on average when both play `strategies`."""
    form = compiled(game)
    return game_value_of(form, from_table(form.game, strategies))


def compiled(game: Game | SequenceForm) -> SequenceForm:
    """The game in sequence form, compiled now unless it is already."""
    return game if isinstance(game, SequenceForm) else sequence_form(compile_game(game))


def exploitability_of(form: SequenceForm, probabilities: Floats) -> float:
    """Exploitability of a strategy that is given by slot, [K]."""
    reach = reach_of(form, probabilities)
    choice = np.zeros(len(form.game.keys), dtype=np.int64)
    gains = [
        respond(form.layout, player, reach, np.zeros(form.game.slots + 1), choice)
        for player in (FIRST, SECOND)
    ]
    # What the two earn without deviating cancels: the game is zero-sum.
    return float(sum(gains)) / 2


def game_value_of(form: SequenceForm, probabilities: Floats) -> float:
    """The first player's expected win under a strategy that is given by slot, [K]."""
    flat = form.game
    reach = reach_of(form, probabilities)[form.lane]
    ends = flat.actor == TERMINAL
    # `reach` ends with the 1 of a player who has not acted, which is where NOWHERE = −1 points.
    probability = flat.chance_reach[ends] * reach[flat.last_slot[:, ends]].prod(axis=0)
    return float(np.sum(probability * flat.utility[ends]))


def reach_of(form: SequenceForm, probabilities: Floats) -> Floats:
    """[K + 1] both players' reach by lane, for a strategy that is given by slot, [K]."""
    tables = form.empty_tables()
    strategy = form.to_lanes(probabilities)
    for player in (FIRST, SECOND):
        spread_reach(form.layout, player, strategy, tables.reach, tables.set_value)
    return tables.reach
