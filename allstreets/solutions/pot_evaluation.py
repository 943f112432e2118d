"""The value of a pot on a flop from any of its nodes on, when both play stored strategies.

A slow and plain twin of the matrix engine, in 64 bits: the engine gives the values of the root
only, and a reader may look at any node. From that node the opponent's reach is passed forward, at
every terminal multiplied by the matrices of its street (`engines.matrix.cards`), and values are
added up on the way back. `ModelHands` are the hands of a card model on a flop, by street.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from allstreets.base import Bytes, Floats, Longs
from allstreets.betting import BettingTree, NodeKind, Outcome, Player, Street
from allstreets.cards import COMBO_CARDS, HAND_COUNT, HAND_OF_COMBO, Flop, live_combos
from allstreets.engines import (
    BucketCounts,
    CardModel,
    PackedStrategies,
    Stage,
    bucket_stages,
    build_bucket_model,
    class_stages,
)


def pairs_met(stage: Stage, reach: Floats) -> Floats:
    """[…, H]: W · reach […, H], the combos of each hand with those of the other beside them.

    In three products with what W is made of: the matrix itself takes longer to write out.
    """
    met: Floats = (reach @ stage.combos)[..., None] * stage.combos
    if stage.cards is not None:
        met += reach * stage.combos - (reach @ stage.cards) @ stage.cards.T
    return met


@dataclass(frozen=True, eq=False)
class NodeEvaluation:
    """A pot's tree on one flop with the strategies that are played there."""

    tree: BettingTree
    payoffs: Floats  # [N, 2, 3]: `betting.payoffs`
    stages: Sequence[Stage]
    strategies: PackedStrategies

    @cached_property
    def last(self) -> Longs:
        """[N]: one past the last node below each; in pre-order a subtree is one piece."""
        tree = self.tree
        ends = np.arange(1, tree.node_count + 1)
        for node in range(tree.node_count - 1, 0, -1):
            above = tree.parent[node]
            ends[above] = max(ends[above], ends[node])
        return ends

    def value(self, node: int, player: Player, other: Floats) -> Floats:
        """[H]: the player's counterfactual values at a node, given the other's reach `other` [H].

        Both in the hands of the node's stage; values are totals, chips times pairs of combos.
        """
        nodes = range(node, int(self.last[node]))
        strategies = {
            here: self.strategies.at(here)[:, : self._hands(here)]
            for here in nodes
            if self.tree.kind[here] == NodeKind.DECISION
        }
        values = self._ends(player, self._reach(player, other, nodes, strategies))
        for here in reversed(nodes):
            if here in values:
                continue
            children = self.tree.children_of(here).tolist()
            below = np.array([values[child] for child in children])
            if here not in strategies:
                down = self._down(here, children[0])
                values[here] = below[0] if down is None else down @ below[0]
            elif self.tree.player[here] == player:
                values[here] = (strategies[here] * below).sum(axis=0)
            else:
                values[here] = below.sum(axis=0)
        return values[node]

    def _hands(self, node: int) -> int:
        return len(self.stages[int(self.strategies.stages[node])].combos)

    def _down(self, node: int, child: int) -> Floats | None:
        """How hands change between a node and its child; None: not at all."""
        stage = int(self.strategies.stages[child])
        down = self.stages[stage].down
        if stage == self.strategies.stages[node] or down is None:
            return None
        return down.astype(np.float64)

    def _reach(
        self, player: Player, other: Floats, nodes: range, strategies: dict[int, Floats]
    ) -> dict[int, Floats]:
        """The other player's reach at every node below the first."""
        reach = {nodes[0]: other}
        for here in nodes:
            for place, child in enumerate(self.tree.children_of(here).tolist()):
                arriving = reach[here]
                if here in strategies and self.tree.player[here] != player:
                    arriving = arriving * strategies[here][place]
                elif here not in strategies:
                    down = self._down(here, child)
                    arriving = arriving if down is None else arriving @ down
                reach[child] = arriving
        return reach

    def _ends(self, player: Player, reach: dict[int, Floats]) -> dict[int, Floats]:
        """The values where the hand is decided, all ends of a stage at once."""
        values: dict[int, Floats] = {}
        for stage, cards in enumerate(self.stages):
            ends = [
                node
                for node in reach
                if self.tree.is_terminal[node] and self.strategies.stages[node] == stage
            ]
            if not ends:
                continue
            rows = np.stack([reach[node] for node in ends])
            results = self.payoffs[ends, player]
            shown = (self.tree.kind[ends] == NodeKind.SHOWDOWN)[:, None]
            win, loss = results[:, Outcome.WIN, None], results[:, Outcome.LOSE, None]
            met = pairs_met(cards, rows)
            found = win * met
            if shown.any():
                won = rows @ cards.margin.astype(np.float64).T
                found = np.where(shown, (win - loss) / 2 * won + (win + loss) / 2 * met, found)
            values |= dict(zip(ends, found, strict=True))
        return values


def flop_hands(model: CardModel, flop: Flop, held: Bytes | None = None) -> "ModelHands":
    """The hands of a flop; `held` [169, H] are the combos of each class in each bucket."""
    if model.plays_combos:
        return combo_hands(flop)
    if model.kind == "buckets":
        assert held is not None
        return bucket_hands(held, lambda: _bucket_stages(flop.cards, model.buckets, model.seed))
    stages = class_stages(flop.cards)
    return ModelHands(np.diag(stages[0].combos), stages[0], lambda: stages)


@dataclass(frozen=True, eq=False)
class ModelHands:
    """The H hands of the first stage on a flop, and the cards of all stages."""

    held: Floats  # [169, H]: how many combos of each class each hand has
    first: Stage  # without margins where `stages` takes a while
    stages: Callable[[], tuple[Stage, ...]]

    @property
    def combos(self) -> Floats:
        """[169]: combos of each class beside the flop."""
        combos: Floats = self.held.sum(axis=1)
        return combos

    def stage(self, number: int) -> Stage:
        """The pairs of a stage, found at once for the first one."""
        return self.stages()[number] if number else self.first


def live(flop: Flop) -> Longs:
    """[H]: the combos beside a flop, rising: the hands of the exact model."""
    return np.flatnonzero(live_combos(flop.cards))


def combo_hands(flop: Flop) -> ModelHands:
    """Every combo for itself."""
    combos = live(flop)
    places = np.arange(len(combos))
    held = np.zeros((HAND_COUNT, len(combos)))
    held[HAND_OF_COMBO[combos], places] = 1.0
    cards = np.zeros((len(combos), 52))
    cards[places[:, None], COMBO_CARDS[combos]] = 1.0
    stage = Stage((Street.FLOP,), np.ones(len(combos)), cards, np.zeros((0, 0), np.float32))
    return ModelHands(held, stage, lambda: (stage,))


def bucket_hands(held: Bytes, stages: Callable[[], tuple[Stage, ...]]) -> ModelHands:
    """Buckets; flops with fewer than others have columns of zeros at the end."""
    combos = held.sum(axis=0, dtype=np.float64)
    count = int(np.flatnonzero(combos)[-1]) + 1
    first = Stage((Street.FLOP,), combos[:count], None, np.zeros((0, 0), np.float32))
    return ModelHands(held[:, :count].astype(np.float64), first, stages)


@lru_cache(maxsize=4)
def _bucket_stages(
    flop: tuple[int, int, int], counts: tuple[int, int, int], seed: int
) -> tuple[Stage, ...]:
    return bucket_stages(build_bucket_model(flop, BucketCounts(*counts), seed))
