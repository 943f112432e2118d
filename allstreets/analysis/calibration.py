"""Corrections of what pots are worth, from flops that were also solved exactly.

A run knows what its pots are worth on each of its flops, by its own buckets. Of D flops the exact
values are known as well, and their difference, per opposing combo that a hand meets, is what the
run gets wrong. Differences vary from flop to flop, so they are regressed on two numbers that are
known on all flops, the combos met and the run's own value (`regressed_sums`).

What is left of the luck of the draw shows between the two halves of the flops, e and o: the
variance of a mean over all is near (e − o)² / 4. The corrections of a pot are shrunk by the share
of their mean square that is luck (James & Stein 1961), and are none where luck is all.

Both values are those of best responses, which win a little more than an equilibrium gives. Without
rake the corrections of a pot are shifted so that what one player gains by them the other loses.
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
    """Corrections, and how large they are, in chips for each opposing combo."""

    corrections: Floats  # [2, P, 169]
    errors: Floats  # [2, P, 169]: as measured, before they are shrunk and shifted
    played: Flags  # [P]: pots that are not off-path
    sizes: Floats  # [2, P]: root mean square of the errors over the hands
    luck: Floats  # [2, P]: of it, what the draw of the flops makes of it


def calibrated(
    reach: Floats,
    dealt: DealtPairs,
    weights: Floats,
    chosen: Sequence[int],
    own: Floats,
    exact: Floats,
    *,
    raked: bool,
) -> Calibrated:
    """Corrections for the reach [2, P, 169] of the pots.

    `own` [2, P, F, 169] is what a run makes of its F flops, which come by their `weights` [F] and
    are `dealt` so; `exact` [D, 2, P, 169] is what the `chosen` ones are worth with real cards.
    Off-path pots have no corrections: nobody is there for whom they could be solved.
    """
    opponent = reach[::-1]
    met = np.stack([dealt.met(flop, opponent) for flop in chosen])  # [D, 2, P, 169]
    met_by_all = opponent @ dealt.sum(weights)
    mine = own[:, :, list(chosen)].transpose(2, 0, 1, 3)
    known = np.stack([met, mine], axis=1)
    totals = np.stack([met_by_all, np.einsum("f,apfh->aph", weights, own)])
    difference = exact - mine

    def correction(draws: slice) -> Floats:
        shares = np.full(len(chosen), 0.0)
        shares[draws] = weights.sum() / len(shares[draws])
        sums = regressed_sums(shares, difference, known, totals)
        return np.divide(sums, met_by_all, out=np.zeros_like(sums), where=met_by_all > 0)

    whole, first, second = (
        correction(part) for part in (slice(None), slice(0, None, 2), slice(1, None, 2))
    )
    sizes, luck = (_mean_over_hands(squares) for squares in (whole**2, (first - second) ** 2 / 4))
    kept = np.clip(1 - np.divide(luck, sizes, out=np.ones_like(luck), where=sizes > 0), 0, 1)
    played = np.array([is_reached(pot) for pot in _mean_over_hands(reach).T.tolist()])
    corrections = whole * (kept * played)[..., None]
    if not raked:
        pairs = reach * met_by_all
        total = np.einsum("aph,aph->p", pairs, corrections)
        mass = pairs.sum(axis=(0, 2))
        shift = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
        corrections -= (shift * played)[:, None]
    return Calibrated(corrections, whole, played, np.sqrt(sizes), np.sqrt(luck))


def _mean_over_hands(values: Floats) -> Floats:
    """[2, P]: the mean of [2, P, 169] over all combos."""
    mean: Floats = values @ HAND_SIZES / HAND_SIZES.sum()
    return mean
