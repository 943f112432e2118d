"""The hands of a card model on a flop, and the values of a pot when both play stored strategies.

If one player best responds to the other's strategies, his value at a decision is that of his best
action.

A slow and plain twin of the matrix engine, in 64 bits: the engine gives only the values of the
root, and a reader may look at any node. Both players' reach is passed forward through the whole
tree, multiplied by the matrices of its stage at every terminal (`engines.matrix.cards`), and values
are added up on the way back, depth by depth with all nodes of a depth side by side. A pot of 2,000
nodes takes less than its first decision alone takes node by node.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from allstreets import engines  # each is loaded when it is used
from allstreets.base import Bytes, Floats, Longs
from allstreets.betting import (
    POSTFLOP,
    BettingTree,
    NodeKind,
    Outcome,
    Player,
    Street,
    read_only,
)
from allstreets.cards import (
    COMBO_CARDS,
    HAND_COUNT,
    HAND_OF_COMBO,
    Flop,
    hand_cards,
    hand_combos,
    live_combos,
)
from allstreets.engines import (
    CardModel,
    PackedStrategies,
    Stage,
)

CACHED_PLANS = 64
NO_MARGIN = read_only(np.zeros((0, 0), np.float32))


def pairs_met(stage: Stage, reach: Floats) -> Floats:
    """[…, H]: W · reach […, H], the combos of each hand with those of the other beside them.

    Three products with the parts of W: building the matrix itself would take longer.
    """
    met: Floats = (reach @ stage.combos)[..., None] * stage.combos
    if stage.cards is not None:
        met += reach * stage.combos - (reach @ stage.cards) @ stage.cards.T
    return met


@dataclass(frozen=True, eq=False)
class _Level:
    """Inner nodes at one distance from the root, of one stage, and their children in one list."""

    stage: int  # of the nodes
    below: int  # of the children
    nodes: Longs  # [K]
    children: Longs  # [C], those of one node after the other
    starts: Longs  # [K]: where the children of each node begin
    parents: Longs  # [C]
    players: Longs  # [C]: who chose; −1 where a card is dealt


@dataclass(frozen=True, eq=False)
class _Plan:
    """The order in which the nodes of a tree are visited."""

    levels: tuple[_Level, ...]  # from the root down
    row: Longs  # [N]: the number of a node among those of its stage
    chosen: Longs  # [N]: the row of the stored strategies that leads to it; −1: no decision does


@lru_cache(CACHED_PLANS)
def _plan(tree: BettingTree, streets: tuple[tuple[Street, ...], ...]) -> _Plan:
    """Trees are compared by identity, and never change."""
    strategies = PackedStrategies(tree, streets, ())
    stages, chosen = strategies.stages, np.full(tree.node_count, -1, np.int64)
    row = np.zeros(tree.node_count, np.int64)
    for stage in range(len(streets)):
        members = np.flatnonzero(stages == stage)
        row[members] = np.arange(len(members))
    levels, nodes = [], np.zeros(1, np.int64)
    while len(nodes):
        below = stages[tree.children[tree.first_child[nodes]]]  # all children of a node share it
        nodes_below = []
        for stage, after in sorted(set(zip(stages[nodes].tolist(), below.tolist(), strict=True))):
            members = nodes[(stages[nodes] == stage) & (below == after)]
            counts = tree.child_count[members].astype(np.int64)
            starts, parents = np.cumsum(counts) - counts, np.repeat(members, counts)
            within = np.arange(len(parents)) - np.repeat(starts, counts)
            children = tree.children[tree.first_child[parents] + within].astype(np.int64)
            decides = tree.kind[parents] == NodeKind.DECISION
            chosen[children] = np.where(decides, strategies.first_row[parents] + within, -1)
            players = np.where(decides, tree.player[parents], -1).astype(np.int64)
            levels.append(_Level(stage, after, members, children, starts, parents, players))
            nodes_below.append(children[tree.child_count[children] > 0])
        nodes = np.concatenate(nodes_below)
    return _Plan(tuple(levels), row, chosen)


class PotValues:
    """Both players' values at every node of a pot on a flop."""

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Floats,  # [N, 2, 3]: `betting.payoffs`
        stages: Sequence[Stage],
        strategies: PackedStrategies,
        reach: Sequence[Floats],
        best: Player | None = None,
    ) -> None:
        """`reach` [H] of OOP and IP start the pot, in the hands of the first stage.

        `best`: the player who best responds; None: both play the strategies.
        """
        self.best = best
        self.tree, self.payoffs, self.stages = tree, payoffs, stages
        self.strategies, self.reach = strategies, reach
        self._plan = _plan(tree, strategies.streets)

    def at(self, player: Player, node: int) -> Floats:
        """[H]: counterfactual values in the hands of the node's stage.

        They are totals, chips times pairs of combos.
        """
        stage, row = int(self.strategies.stages[node]), self._plan.row[node]
        values: Floats = self.values[stage][player, row]
        return values

    @cached_property
    def values(self) -> list[Floats]:
        """[2, nodes, H] by stage: both players' values at every node."""
        row = self._plan.row
        chances = [self._chances(stage) for stage in range(len(self.stages))]
        reach = self._reach(chances)
        values = [self._ends(stage, some) for stage, some in enumerate(reach)]
        for level in reversed(self._plan.levels):
            for player in Player:
                below = values[level.below][player, row[level.children]]
                own = level.players == player
                largest = None
                if player == self.best:
                    largest = np.maximum.reduceat(below, level.starts)
                below[own] *= chances[level.below][row[level.children[own]]]
                if level.below != level.stage:
                    below = below @ self._transition(level).T
                sums = np.add.reduceat(below, level.starts)
                if largest is not None:
                    chosen = np.array([self._chooses(node) for node in level.nodes.tolist()])
                    sums[chosen] = largest[chosen]
                values[level.stage][player, row[level.nodes]] = sums
        return values

    def _chooses(self, node: int) -> bool:
        """Whether the player who best responds decides at a node, and is free there."""
        tree = self.tree
        free = node not in tree.locks and node not in tree.hand_locks
        return bool(
            tree.kind[node] == NodeKind.DECISION and tree.player[node] == self.best and free
        )

    def _transition(self, level: _Level) -> Floats:
        """The transition of hands where a card leads to another stage."""
        down = self.stages[level.below].down
        assert down is not None
        return down.astype(np.float64)

    def _chances(self, stage: int) -> Floats:
        """[nodes, H]: the probability of the choice that leads to each node of a stage."""
        tree, hands = self.tree, len(self.stages[stage].combos)
        members = np.flatnonzero(self.strategies.stages == stage)
        chances = np.ones((len(members), hands))
        deciding = members[tree.kind[members] == NodeKind.DECISION]
        if len(deciding):
            rows = self._plan.chosen[members]
            decoded = self._decoded(stage, deciding)
            chances[rows >= 0] = decoded[rows[rows >= 0], :hands]
        return chances

    def _decoded(self, stage: int, nodes: Longs) -> Floats:
        """[rows, H]: all strategies of a stage, as `engines.decode` reads those of one node."""
        stored = self.strategies.stored[stage].astype(np.float64)
        actions = self.tree.child_count[nodes]
        sums = np.add.reduceat(stored, self.strategies.first_row[nodes], axis=0)
        totals, even = np.repeat(sums, actions, axis=0), np.repeat(1.0 / actions, actions)
        return np.where(totals > 0, stored / np.where(totals > 0, totals, 1.0), even[:, None])

    def _reach(self, chances: list[Floats]) -> list[Floats]:
        """[2, nodes, H] by stage: both players' reach."""
        row = self._plan.row
        reach = [np.zeros((2, *some.shape)) for some in chances]
        reach[int(self.strategies.stages[0])][:, 0] = self.reach
        for level in self._plan.levels:
            for player in Player:
                arriving = reach[level.stage][player, row[level.parents]]
                if level.below != level.stage:
                    arriving = arriving @ self._transition(level)
                own = level.players == player
                arriving[own] *= chances[level.below][row[level.children[own]]]
                reach[level.below][player, row[level.children]] = arriving
        return reach

    def _ends(self, stage: int, reach: Floats) -> Floats:
        """[2, nodes, H]: the values where a hand is decided, given both players' reach."""
        values, cards = np.zeros_like(reach), self.stages[stage]
        ends = np.flatnonzero(self.tree.is_terminal & (self.strategies.stages == stage))
        rows, shown = self._plan.row[ends], self.tree.kind[ends] == NodeKind.SHOWDOWN
        for player in Player:
            results, other = self.payoffs[ends, player], reach[player.opponent, rows]
            win, loss = results[:, Outcome.WIN, None], results[:, Outcome.LOSE, None]
            worth = win * pairs_met(cards, other)
            if shown.any():
                won = other[shown] @ cards.margin.astype(np.float64).T
                mean = (win + loss)[shown] / 2 * pairs_met(cards, other[shown])
                worth[shown] = (win - loss)[shown] / 2 * won + mean
            values[player, rows] = worth
        return values


def flop_hands(model: CardModel, flop: Flop, held: Bytes | None = None) -> "ModelHands":
    """The hands of a flop; `held` [169, H] are the combos of each class in each bucket."""
    if model.plays_combos:
        return combo_hands(flop)
    if model.kind == "buckets":
        assert held is not None
        return bucket_hands(held, lambda: _bucket_stages(flop.cards, model.buckets, model.seed))
    combos, cards = hand_combos(flop.cards), hand_cards(flop.cards)
    stage = Stage(POSTFLOP, combos.astype(np.float64), cards.astype(np.float64), NO_MARGIN)
    classes = np.arange(HAND_COUNT)
    return ModelHands(
        np.diag(stage.combos), stage, lambda: engines.class_stages(flop.cards), classes
    )


@dataclass(frozen=True, eq=False)
class ModelHands:
    """The H hands of the first stage on a flop, and the cards of all stages."""

    held: Floats  # [169, H]: the combos of each class in each hand
    first: Stage  # without margins
    stages: Callable[[], tuple[Stage, ...]]
    classes: Longs | None = None  # [H]: the class of each hand; None: buckets, which have several
    live: Longs | None = None  # [H]: the combo that each hand is; None: hands are not combos

    @property
    def combos(self) -> Floats:
        """[169]: combos of each class beside the flop."""
        combos: Floats = self.held.sum(axis=1)
        return combos

    def stage(self, number: int) -> Stage:
        """The pairs of a stage, at once for the first one."""
        return self.stages()[number] if number else self.first


def live(flop: Flop) -> Longs:
    """[H]: the combos beside a flop, rising: the hands of the exact model."""
    return np.flatnonzero(live_combos(flop.cards))


def combo_hands(flop: Flop) -> ModelHands:
    """Every combo for itself."""
    combos = live(flop)
    rows = np.arange(len(combos))
    held = np.zeros((HAND_COUNT, len(combos)))
    held[HAND_OF_COMBO[combos], rows] = 1.0
    cards = np.zeros((len(combos), 52))
    cards[rows[:, None], COMBO_CARDS[combos]] = 1.0
    stage = Stage((Street.FLOP,), np.ones(len(combos)), cards, NO_MARGIN)
    classes = HAND_OF_COMBO[combos].astype(np.int64)
    return ModelHands(held, stage, lambda: (stage,), classes, combos)


def bucket_hands(held: Bytes, stages: Callable[[], tuple[Stage, ...]]) -> ModelHands:
    """Buckets; flops with fewer buckets have columns of zeros at the end."""
    combos = held.sum(axis=0, dtype=np.float64)
    count = int(np.flatnonzero(combos)[-1]) + 1
    first = Stage((Street.FLOP,), combos[:count], None, NO_MARGIN)
    return ModelHands(held[:, :count].astype(np.float64), first, stages)


@lru_cache(maxsize=4)
def _bucket_stages(
    flop: tuple[int, int, int], counts: tuple[int, int, int], seed: int
) -> tuple[Stage, ...]:
    return engines.bucket_stages(
        engines.build_bucket_model(flop, engines.BucketCounts(*counts), seed)
    )
