"""The result of a hand without most of its luck, unbiased: AIVAT.

Burch, Schmid, Moravčík, Morrill and Bowling, "AIVAT: A New Variance Reduction Technique for Agent
Evaluation in Imperfect Information Games" (AAAI 2018). Two ideas:

1. *Corrections.* Where chance or a player with a known strategy has a choice, every outcome x has a
known probability P(x), and a guess v(x) of the hand's value after it. The correction Σ P(x) v(x) −
v(taken) has mean 0 for any v; the better v is, the more of the luck of this choice it removes.
2. *Other hands.* A player whose strategy is known would have played this way with other cards too.
So the result of a hand is its mean over all the hands that both players may have, given the public
actions and cards, and P(x) is the probability given only those.

A player whose strategy is not known has only his actual hand, and his choices have no corrections.

    hand = Corrected(meets, reach)
    hand.dealt(chances, values, taken)           # a card, or a flop
    hand.acted(player, strategy, evs, taken)     # a decision of a known player
    result = hand.result(value)                  # `value` of both ranges where the hand has ended
"""

from collections.abc import Callable

import numpy as np

from allstreets.base import Floats
from allstreets.betting import Player

Meets = Callable[[Floats], Floats]
"""A reach [H] of one player → [H]: the part of it compatible with each hand of the other."""


class Corrected:
    """The ranges in a hand so far, and the corrections; results are those of OOP."""

    def __init__(self, meets: Meets, reach: tuple[Floats, Floats]) -> None:
        """`reach` [H] of both, and the reach that each hand meets."""
        self.meets = meets
        self.reach = [each.astype(np.float64) for each in reach]
        self.total = 0.0

    def weights(self, player: Player) -> Floats:
        """[H]: the weight of every hand of a player, in pairs with all hands of the other."""
        return self.reach[player] * self.meets(self.reach[player.opponent])

    def mean(self, player: Player, values: Floats) -> float:
        """The mean of values [H] over the hands of a player."""
        weights = self.weights(player)
        return float(weights @ values / weights.sum())

    def acted(self, player: Player, strategy: Floats, evs: Floats | None, taken: int) -> None:
        """A known player has acted: `strategy` [A, H], and EVs [A, H] to him, NaN: not known."""
        if evs is not None:
            joint = strategy * self.weights(player)  # [A, H]
            known = np.where(np.isfinite(evs), joint, 0.0)
            worth, sizes = (known * np.nan_to_num(evs)).sum(axis=1), known.sum(axis=1)
            if sizes.any():
                # An action without a known EV counts as the mean of the others.
                mean = worth.sum() / sizes.sum()
                values = np.divide(worth, sizes, out=np.full(len(sizes), mean), where=sizes > 0)
                sign = 1 if player == Player.OOP else -1
                self.dealt(joint.sum(axis=1), sign * values, taken)
        self.reach[player] = self.reach[player] * strategy[taken]

    def dealt(self, chances: Floats, values: Floats, taken: int) -> None:
        """An outcome [X] was drawn by its chance; `values` are guesses of their values to OOP."""
        self.total += float(chances @ values / chances.sum()) - float(values[taken])

    def blocked(self, meets: Meets, live: Floats) -> None:
        """Cards were dealt: remove hands that contain one, and update the pairs."""
        self.meets = meets
        self.reach = [each * live for each in self.reach]

    def result(self, value: float) -> float:
        """The corrected result, if the hand is worth `value` to OOP with both ranges."""
        return value + self.total
