"""Which pairs of combos are dealt on each flop, by class, without writing out a matrix per flop.

W_f = n nᵀ − N Nᵀ + diag(n), where n counts a class's combos beside the flop and N those that hold
each card; a model without card removal between the players deals n nᵀ.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats
from allstreets.cards import hand_cards, hand_combos


@dataclass(frozen=True, eq=False)
class DealtPairs:
    """The pairs of combos of F flops."""

    combos: Floats  # [F, 169] n
    cards: Floats | None  # [F, 169, 52] N; None: no card removal between the players

    @classmethod
    def of(cls, flops: Sequence[tuple[int, ...]], *, removal: bool = True) -> "DealtPairs":
        """Of flops given by their cards."""
        combos = np.array([hand_combos(flop) for flop in flops], np.float64)
        if not removal:
            return cls(combos, None)
        return cls(combos, np.array([hand_cards(flop) for flop in flops], np.float64))

    @property
    def flops(self) -> int:
        """F."""
        return len(self.combos)

    def sum(self, weights: Floats) -> Floats:
        """[169, 169]: Σ over flops of weight · W_f."""
        total: Floats = (self.combos.T * weights) @ self.combos
        if self.cards is not None:
            by_card = self.cards.transpose(0, 2, 1).reshape(-1, self.combos.shape[1])
            total -= (by_card.T * np.repeat(weights, self.cards.shape[2])) @ by_card
            total += np.diag(weights @ self.combos)
        return total

    def matrix(self, flop: int) -> Floats:
        """[169, 169]: W of one flop."""
        combos = self.combos[flop]
        found: Floats = np.outer(combos, combos)
        if self.cards is not None:
            found += np.diag(combos) - self.cards[flop] @ self.cards[flop].T
        return found

    def met(self, flop: int, reach: Floats) -> Floats:
        """[169]: W of one flop · reach [169], the combos of each class with those beside them."""
        combos = self.combos[flop]
        found: Floats = combos * (combos @ reach)
        if self.cards is not None:
            found += combos * reach - self.cards[flop] @ (reach @ self.cards[flop])
        return found

    def reached(self, player_reach: Floats, opponent_reach: Floats) -> Floats:
        """[F]: Σ over the pairs of each flop of both players' reaches, [169] each."""
        found: Floats = (self.combos @ player_reach) * (self.combos @ opponent_reach)
        if self.cards is not None:
            found += self.combos @ (player_reach * opponent_reach)
            found -= np.einsum("fc,fc->f", player_reach @ self.cards, opponent_reach @ self.cards)
        return found
