"""Corrections of the values of pots, from flops that are also solved exactly.

A run values its pots on its own flops, with its own buckets. On D flops the exact values are known
as well. The value of a pot to a hand, per opposing combo that it meets, is estimated from these:
exact values vary from flop to flop, so they are regressed on two numbers that are known on all
flops, the combos met and a *likeness* of the value (`regressed_sums`). The likeness is the run's
own value where corrections are for its own flops, and a draft where they are for all 1,755: then
they also correct the error of the choice of flops. The correction is the estimate less the run's
own value.

The two halves of the flops, e and o, show the sampling error: the variance of a mean over all is
near (e − o)² / 4. The corrections of a pot are shrunk by the share of their mean square that is
sampling error (James & Stein 1961), and are 0 where all of it is.

Both values are those of best responses, which win a little more than in equilibrium. Without rake
the corrections of a pot are shifted so that one player's gain is the other's loss.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.analysis.certificate_figures import regressed_sums
from allstreets.base import Flags, Floats
from allstreets.cards import HAND_SIZES
from allstreets.engines import DealtPairs
from allstreets.solutions import is_reached

FEWEST = 8  # flops: each half of them must give a regression


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Corrections and their size, in chips for each opposing combo."""

    corrections: Floats  # [2, P, 169]
    errors: Floats  # [2, P, 169]: as measured, before they are shrunk and shifted
    played: Flags  # [P]: pots that are not off-path
    sizes: Floats  # [2, P]: root mean square of the errors over the hands
    luck: Floats  # [2, P]: the part of it that is sampling error


@dataclass(frozen=True, eq=False)
class Likeness:
    """Combos met and likenesses of values: on the D flops solved exactly, and summed over all."""

    known: Floats  # [D, 2, 2, P, 169]
    totals: Floats  # [2, 2, P, 169]
    weight: float  # of all flops together

    @classmethod
    def of(
        cls,
        reach: Floats,
        dealt: DealtPairs,
        weights: Floats,
        values: Floats,
        chosen: Sequence[int] = (),
    ) -> "Likeness":
        """The errors of F flops by `weights` [F], `values` [F, 2, P, 169], D of them `chosen`."""
        opponent = reach[::-1]
        met = np.array([dealt.met(flop, opponent) for flop in chosen]).reshape(-1, *reach.shape)
        known = np.stack([met, values[list(chosen)]], axis=1)
        totals = np.stack(
            [opponent @ dealt.sum(weights), np.einsum("f,faph->aph", weights, values)]
        )
        return cls(known, totals, float(weights.sum()))

    @property
    def means(self) -> Floats:
        """[2, P, 169]: the mean likeness per combo met."""
        return _per_combo(self.totals[1], self.totals[0])

    def means_like(self, exact: Floats, draws: slice) -> Floats:
        """[2, P, 169]: means of values that are known only on some of the D flops."""
        shares = np.zeros(len(exact))
        shares[draws] = self.weight / len(shares[draws])
        sums = regressed_sums(shares, exact, self.known, self.totals)
        return _per_combo(sums, self.totals[0])


def calibrated(
    reach: Floats, own: Likeness, likeness: Likeness, exact: Floats, *, raked: bool
) -> Calibrated:
    """Corrections for the reach [2, P, 169] of the pots.

    `own` are the run's values of its flops, `exact` [D, 2, P, 169] those with real cards, and
    `likeness` the numbers known of these and of all flops: `own` itself where corrections are for
    the flops of the run. Off-path pots have no corrections: there are no ranges to solve them for.
    """
    parts = (slice(None), slice(0, None, 2), slice(1, None, 2))
    whole, first, second = (likeness.means_like(exact, part) - own.means for part in parts)
    sizes, luck = (_mean_over_hands(squares) for squares in (whole**2, (first - second) ** 2 / 4))
    kept = np.clip(1 - np.divide(luck, sizes, out=np.ones_like(luck), where=sizes > 0), 0, 1)
    played = np.array([is_reached(pot) for pot in _mean_over_hands(reach).T.tolist()])
    corrections = whole * (kept * played)[..., None]
    if not raked:
        pairs = reach * own.totals[0]
        total = np.einsum("aph,aph->p", pairs, corrections)
        mass = pairs.sum(axis=(0, 2))
        shift = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
        corrections -= (shift * played)[:, None]
    return Calibrated(corrections, whole, played, np.sqrt(sizes), np.sqrt(luck))


def _per_combo(sums: Floats, met: Floats) -> Floats:
    means: Floats = np.divide(sums, met, out=np.zeros_like(sums), where=met > 0)
    return means


def _mean_over_hands(values: Floats) -> Floats:
    """[2, P]: the mean of [2, P, 169] over all combos."""
    mean: Floats = values @ HAND_SIZES / HAND_SIZES.sum()
    return mean
