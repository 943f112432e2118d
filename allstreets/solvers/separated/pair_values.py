"""What pairs of hands are worth after the flop, by models of single flops.

A *model* is every flop of a set solved at one stack-to-pot ratio (SPR) with full ranges. On flop f
it says which share v_f[h, o] of the pot OOP gets on average when he holds h and IP holds o. Before
the flop neither player knows which one comes, so values are means over the flops, by the pairs of
combos that are dealt there:

    W[h, o] = Σ_f w_f · W_f[h, o]
    V[h, o] = Σ_f w_f · W_f[h, o] · v_f[h, o] / W[h, o]

w_f is the weight of a flop, W_f the pairs of combos that fit beside it and each other. IP gets the
rest of the pot: models know no rake.

A pot of the preflop tree takes the model of the nearest SPR: the one with the smallest ratio of the
larger SPR to the smaller, and of two that are as near the lower. Shares are scaled by the pot.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError
from allstreets.betting import FlopPot
from allstreets.cards import HAND_COUNT, FlopSet, hand_pairs, preflop_equity

EVEN = 0.5
"""What stands for pairs of hands that cannot meet on any flop."""


@dataclass(frozen=True, eq=False)
class PairValues:
    """M models as they look from before the flop."""

    sprs: tuple[float, ...]  # [M]
    pairs: Floats  # [169, 169] W, scaled to as many as are dealt before the flop
    shares: Floats  # [M, 169, 169] V: OOP's hand by row, IP's by column

    def __post_init__(self) -> None:
        nearest_spr(self.sprs, 1.0)

    def model_of(self, pot: FlopPot) -> int:
        """The model that a pot takes."""
        return nearest_spr(self.sprs, pot.spr)

    def chips(self, pots: Sequence[FlopPot]) -> Floats:
        """[P, 169, 169]: OOP's results against half the pot, in chips, over all pairs of combos."""
        models = [self.model_of(pot) for pot in pots]
        amounts = np.array([pot.pot for pot in pots], np.float64)
        antes = np.array([pot.bb_ante / 2 for pot in pots])  # what OOP has put in beyond his half
        totals: Floats = amounts[:, None, None] * self.pairs * (self.shares[models] - EVEN)
        totals -= antes[:, None, None] * self.pairs
        return totals

    @property
    def digest(self) -> str:
        """Identifies a table: a hash of all numbers."""
        found = hashlib.sha256(repr(self.sprs).encode())
        found.update(np.ascontiguousarray(self.pairs).tobytes())
        found.update(np.ascontiguousarray(self.shares).tobytes())
        return found.hexdigest()[:16]


def nearest_spr(sprs: Sequence[float], spr: float) -> int:
    """The place of the nearest SPR by ratio; of two that are as near, of the lower.

    >>> nearest_spr((1.0, 4.0, 9.0), 2.1), nearest_spr((1.0, 4.0, 9.0), 2.0)
    (1, 0)
    """
    if not len(sprs) or min(sprs) <= 0:
        raise InputError(f"SPRs {list(sprs)}: models of flops need at least one, all above 0")
    gaps = [(max(spr / one, one / spr), one, place) for place, one in enumerate(sprs)]
    return min(gaps)[2]


def mean_over_flops(
    flops: FlopSet, models: Mapping[float, Iterable[NDArray[np.floating[Any]]]]
) -> PairValues:
    """The values before the flop of models, by SPR.

    A model gives OOP's shares [169, 169] on one flop after the other, in the order of the set, so
    that no more than one flop has to be in memory.
    """
    sprs = tuple(models)
    pairs = np.zeros((HAND_COUNT, HAND_COUNT))
    totals = np.zeros((len(sprs), HAND_COUNT, HAND_COUNT))
    shares = zip(*models.values(), strict=True)
    for flop, weight, by_model in zip(flops.flops, flops.weights, shares, strict=True):
        weights = weight * hand_pairs(flop.cards)
        pairs += weights
        for model, share in enumerate(by_model):
            totals[model] += weights * share
    return from_totals(sprs, pairs, totals)


def from_totals(sprs: tuple[float, ...], pairs: Floats, totals: Floats) -> PairValues:
    """The values whose sums over pairs of combos are `totals` [M, 169, 169]."""
    met = np.broadcast_to(pairs > 0, totals.shape)
    shares = np.divide(totals, pairs, out=np.full_like(totals, EVEN), where=met)
    scale = preflop_equity().pairs.sum() / pairs.sum()
    return PairValues(sprs, pairs * scale, shares)
