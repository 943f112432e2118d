"""Pots that begin with similar ranges share the groups of their river boards.

Groups are made for the ranges that start a pot. Every set of groups takes memory on every flop,
so the pots are put together into a few, those first whose ranges differ least.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats
from allstreets.cards import HAND_COUNT, HAND_SIZES


@dataclass(frozen=True, eq=False)
class RangeSets:
    """S pairs of ranges, and which of them each pot goes by."""

    ranges: Floats  # [S, 2, 169]: each player's largest weight is 1
    of_pot: tuple[int, ...]  # [P]


def range_sets(ranges: Floats | None, pots: int, most: int) -> RangeSets:
    """Put pots together by the ranges [2, P, 169] that start them, in `most` sets at most.

    Without ranges all are one.
    """
    if ranges is None or pots == 0:
        return RangeSets(np.ones((1, 2, HAND_COUNT)), (0,) * pots)
    shares, mass = _shares(ranges), _masses(ranges)
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


def moved(before: RangeSets, after: RangeSets, ranges: Floats) -> float:
    """How far the ranges that pots go by have moved: 0, not at all, to 1, no combo in common.

    The mean over both players and all pots, which weigh as with the `ranges` [2, P, 169].
    """
    if not after.of_pot:
        return 0.0
    now, then = (_shares(sets.ranges[list(sets.of_pot)]) for sets in (after, before))
    apart = np.abs(now - then).sum(axis=2) / 2  # [P, 2]
    return float(np.average(apart.mean(axis=1), weights=_masses(ranges)))


def _shares(ranges: Floats) -> Floats:
    """[…, 169]: the classes' shares in the combos of ranges."""
    combos = ranges * HAND_SIZES
    shares: Floats = combos / np.maximum(combos.sum(axis=-1, keepdims=True), 1e-300)
    return shares


def _masses(ranges: Floats) -> Floats:
    """[P]: the pots' shares in the pairs of hands that start one, for ranges [2, P, 169]."""
    mass = (ranges * HAND_SIZES).sum(axis=2).prod(axis=0)
    share = mass / mass.sum() if mass.sum() > 0 else mass + 1.0
    masses: Floats = np.maximum(share, 1e-6)
    return masses
