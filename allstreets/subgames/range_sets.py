"""Pots that begin with similar ranges share the groups of their river boards.

Groups are made for the ranges that start a pot. Every set of groups takes memory on every flop,
so the pots are put together into a few, those first whose ranges differ least.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.cards import HAND_COUNT, HAND_SIZES

Floats = NDArray[np.float64]

MOST_SETS = 3


@dataclass(frozen=True, eq=False)
class RangeSets:
    """S pairs of ranges, and which of them each pot goes by."""

    ranges: Floats  # [S, 2, 169]: each player's largest weight is 1
    of_pot: tuple[int, ...]  # [P]


def range_sets(ranges: Floats | None, pots: int, most: int = MOST_SETS) -> RangeSets:
    """Put pots together by the ranges [2, P, 169] that start them; without ranges all are one."""
    if ranges is None or pots == 0:
        return RangeSets(np.ones((1, 2, HAND_COUNT)), (0,) * pots)
    combos = ranges * HAND_SIZES
    size = combos.sum(axis=2)  # [2, P]
    shares = combos / np.maximum(size, 1e-300)[..., None]
    mass = size.prod(axis=0)  # pairs of hands that start the pot
    mass = np.maximum(mass / mass.sum() if mass.sum() > 0 else mass + 1.0, 1e-6)
    members = [[pot] for pot in range(pots)]
    means = [shares[:, pot] for pot in range(pots)]
    while len(members) > most:
        weights = [mass[pots_].sum() for pots_ in members]
        cost = np.full((len(members), len(members)), np.inf)
        for a in range(len(members)):
            for b in range(a + 1, len(members)):
                # What goes wrong by the common mean: Ward's distance.
                share = weights[a] * weights[b] / (weights[a] + weights[b])
                cost[a, b] = share * np.abs(means[a] - means[b]).sum()
        a, b = divmod(int(np.argmin(cost)), len(members))
        total = weights[a] + weights[b]
        means[a] = (weights[a] * means[a] + weights[b] * means[b]) / total
        members[a] += members[b]
        del members[b], means[b]
    of_pot = [0] * pots
    for number, pots_ in enumerate(members):
        for pot in pots_:
            of_pot[pot] = number
    found = np.stack(means) / HAND_SIZES
    largest = found.max(axis=2, keepdims=True)
    found = np.where(largest > 0, found / np.where(largest > 0, largest, 1.0), 1.0)
    return RangeSets(found, tuple(of_pot))
