"""The one idea: a subgame is a function from both players' reach to counterfactual values.

Everything below the preflop tree is a subgame. Reach may be different at every call, since the
ranges that get to a subgame change while the game above it is solved.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import Player
from allstreets.cfr.schedules import Multipliers

Reach = NDArray[np.float64]  # [H]: one number for each of a player's hands at the root
Values = NDArray[np.float64]  # [H]: Σ over the other's hands of his reach · result in chips


class Subgame(Protocol):
    """What a solver asks of the game below one of its leaves."""

    def step(self, player: Player, own: Reach, other: Reach, now: Multipliers) -> Values:
        """One half-iteration of CFR: the player's values, his regrets and average updated."""

    def best_response(self, player: Player, other: Reach) -> Values:
        """Values of the best response to the other player's average strategy."""

    def evaluate(self, player: Player, other: Reach) -> Values:
        """Values when both play their average strategies."""
