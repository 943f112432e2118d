"""The 169 hands against each other on a flop, over every turn and river, counted exactly.

The margin M[h, o] is Σ over all pairs of combos of h and o that fit, and over their 990 runouts,
of +1 for each that h wins and −1 for each that it loses. A sum over a whole hand does not change
when suits are renamed. So runouts that become each other by a renaming which leaves the flop as it
is are dealt once and weighted: 733 boards per flop on average instead of 1,176.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from allstreets.base import Bytes, Floats, Ints, Longs, Singles
from allstreets.cards.combos import COMBO_CARDS, live_combos
from allstreets.cards.evaluator import combo_strengths
from allstreets.cards.hands import HAND_COUNT, HAND_OF_COMBO
from allstreets.cards.isomorphism import COMBO_PERMUTATIONS
from allstreets.cards.kernels.class_wins import ROW_LENGTH, add_class_wins
from allstreets.cards.runouts import board_symmetries

RUNOUTS = comb(52 - 3 - 4, 2)  # 990 for any two combos that fit


@dataclass(frozen=True, eq=False)
class FlopMatchups:
    """The 169 × 169 hands on a flop: everything a showdown between hands needs.

    Two hands meet in `pairs[h, o]` ways, each with `runouts` runouts, and of all these h wins
    `margins[h, o]` more than it loses. A flop with its suits renamed has the same numbers.
    """

    pairs: Longs  # W [169, 169]: pairs of combos that fit, symmetric
    margins: Ints  # M [169, 169]: wins − losses of the row, antisymmetric
    runouts: int = RUNOUTS

    @property
    def margin(self) -> Singles:
        """[169, 169]: Σ over the pairs of (share of the pot won − share lost), M / runouts."""
        return (self.margins / self.runouts).astype(np.float32)

    @property
    def equity(self) -> Floats:
        """E [169, 169]: the row's mean share of the pot, E + Eᵀ = 1; NaN where no pair fits.

        With an ace on the flop two players cannot both hold AA: W and M are 0, and any number for
        E would look like a fact.
        """
        with np.errstate(invalid="ignore"):
            return (1.0 + self.margins / (self.runouts * self.pairs)) / 2.0


def count_margins(flop: Sequence[int]) -> Ints:
    """M [169, 169] of any three cards, in some hundredths of a second."""
    boards, weights = _weighted_boards(flop)
    combos = np.flatnonzero(live_combos(tuple(flop)))
    cards = COMBO_CARDS[combos]
    wins = np.zeros((HAND_COUNT, ROW_LENGTH), np.int32)
    add_class_wins(combo_strengths(boards, cards), weights, cards, HAND_OF_COMBO[combos], wins)
    won = wins[:, :HAND_COUNT]
    return won - won.T


def _weighted_boards(flop: Sequence[int]) -> tuple[Bytes, Ints]:
    """Boards [B, 5] that no renaming which keeps the flop makes equal, and their weights [B].

    Turn and river are two cards in no order: a combo, for which the renamings are known.
    """
    rest = np.flatnonzero(live_combos(tuple(flop)))
    symmetries = list(board_symmetries(flop, ()))
    smallest = COMBO_PERMUTATIONS[symmetries][:, rest].min(axis=0)  # names each class
    representatives, weights = np.unique(smallest, return_counts=True)
    boards = np.empty((len(representatives), 5), np.uint8)
    boards[:, :3] = flop
    boards[:, 3:] = COMBO_CARDS[representatives]
    return boards, weights.astype(np.int32)
