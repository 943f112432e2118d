"""A slow unified solver: recursion over the preflop tree, loops over flops, dense matrices.

Above the flop it shares no code with the solver: strategies and sums are dictionaries, and the
player who is to act is asked hand by hand. Below it is `NaiveGame`, one for every pot and flop.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from reference.matrix import NaiveGame, NaiveStage

from allstreets.betting import BettingTree, NodeKind

Array = NDArray[np.float64]
Factors = tuple[float, float, float, float]  # on R⁺, R⁻ and S, and the weight of the strategy

HANDS = 169
PAIRS_IN_ALL = 1326 * 1225
NOBODY = 1e-12  # who plays to a pot less often than this is not there


@dataclass
class NaiveUnified:
    """Regrets and sums by preflop decision, [A, 169] each, and the games below."""

    tree: BettingTree
    payoffs: Array  # [N, 2, 3]
    pots: Sequence[tuple[int, BettingTree, Array]]  # preflop leaf, tree and payoffs after the flop
    flops: Sequence[NaiveStage]
    weights: Sequence[float]
    equity: Array  # [169, 169] all-in before the flop
    regrets: dict[int, Array] = field(default_factory=dict)
    sums: dict[int, Array] = field(default_factory=dict)
    told: dict[int, dict[int, Array]] = field(default_factory=dict)  # decision → hand → [A]

    def __post_init__(self) -> None:
        dealt = sum(
            w * stage.pairs.sum() for w, stage in zip(self.weights, self.flops, strict=True)
        )
        self.weights = [weight * PAIRS_IN_ALL / dealt for weight in self.weights]
        self.pairs = sum(
            (w * stage.pairs for w, stage in zip(self.weights, self.flops, strict=True)),
            np.zeros((HANDS, HANDS)),
        )
        self.games = {
            (node, flop): NaiveGame(tree, results, [stage])
            for node, tree, results in self.pots
            for flop, stage in enumerate(self.flops)
        }
        self.visits = [0] * len(self.flops)
        self.last: dict[tuple[int, int, int], Array] = {}  # by player, pot and flop

    def chances(self, table: dict[int, Array], node: int) -> Array:
        """[A, 169]: positive parts, normalised; even where there are none."""
        actions = len(self.tree.children_of(node))
        stored = table.setdefault(node, np.zeros((actions, HANDS)))
        found = np.zeros((actions, HANDS))
        for hand in range(HANDS):
            positive = [max(number, 0.0) for number in stored[:, hand].tolist()]
            total = sum(positive)
            for action in range(actions):
                found[action, hand] = positive[action] / total if total > 0 else 1 / actions
        for hand, chances in self.told.get(node, {}).items():
            found[:, hand] = chances
        return found

    def half(
        self,
        player: int,
        now: Factors,
        by_visit: Sequence[Factors],
        clip: bool,
        flops: Sequence[int],
        inclusion: Sequence[float],
    ) -> Array:
        """Half an iteration on some flops, each with its chance of being looked at; root values.

        `by_visit[n]` are the factors of a flop's visit n + 1.
        """
        if player == 0:
            for flop in flops:
                self.visits[flop] += 1

        def leaf(node: int, other: Array) -> Array:
            # What the flops were worth last, and the change of some of them blown up.
            total = np.zeros(HANDS)
            for flop, weight in enumerate(self.weights):
                before = self.last.get((player, node, flop), np.zeros(HANDS))
                total += weight * before
                if flop not in flops:
                    continue
                new = np.zeros(HANDS)
                if other.max() > NOBODY:
                    factors = by_visit[self.visits[flop] - 1]
                    new = self.games[node, flop].step(player, other, factors, clip)
                chance = inclusion[list(flops).index(flop)]
                total += weight / chance * (new - before)
                self.last[player, node, flop] = new
            return total

        def walk(node: int, other: Array) -> Array:
            kind = self.tree.kind[node]
            if kind != NodeKind.DECISION:
                return (
                    leaf(node, other) if kind == NodeKind.CHANCE else self.end(node, player, other)
                )
            children = [int(child) for child in self.tree.children_of(node)]
            strategy = self.chances(self.regrets, node)
            if self.tree.player[node] != player:
                parts = [walk(c, other * strategy[a]) for a, c in enumerate(children)]
                self.chances(self.sums, node)  # makes the entry
                for action in range(len(children)):
                    sums = self.sums[node][action]
                    sums *= now[2]
                    sums += now[3] * strategy[action] * (other + 0.01)
                return np.asarray(np.sum(parts, axis=0))
            values = np.array([walk(child, other) for child in children])
            value = np.zeros(HANDS)
            for action in range(len(children)):
                value += strategy[action] * values[action]
            regrets = self.regrets[node]
            for action in range(len(children)):
                for hand in range(HANDS):
                    old = regrets[action, hand]
                    kept = old * (now[0] if old > 0 else now[1])
                    kept += values[action, hand] - value[hand]
                    regrets[action, hand] = max(kept, 0.0) if clip else kept
            return value

        return walk(0, np.ones(HANDS))

    def end(self, node: int, player: int, other: Array) -> Array:
        """Values where the hand ends before the flop."""
        win, _, loss = self.payoffs[node, player]
        if self.tree.kind[node] == NodeKind.FOLD:
            return np.asarray(win * (self.pairs @ other))
        shares = self.pairs * self.equity
        return np.asarray(win * (shares @ other) + loss * ((self.pairs - shares) @ other))

    def judge(self, player: int, before: bool, after: bool) -> float:
        """Mean result in chips of average strategies, or of a best response to them.

        The player may choose again `before` the flop, `after` it, or both.
        """

        def walk(node: int, other: Array) -> Array:
            kind = self.tree.kind[node]
            if kind == NodeKind.CHANCE:
                return np.asarray(
                    sum(
                        weight * self.games[node, flop].judge(player, other, best=after)
                        for flop, weight in enumerate(self.weights)
                    )
                )
            if kind != NodeKind.DECISION:
                return self.end(node, player, other)
            children = [int(child) for child in self.tree.children_of(node)]
            strategy = self.chances(self.sums, node)
            if self.tree.player[node] != player:
                parts = [walk(c, other * strategy[a]) for a, c in enumerate(children)]
                return np.asarray(np.sum(parts, axis=0))
            values = np.array([walk(child, other) for child in children])
            if before:
                best = np.asarray(values.max(axis=0))
                for hand, chances in self.told.get(node, {}).items():
                    best[hand] = sum(chances[a] * values[a, hand] for a in range(len(children)))
                return best
            return np.asarray((strategy * values).sum(axis=0))

        return float(walk(0, np.ones(HANDS)).sum()) / PAIRS_IN_ALL
