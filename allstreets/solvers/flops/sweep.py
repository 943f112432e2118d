"""What a pot on a flop is worth at all of its nodes at once, where hands are classes.

`NodeEvaluation` goes down from one node, a place at a time. A reader browsing a pot visits
one node after the other, so here both players' reach is passed down the whole tree and the values
come back up, level by level with all nodes of a level side by side. A pot of 2,000 nodes takes less
than its first decision alone takes there, and every other decision is a look into the result.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import BettingTree, NodeKind, Outcome, Player
from allstreets.engines import PackedStrategies, Shares
from allstreets.solvers.flops.evaluation import pairs_met
from allstreets.solvers.flops.view import HandTotals, PotView

CACHED_PLANS = 64


@dataclass(frozen=True, eq=False)
class _Level:
    """The inner nodes at one distance from the root, and their children in one list."""

    nodes: Longs  # [K]
    children: Longs  # [C], those of one node after the other
    starts: Longs  # [K]: where the children of each node begin
    parents: Longs  # [C]
    players: Longs  # [C]: who chose; −1 where a card is dealt


@lru_cache(CACHED_PLANS)
def _levels(tree: BettingTree) -> tuple[_Level, ...]:
    """The levels from the root down; trees are compared by identity, and never change."""
    levels = []
    nodes = np.zeros(1, np.int64)
    while len(nodes):
        counts = tree.child_count[nodes].astype(np.int64)
        starts = np.cumsum(counts) - counts
        parents = np.repeat(nodes, counts)
        within = np.arange(len(parents)) - np.repeat(starts, counts)
        children = tree.children[tree.first_child[parents] + within].astype(np.int64)
        decides = tree.kind[parents] == NodeKind.DECISION
        players = np.where(decides, tree.player[parents], -1).astype(np.int64)
        levels.append(_Level(nodes, children, starts, parents, players))
        nodes = children[tree.child_count[children] > 0]
    return tuple(levels)


def _rows_of_children(strategies: PackedStrategies) -> Longs:
    """[N]: the row of the stored strategies that leads to each node; −1: no decision does."""
    tree = strategies.tree
    rows = np.full(tree.node_count, -1, np.int64)
    for level in _levels(tree):
        within = np.arange(len(level.children)) - np.repeat(
            level.starts, np.diff([*level.starts, len(level.children)])
        )
        chosen = level.players >= 0
        rows[level.children[chosen]] = (strategies.first_row[level.parents] + within)[chosen]
    return rows


class TreeSweep:
    """The values of a pot on a flop, for a `PotView` of the model `classes`."""

    def __init__(self, view: PotView) -> None:
        self._view = view

    def __call__(self, node: int, reach: list[Floats], met: list[Floats]) -> HandTotals:
        """The `Evaluate` of a `PotView`."""
        del reach, met
        tree, values = self._view.pot.tree, self.values
        actions = values[tree.player_at(node), tree.children_of(node)]
        return HandTotals((values[0, node], values[1, node]), actions)

    @cached_property
    def values(self) -> Floats:
        """[2, N, 169]: both players' values at every node, chips times pairs of combos."""
        view = self._view
        tree = view.pot.tree
        chances = self._chances()
        values = np.zeros((2, tree.node_count, len(view.hands.first.combos)))
        reach = self._reach(chances)
        for player in Player:
            self._put_ends(player, reach[player.opponent], values[player])
        for level in reversed(_levels(tree)):
            for player in Player:
                below = values[player, level.children]
                own = level.players == player
                below[own] *= chances[level.children[own]]
                values[player, level.nodes] = np.add.reduceat(below, level.starts)
        return values

    def _chances(self) -> Floats:
        """[N, 169]: how likely the choice that leads to each node is, where it is reached."""
        strategies = self._view.strategies
        rows = _rows_of_children(strategies)
        chances = np.ones((strategies.tree.node_count, len(self._view.hands.first.combos)))
        chosen = np.flatnonzero(rows >= 0)
        chances[chosen] = _decoded(strategies)[rows[chosen]]
        return chances

    def _reach(self, chances: Floats) -> Floats:
        """[2, N, 169]: both players' reach."""
        view = self._view
        reach = np.empty((2, *chances.shape))
        reach[:, 0] = view.reach * (view.hands.first.combos > 0)
        for level in _levels(view.pot.tree):
            for player in Player:
                arriving = reach[player, level.parents]
                own = level.players == player
                arriving[own] *= chances[level.children[own]]
                reach[player, level.children] = arriving
        return reach

    def _put_ends(self, player: Player, other: Floats, values: Floats) -> None:
        """Write the values [N, 169] where the hand is decided, the other's reach [N, 169] given."""
        tree, payoffs = self._view.pot.tree, self._view.pot.payoffs
        stage = self._view.hands.stages()[0]
        ends = np.flatnonzero(tree.is_terminal)
        win, loss = payoffs[:, player, Outcome.WIN, None], payoffs[:, player, Outcome.LOSE, None]
        met = pairs_met(stage, other[ends])
        shown = tree.kind[ends] == NodeKind.SHOWDOWN
        values[ends] = (win + loss)[ends] / 2 * met
        folds, shows = ends[~shown], ends[shown]
        values[folds] = win[folds] * met[~shown]
        won = other[shows] @ stage.margin.astype(np.float64).T
        values[shows] += (win - loss)[shows] / 2 * won


def swept(view: PotView, by_class: bool) -> PotView:
    """The same view with all values found at once, where hands are classes."""
    return replace(view, evaluate=TreeSweep(view)) if by_class else view


def _decoded(strategies: PackedStrategies) -> Floats:
    """[rows, 169]: all strategies of a flop, as `strategies.decode` reads one."""
    (stored,) = strategies.stored
    counts = stored.astype(np.float64)
    tree = strategies.tree
    nodes = np.flatnonzero(tree.kind == NodeKind.DECISION)
    actions = tree.child_count[nodes]
    totals = np.repeat(_sums(stored, strategies.first_row[nodes]), actions, axis=0)
    even = np.repeat(1.0 / actions, actions)[:, None]
    return np.where(totals > 0, counts / np.maximum(totals, 1.0), even)


def _sums(stored: Shares, starts: Longs) -> Floats:
    """[K, 169]: the rows of each decision added up."""
    return np.add.reduceat(stored.astype(np.float64), starts, axis=0)
