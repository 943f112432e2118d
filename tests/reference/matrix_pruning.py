"""Pruning in the slow solver of matrix games: the rule for blocks of hands, hand by hand."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from reference.matrix import Array, NaiveGame

from allstreets.betting import NodeKind

BLOCK = 16

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Rule:
    """One half-iteration."""

    positive: float  # factors on R⁺, R⁻ and S, and the weight of the strategy
    negative: float
    average: float
    weight: float
    threshold: float
    floor: float = np.inf


@dataclass
class PrunedNaiveGame(NaiveGame):
    """After a step, `wanted` says for whom each own node was looked at, `out` what was left out."""

    wanted: dict[int, Marks] = field(default_factory=dict)  # [H]
    out: dict[int, Marks] = field(default_factory=dict)  # [A, H], all True where not wanted

    def pruned_step(
        self, player: int, other: Array, rule: Rule, asked: Marks | None = None
    ) -> Array:
        """One half-iteration for the hands `asked` [H] for."""
        self.wanted, self.out = {}, {}
        least = max(0.01 * other.max(), 1e-9)
        if asked is None:
            asked = np.ones(len(other), bool)
        return self._go(0, player, other, asked, rule, least)

    def left_out(self) -> int:
        """How many (own action, block of hands) the last step did not look at."""
        return sum(int(out[:, ::BLOCK].sum()) for out in self.out.values())

    def _go(
        self, node: int, player: int, other: Array, asked: Marks, rule: Rule, least: float
    ) -> Array:
        tree, stage = self.tree, self.stage(node)
        win, _, loss = self.payoffs[node, player]
        if tree.kind[node] == NodeKind.FOLD:
            return np.where(asked, win * (stage.pairs @ other), 0)
        if tree.kind[node] == NodeKind.SHOWDOWN:
            half = (win - loss) / 2 * (stage.margin @ other)
            return np.where(asked, half + (win + loss) / 2 * (stage.pairs @ other), 0)
        children = [int(child) for child in tree.children_of(node)]
        if tree.kind[node] == NodeKind.CHANCE:
            below = self.stage(children[0])
            if below is stage:
                return self._go(children[0], player, other, asked, rule, least)
            assert below.down is not None
            everyone = np.full(len(below.pairs), bool(asked.any()))
            found = self._go(children[0], player, other @ below.down, everyone, rule, least)
            return np.where(asked, below.down @ found, 0)
        chances = self.strategy(node, self.regrets)
        if tree.player[node] != player:
            value = np.zeros(len(other))
            for a, child in enumerate(children):
                value += self._go(child, player, other * chances[a], asked, rule, least)
            self.strategy(node, self.sums)  # makes the entry
            old = rule.average * self.sums[node]
            self.sums[node] = old + rule.weight * chances * (other + least)
            return value
        out = self._left_out_at(node, asked, rule.threshold)
        self.wanted[node], self.out[node] = asked, out
        values = np.zeros_like(chances)
        for a, child in enumerate(children):
            values[a] = self._go(child, player, other, asked & ~out[a], rule, least)
        value = (chances * values).sum(axis=0)
        regrets = self.regrets[node]
        for a in range(len(children)):
            for hand in np.flatnonzero(asked):
                kept = regrets[a, hand] * (rule.positive if regrets[a, hand] > 0 else rule.negative)
                if not out[a, hand]:
                    kept += values[a, hand] - value[hand]
                regrets[a, hand] = max(kept, -rule.floor)
        return np.where(asked, value, 0)

    def _left_out_at(self, node: int, asked: Marks, threshold: float) -> Marks:
        """[A, H]: sixteen hands at a time, actions that none plays or that are not wanted."""
        regrets = self.regrets[node]
        present: list[bool] = np.asarray(self.stage(node).pairs.any(axis=1)).tolist()
        out = np.zeros(regrets.shape, bool)
        for first in range(0, len(asked), BLOCK):
            block = range(first, min(first + BLOCK, len(asked)))
            for a in range(len(regrets)):
                out[a, block] = not asked[first] or all(
                    not present[hand]
                    or (regrets[a, hand] < threshold and regrets[:, hand].max() > 0)
                    for hand in block
                )
        return out
