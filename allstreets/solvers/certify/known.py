"""What is known of every flop without playing it, for every hand in every pot.

    P = W · r      opposing combos that a hand meets, by the other player's reach r
    G = M · r      what it wins from them at showdown, in pots, without any betting
    G² / P         how far from even its pairs are: where betting is worth something

Sums of P and G over all flops are those before the flop. That of G² / P takes the matrices of all
1,755 flops, some seconds once these are stored.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from allstreets.cards import Flop, all_flops, flop_table, preflop_equity
from allstreets.subgames import DealtPairs

Floats = NDArray[np.float64]

CHUNK = 128  # flops whose pairs are in memory at a time


def known_numbers(flops: Sequence[Flop], reach: Floats, count: int) -> Floats:
    """[F, K, 2, P, 169]: the first `count` of the numbers above, for reach [2, P, 169]."""
    villain = reach[::-1]
    dealt = DealtPairs.of([flop.cards for flop in flops])
    found = np.zeros((len(flops), count, *reach.shape))
    for place, flop in enumerate(flops):
        met = found[place, 0] = villain @ dealt.matrix(place)
        if count > 1:
            won = found[place, 1] = villain @ flop_table().margin(flop.number).T
        if count > 2:
            np.divide(won**2, met, out=found[place, 2], where=met > 0)
    return found


def known_totals(dealt: Floats, reach: Floats, count: int) -> Floats:
    """[K, 2, P, 169]: their sums over all flops, where `dealt` [169, 169] pairs are dealt."""
    villain = reach[::-1]
    sums = [villain @ dealt]
    if count > 1:
        sums.append(villain @ (dealt * (2 * preflop_equity().equity - 1)).T)
    if count > 2:
        met, _, curved = summed(all_flops(), reach)
        sums.append(curved * float(sums[0].sum()) / max(float(met.sum()), 1e-300))
    return np.stack(sums)


def summed(flops: Sequence[Flop], reach: Floats) -> Floats:
    """[3, 2, P, 169]: the sums of all three numbers over flops, each as often as it is dealt."""
    total = np.zeros((3, *reach.shape))
    for first in range(0, len(flops), CHUNK):
        part = flops[first : first + CHUNK]
        weights = np.array([flop.multiplicity for flop in part], np.float64)
        total += np.einsum("f,fkaph->kaph", weights, known_numbers(part, reach, 3))
    return total
