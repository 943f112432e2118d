"""Features of a flop for the 169 hands, in numbers whose sums over the flops decide play before it.

For a hand h and a range r of the opponent, with the pairs W and the margins M of the flop:

    P = W·r                          pairs of combos that fit: how often the hand meets the range
    G = M·r                          pots won from it
    G² / P                           how far it is ahead or behind, whichever: what can be bet
    P · max(±G / P − 0.4, 0)         how often it is far ahead, or far behind

Each is divided by √(Σ of P over all flops), so that rare hands and narrow ranges do not count more
than they are dealt. Counts of textures do not do that: flops of one texture differ too much.
"""

from functools import cache

import numpy as np

from allstreets.base import Floats
from allstreets.cards.equity import preflop_equity
from allstreets.cards.flop_tables import flop_table
from allstreets.cards.flops import FLOP_COUNT, Flop, all_flops
from allstreets.cards.hands import HAND_COUNT, hand_pairs

FAR = 0.4  # pots won a pair: an equity of 70 %
CUTS = (0.5, 0.25, 0.12)  # of all combos: a wide, a usual and a narrow range


def opponent_ranges() -> Floats:
    """[R, 169]: everything, the best hands, those without the very best, and a polarised range.

    Hands are ordered by their equity against all.
    """
    equity = preflop_equity()
    combos = equity.pairs.sum(axis=1)
    strength = (equity.equity * equity.pairs).sum(axis=1) / combos
    order = np.argsort(-strength)
    before = np.zeros(HAND_COUNT)
    before[order] = (np.cumsum(combos[order]) - combos[order]) / combos.sum()
    best = [(before < cut).astype(np.float64) for cut in CUTS]
    capped = best[0] - best[-1]
    polarised = np.maximum(best[-1], (np.abs(before - 0.6) < 0.08).astype(np.float64))
    return np.array([np.ones(HAND_COUNT), *best, capped, polarised])


def hand_features(flop: Flop, ranges: Floats) -> Floats:
    """[5, 169, R]: P, G and what is made of them, of every hand against ranges [R, 169]."""
    pairs = hand_pairs(flop.cards) @ ranges.T
    margin = flop_table().margin(flop.number) @ ranges.T
    ahead = margin / np.maximum(pairs, 1.0)  # whole numbers; nothing is won where they are 0
    far = [pairs * np.maximum(sign * ahead - FAR, 0.0) for sign in (1, -1)]
    return np.stack([pairs, margin, margin * ahead, *far])


@cache
def flop_features() -> Floats:
    """[1755, D]: the features of every flop, for one of the deals that it stands for."""
    ranges = opponent_ranges()
    found = np.stack([hand_features(flop, ranges) for flop in all_flops()])
    dealt = np.array([flop.multiplicity for flop in all_flops()], np.float64)
    totals = np.einsum("f,fhr->hr", dealt, found[:, 0])
    features: Floats = (found / np.sqrt(totals)).reshape(FLOP_COUNT, -1)
    features.setflags(write=False)
    return features
