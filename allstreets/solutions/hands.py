"""One player's hands at a place of a solution, and means over them."""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, Longs, Pair, quotient
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO


@dataclass(frozen=True, eq=False)
class Hands:
    """One player's hands at a place."""

    combos: Longs | None  # [H]: which combos they are, 0 … 1325; None: the 169 classes
    counts: Floats  # [H]: how many combos each stands for on this board
    reach: Floats  # [H]: range weight times the player's own actions so far
    weights: Floats  # [H]: pairs of combos, own and any of the other's, that get here
    start: float  # combos of the starting range that this board leaves
    cell_weights: Pair | None = None  # for means over a class's combos, and of EVs; None: reach

    @property
    def classes(self) -> Longs:
        """[H]: the class of each hand."""
        if self.combos is None:
            return np.arange(HAND_COUNT)
        return HAND_OF_COMBO[self.combos].astype(np.int64)

    @property
    def size(self) -> float:
        """How many combos get here by the player's own actions."""
        return float(self.reach @ self.counts)

    def mean(self, values: Floats, taken: Floats | None = None) -> float:
        """The mean of values [H] over the range as it meets the other's.

        `taken` [H]: over the part of each hand that takes an action.
        """
        weights = self.weights if taken is None else self.weights * np.nan_to_num(taken)
        live = (weights > 0) & np.isfinite(values)
        total = float(weights[live].sum())
        return float(values[live] @ weights[live]) / total if total > 0 else float("nan")

    def cells(self, values: Floats, *, evs: bool = False) -> Floats:
        """[169]: values [H] averaged over the combos of each class; NaN where there are none."""
        if self.combos is None:
            return values
        weights = self.reach if self.cell_weights is None else self.cell_weights[int(evs)]
        live = np.where(np.isfinite(values), weights, 0.0)
        sums = class_sums(self.classes, live * np.nan_to_num(values))
        return quotient(sums, class_sums(self.classes, live))


def class_sums(classes: Longs, values: Floats) -> Floats:
    """[169]: values [H] added up by class [H]."""
    return np.bincount(classes, values, minlength=HAND_COUNT).astype(np.float64)
