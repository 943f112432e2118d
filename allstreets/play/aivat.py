"""The result of a hand without most of its luck, unbiased: AIVAT.

Burch, Schmid, Moravčík, Morrill and Bowling, "AIVAT: A New Variance Reduction Technique for Agent
Evaluation in Imperfect Information Games" (AAAI 2018). Two ideas:

1. *Corrections.* Where chance or a player with a known strategy has a choice, every outcome x has a
   known probability P(x), and some guess v(x) of what the hand is worth after it. The correction
   Σ P(x) v(x) − v(taken) has mean 0, whatever v is; the better v is, the more it takes away of the
   luck of this choice.
2. *Other hands.* Somebody whose strategy is known would have played so with other cards too. So the
   result of a hand is its mean over all the hands that both players may hold after what everybody
   has seen, and P(x) is the probability given that alone.

A player whose strategy is not known has the one hand that he holds, and his choices have no
corrections.

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
"""A reach [H] of one player → [H]: how much of it fits beside each hand of the other."""


class Corrected:
    """The ranges in a hand so far, and the corrections; results are those of OOP."""

    def __init__(self, meets: Meets, reach: tuple[Floats, Floats]) -> None:
        """`reach` [H] of both, and what each hand meets of the other's."""
        self.meets = meets
        self.reach = [each.astype(np.float64) for each in reach]
        self.total = 0.0

    def weights(self, player: Player) -> Floats:
        """[H]: the weight of every hand of a player, in pairs with all of the other's."""
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
                # An action of which nothing is known counts as the mean of the others.
                mean = worth.sum() / sizes.sum()
                values = np.divide(worth, sizes, out=np.full(len(sizes), mean), where=sizes > 0)
                sign = 1 if player == Player.OOP else -1
                self.dealt(joint.sum(axis=1), sign * values, taken)
        self.reach[player] = self.reach[player] * strategy[taken]

    def dealt(self, chances: Floats, values: Floats, taken: int) -> None:
        """An outcome [X] was drawn by its chance; `values` to OOP guess what each is worth."""
        self.total += float(chances @ values / chances.sum()) - float(values[taken])

    def blocked(self, meets: Meets, live: Floats) -> None:
        """Cards have come: hands that hold one are gone, and others meet."""
        self.meets = meets
        self.reach = [each * live for each in self.reach]

    def result(self, value: float) -> float:
        """The corrected result, where the hand is worth `value` to OOP with both ranges."""
        return value + self.total
