"""A slow solver of matrix games: recursion over the tree, dense matrices, no shared code."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind

Array = NDArray[np.float64]


@dataclass
class NaiveStage:
    """Dense matrices of one stage."""

    streets: tuple[int, ...]
    pairs: Array  # [H, H]
    margin: Array  # [H, H]
    down: Array | None = None


@dataclass
class NaiveGame:
    """Regrets and sums of strategies by node, [A, H] each."""

    tree: BettingTree
    payoffs: Array
    stages: list[NaiveStage]
    regrets: dict[int, Array] = field(default_factory=dict)
    sums: dict[int, Array] = field(default_factory=dict)
    ahead: float = 0.0  # how far values go over to what new regrets will play

    def stage(self, node: int) -> NaiveStage:
        """The stage of a node."""
        street = self.tree.street[node]
        return next(stage for stage in self.stages if street in stage.streets)

    def strategy(self, node: int, table: dict[int, Array]) -> Array:
        """Positive parts, normalised; at a locked node what it says."""
        actions = len(self.tree.children_of(node))
        hands = len(self.stage(node).pairs)
        if node in self.tree.locks:
            return np.array([[chance] * hands for chance in self.tree.locks[node]])
        stored = np.maximum(table.setdefault(node, np.zeros((actions, hands))), 0)
        out = np.full((actions, hands), 1 / actions)
        for hand in range(hands):
            if stored[:, hand].sum() > 0:
                out[:, hand] = stored[:, hand] / stored[:, hand].sum()
        return out

    def step(
        self,
        player: int,
        other: Array,
        factors: tuple[float, float, float, float],
        clip: bool = False,
    ) -> Array:
        """One half-iteration; factors are those on R⁺, R⁻, S and the weight of the strategy."""
        least = max(0.01 * other.max(), 1e-9)
        return self._walk(0, player, other, "update", factors, clip, least)

    def judge(self, player: int, other: Array, best: bool) -> Array:
        """Values of the best response to, or of, the average strategies."""
        mode = "best" if best else "evaluate"
        return self._walk(0, player, other, mode, (1, 1, 1, 0), False, 0.0)

    def _walk(
        self,
        node: int,
        player: int,
        other: Array,
        mode: str,
        factors: tuple[float, float, float, float],
        clip: bool,
        least: float,
    ) -> Array:
        tree, stage = self.tree, self.stage(node)
        kind = tree.kind[node]
        win, _, loss = self.payoffs[node, player]
        if kind == NodeKind.FOLD:
            return np.asarray(win * (stage.pairs @ other))
        if kind == NodeKind.SHOWDOWN:
            shares = (stage.margin + stage.pairs) / 2  # pairs times equity
            return np.asarray(win * (shares @ other) + loss * ((stage.pairs - shares) @ other))
        children = [int(child) for child in tree.children_of(node)]
        rest = (mode, factors, clip, least)
        if kind == NodeKind.CHANCE:
            below = self.stage(children[0])
            if below is stage:
                return self._walk(children[0], player, other, *rest)
            assert below.down is not None
            return below.down @ self._walk(children[0], player, other @ below.down, *rest)
        table = self.regrets if mode == "update" else self.sums
        chances = self.strategy(node, table)
        if tree.player[node] != player:
            parts = [
                self._walk(child, player, other * chances[a], *rest)
                for a, child in enumerate(children)
            ]
            if mode == "update" and node not in tree.locks:
                self.strategy(node, self.sums)  # makes the entry
                sums = self.sums[node]
                sums[:] = factors[2] * sums + factors[3] * chances * (other + least)
            return np.asarray(np.sum(parts, axis=0))
        values = np.array([self._walk(child, player, other, *rest) for child in children])
        locked = node in tree.locks
        if mode == "best" and not locked:
            return np.asarray(values.max(axis=0))
        value: Array = (chances * values).sum(axis=0)
        if mode == "update" and not locked:
            regrets = self.regrets[node]
            regrets *= np.where(regrets > 0, factors[0], factors[1])
            regrets += values - value
            if clip:
                np.maximum(regrets, 0, out=regrets)
            then: Array = (self.strategy(node, self.regrets) * values).sum(axis=0)
            learned = np.maximum(regrets, 0).sum(axis=0) > 0
            value = np.where(learned, value + self.ahead * (then - value), value)
        return value
