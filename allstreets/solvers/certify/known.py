"""What is known of every flop without playing it, for every hand in every pot.

    P = W · r      opposing combos that a hand meets, by the other player's reach r
    G = M · r      what it wins from them at showdown, in pots, without any betting
    V              what it is worth where hand classes play the flop (`class_values`)

Sums of P and G over all flops are those before the flop. V takes a solution of all 1,755 flops
with hand classes, half a minute or so.
"""

import math
from collections.abc import Sequence

import numpy as np

from allstreets.base import Floats
from allstreets.cards import Flop, all_flops, flop_table, preflop_equity
from allstreets.engines import DealtPairs

FLOPS_BESIDE_HANDS = math.comb(48, 3)  # dealt flops that fit beside any two hands: 17,296


def known_numbers(
    flops: Sequence[Flop], reach: Floats, count: int, played: Floats | None = None
) -> Floats:
    """[F, K, 2, P, 169]: the first `count` of the numbers above, for reach [2, P, 169].

    `played` [1755, 2, P, 169] are the third, by the numbers of the flops.
    """
    opponent_reach = reach[::-1]
    dealt = DealtPairs.of([flop.cards for flop in flops])
    found = np.zeros((len(flops), count, *reach.shape))
    for place, flop in enumerate(flops):
        found[place, 0] = opponent_reach @ dealt.matrix(place)
        if count > 1:
            found[place, 1] = opponent_reach @ flop_table().margin(flop.number).T
    if count > 2:
        assert played is not None
        found[:, 2] = played[[flop.number for flop in flops]]
    return found


def known_totals(dealt: Floats, reach: Floats, count: int, played: Floats | None = None) -> Floats:
    """[K, 2, P, 169]: their sums over all flops, where `dealt` [169, 169] pairs are dealt."""
    opponent_reach = reach[::-1]
    sums = [opponent_reach @ dealt]
    if count > 1:
        sums.append(opponent_reach @ (dealt * (2 * preflop_equity().equity - 1)).T)
    if count > 2:
        assert played is not None
        times = np.array([flop.multiplicity for flop in all_flops()], np.float64)
        on_flops = FLOPS_BESIDE_HANDS * float(preflop_equity().pairs.sum())
        sums.append(float(dealt.sum()) / on_flops * np.einsum("f,faph->aph", times, played))
    return np.stack(sums)
