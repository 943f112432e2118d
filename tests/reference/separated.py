"""The separated pipeline in loops over hands, combos and lines: slow, and sharing no code."""

from collections.abc import Sequence
from itertools import combinations
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind
from allstreets.cards import HAND_NAMES

Array = NDArray[np.float64]
Factors = tuple[float, float, float, float, bool]  # on R⁺, R⁻, S; weight of the strategy; clip

OOP, IP = 0, 1
RANKS = "23456789TJQKA"


def combos_of(hand: int) -> list[tuple[int, int]]:
    """The combos of a hand, out of its name."""
    name = HAND_NAMES[hand]
    high, low = (RANKS.index(letter) for letter in name[:2])
    if high == low:
        return [(4 * high + a, 4 * high + b) for a, b in combinations(range(4), 2)]
    suits = [(a, b) for a in range(4) for b in range(4) if (a == b) == (name[2] == "s")]
    return [(4 * high + a, 4 * low + b) for a, b in suits]


def mean_of_pair(
    flops: Sequence[tuple[tuple[int, ...], float]], values: Sequence[Array], hand: int, other: int
) -> tuple[float, float]:
    """(pairs of combos, mean value) of two hands over flops, deal by deal."""
    pairs = total = 0.0
    for (flop, weight), value in zip(flops, values, strict=True):
        for mine in combos_of(hand):
            for theirs in combos_of(other):
                if len({*flop, *mine, *theirs}) == 7:
                    pairs += weight
                    total += weight * float(value[hand, other])
    return pairs, total / pairs if pairs else 0.5


def nearest(sprs: Sequence[float], spr: float) -> float:
    """The nearest SPR in logarithms."""
    return min(sorted(sprs), key=lambda one: round(exp(abs(log(one) - log(spr))), 9))


class NaiveSeparated:
    """CFR before the flop by recursion, one hand at a time.

    `shares` gives OOP's share of the pot [169][169] at every node that sees a flop.
    """

    def __init__(
        self, tree: BettingTree, pairs: Array, equity: Array, shares: dict[int, Array]
    ) -> None:
        self.tree, self.pairs, self.equity, self.shares = tree, pairs, equity, shares
        self.regrets: dict[tuple[int, int], list[float]] = {}  # (node, hand) → by action
        self.sums: dict[tuple[int, int], list[float]] = {}

    def strategy(
        self, table: dict[tuple[int, int], list[float]], node: int, hand: int
    ) -> list[float]:
        """Positive numbers as shares of their sum, even where there are none."""
        actions = len(self.tree.children_of(node))
        positive = [max(number, 0.0) for number in table.get((node, hand), [0.0] * actions)]
        if sum(positive) == 0:
            return [1 / actions] * actions
        return [number / sum(positive) for number in positive]

    def result(self, node: int, player: int, hand: int) -> Array:
        """[169]: what a hand gets against every other hand where the hand ends, a pair."""
        tree = self.tree
        put_in = [float(chips) for chips in tree.invested[node]]
        if tree.kind[node] == NodeKind.FOLD:
            folder = int(tree.player[node])
            return np.full(169, -put_in[folder] if folder == player else put_in[1 - player])
        if tree.kind[node] == NodeKind.SHOWDOWN:
            return np.asarray(2 * put_in[player] * self.equity[hand] - put_in[player])
        pot = sum(put_in)
        shares = self.shares[node]
        mine = shares[hand] if player == OOP else 1 - shares[:, hand]
        return np.asarray(pot * mine - put_in[player])

    def step(self, player: int, factors: Factors) -> list[float]:
        """A half-iteration; values of the root."""
        return self._walk(0, player, [1.0] * 169, factors, best=False)

    def best_value(self, player: int) -> float:
        """The best response to the other's average, a pair of combos."""
        values = self._walk(0, player, [1.0] * 169, None, best=True)
        return sum(values) / float(self.pairs.sum())

    def _walk(
        self, node: int, player: int, other: list[float], factors: Factors | None, *, best: bool
    ) -> list[float]:
        tree = self.tree
        if tree.kind[node] != NodeKind.DECISION:
            return [
                float(sum(np.array(other) * self.pairs[hand] * self.result(node, player, hand)))
                for hand in range(169)
            ]
        children = [int(child) for child in tree.children_of(node)]
        places = range(len(children))
        table = self.regrets if factors else self.sums
        chances = [self.strategy(table, node, hand) for hand in range(169)]
        if tree.player[node] != player:
            below = []
            for place in places:
                reach = [other[hand] * chances[hand][place] for hand in range(169)]
                below.append(self._walk(children[place], player, reach, factors, best=best))
            if factors:
                for hand in range(169):
                    old = self.sums.get((node, hand), [0.0] * len(children))
                    gained = [factors[3] * c * (other[hand] + 0.01) for c in chances[hand]]
                    self.sums[node, hand] = [
                        factors[2] * a + b for a, b in zip(old, gained, strict=True)
                    ]
            return [sum(part[hand] for part in below) for hand in range(169)]
        below = [self._walk(child, player, other, factors, best=best) for child in children]
        found = []
        for hand in range(169):
            mine = [part[hand] for part in below]
            if best:
                found.append(max(mine))
                continue
            value = sum(c * v for c, v in zip(chances[hand], mine, strict=True))
            found.append(value)
            if factors:
                old = self.regrets.get((node, hand), [0.0] * len(children))
                new = [
                    r * (factors[0] if r > 0 else factors[1]) + v - value
                    for r, v in zip(old, mine, strict=True)
                ]
                self.regrets[node, hand] = [max(r, 0.0) if factors[4] else r for r in new]
        return found
