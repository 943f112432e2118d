"""The game before the flop: its tree, the hands that are dealt, and its locks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from allstreets.base import Floats
from allstreets.betting import (
    BettingTree,
    FlopPot,
    NodeKind,
    Outcome,
    Player,
    PreflopRules,
    flop_pots,
    payoffs,
)
from allstreets.cards import HAND_COUNT, preflop_equity
from allstreets.games.locks import ClassLock

Strategies = dict[int, Floats]  # decision → [A, 169]


@dataclass(frozen=True, eq=False)
class PreflopGame:
    """The betting before the flop, and the worth of hands where it ends without one."""

    tree: BettingTree
    results: Floats  # [N, 2, 3]: `betting.payoffs`
    pots: tuple[FlopPot, ...]  # the leaves that see a flop
    pairs: Floats  # [169, 169] W: pairs of combos that are dealt
    margin: Floats  # [169, 169] M: Σ over these pairs of share won − share lost, all-in
    locks: Mapping[int, ClassLock] = field(default_factory=dict)  # by decision

    @classmethod
    def dealt(
        cls,
        tree: BettingTree,
        rules: PreflopRules,
        pairs: Floats,
        locks: Mapping[int, ClassLock] | None = None,
    ) -> "PreflopGame":
        """The game of a tree and its rules where `pairs` are dealt."""
        margin = pairs * (2 * preflop_equity().equity - 1)
        return cls(tree, payoffs(tree, rules), flop_pots(tree), pairs, margin, locks or {})

    @property
    def weight(self) -> float:
        """All pairs of combos: what values are divided by to be a mean over hands."""
        return float(self.pairs.sum())

    def reach(self, strategies: Strategies) -> Floats:
        """[N, 2, 169]: both players' probability of playing to each node, by hand."""
        tree = self.tree
        reach = np.ones((tree.node_count, 2, HAND_COUNT))
        for node in self.tree.decisions():
            children = tree.children_of(node)
            reach[children] = reach[node]
            reach[children, tree.player[node]] *= strategies[node]
        return reach

    def terminal_values(self, player: Player, opponent_reach: Floats) -> Floats:
        """[N, 169]: values where the hand ends before the flop; zeros elsewhere."""
        tree, results = self.tree, self.results[:, player]
        values = np.zeros((tree.node_count, HAND_COUNT))
        folds = np.flatnonzero(tree.kind == NodeKind.FOLD)
        shows = np.flatnonzero(tree.kind == NodeKind.SHOWDOWN)
        values[folds] = results[folds, Outcome.WIN, None] * (opponent_reach[folds] @ self.pairs)
        win, loss = results[shows, Outcome.WIN], results[shows, Outcome.LOSE]
        values[shows] = ((win - loss) / 2)[:, None] * (opponent_reach[shows] @ self.margin.T)
        values[shows] += ((win + loss) / 2)[:, None] * (opponent_reach[shows] @ self.pairs)
        return values

    def pot_reach(self, strategies: Strategies) -> Floats:
        """[2, P, 169]: both players' reach at the pots that see a flop."""
        reach = self.reach(strategies)[[pot.node for pot in self.pots]]
        return reach.transpose(1, 0, 2)

    def held(self, node: int, strategy: Floats) -> Floats:
        """[A, 169]: a strategy at a decision, with locked hands playing their locks."""
        lock = self.locks.get(node)
        return strategy if lock is None else np.where(lock.held, lock.strategy, strategy)

    def values(
        self, player: Player, leaf_values: Floats, *, best: bool, strategies: Strategies
    ) -> Floats:
        """[N, 169]: values when the opponent plays `strategies`; the player too, or his best.

        `leaf_values` [P, 169] are those of the pots that see a flop. Locked hands have no choice.
        """
        tree = self.tree
        reach = self.reach(strategies)
        values = self.terminal_values(player, reach[:, player.opponent])
        values[[pot.node for pot in self.pots]] = leaf_values
        for node in reversed(tree.decisions()):
            below = values[tree.children_of(node)]
            if tree.player[node] != player:
                values[node] = below.sum(axis=0)
            elif best:
                values[node] = below.max(axis=0)
                if lock := self.locks.get(node):
                    locked = (lock.strategy * below).sum(axis=0)
                    values[node] = np.where(lock.held, locked, values[node])
            else:
                values[node] = (strategies[node] * below).sum(axis=0)
        return values


def largest_one(ranges: Floats) -> Floats:
    """Ranges [..., 169] with a largest weight of 1; empty ones stay empty."""
    largest = ranges.max(axis=-1, keepdims=True)
    scaled: Floats = np.divide(ranges, largest, out=np.zeros_like(ranges), where=largest > 0)
    return scaled
