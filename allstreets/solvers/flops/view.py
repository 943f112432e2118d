"""A pot on a flop as hand classes see it, whatever hands the card model plays with.

A class is spread over the hands of a stage: S[c, h] is the chance that a combo of class c which is
there when the flop is dealt is in hand h later on and has played so far. S is multiplied by the
strategy at a player's own decisions, and by the moves between hands where a card is dealt. All
numbers of a class are means over S; for a class that never plays so, over the cards alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from allstreets.betting import CHIPS_PER_BB, NodeKind, Player, Street
from allstreets.cards import Flop
from allstreets.solvers.class_node import NodeEvs, NodeView, chips_at
from allstreets.solvers.flops.evaluation import FlopEvaluation, pairs_met
from allstreets.solvers.flops.hands import FlopHands
from allstreets.solvers.flops.strategies import Floats, FlopStrategies
from allstreets.solvers.reached import settled_actions
from allstreets.solvers.unified.game import PotGame
from allstreets.solvers.unified.lines import postflop_label, postflop_word

LEAST_COMBOS = 1e-12  # a hand may have none, and nothing else of it is counted then


@dataclass(frozen=True, eq=False)
class HandTotals:
    """What a decision is worth to the hands of its stage, in chips times pairs of combos."""

    players: tuple[Floats, Floats]  # [H] of OOP and IP
    actions: Floats  # [A, H] of the player who acts


# (node, reach [H] of both players, pairs met [H] of both players) → totals
Evaluate = Callable[[int, list[Floats], list[Floats]], HandTotals]


@dataclass(frozen=True, eq=False)
class FlopView:
    """Every decision of a pot on a flop."""

    pot: PotGame
    flop: Flop
    hands: FlopHands
    kept: FlopStrategies
    reach: Floats  # [2, 169]: both players' reach where the flop is dealt
    evaluate: Evaluate | None = None  # None: by the strategies of all streets, which are kept

    def node(self, node: int, line: str) -> NodeView:
        """The decision at a node of the pot's tree."""
        tree = self.pot.tree
        player = tree.player_at(node)
        first, stage = self.hands.first, self.hands.stage(int(self.kept.stages[node]))
        combos = self.hands.combos
        dealt = self.spread(node, None)
        played = [self.spread(node, one) for one in Player]
        spreads = [self.reach[one][:, None] * played[one] for one in Player]
        sizes = np.maximum(stage.combos, LEAST_COMBOS)
        reach = [combos @ spread / sizes for spread in spreads]
        met = [pairs_met(stage, reach[one.opponent]) for one in Player]
        beside = [pairs / sizes for pairs in met]  # of one combo
        own = [_or_dealt(spread, dealt) for spread in played]
        strategy = self.kept.at(node)[:, : len(stage.combos)]
        children = tree.children_of(node).tolist()

        def evs() -> NodeEvs:
            totals = (self.evaluate or self._evaluate)(node, reach, met)
            unit = sizes * CHIPS_PER_BB
            means = [_means(own[p], totals.players[p] / unit, beside[p]) for p in Player]
            actions = [_means(own[player], row / unit, beside[player]) for row in totals.actions]
            part = strategy * reach[player]  # [A, H]
            none = np.full(len(part), np.nan)
            pairs = part @ met[player]
            won = (part * totals.actions).sum(axis=1)
            taken = np.divide(won, pairs * CHIPS_PER_BB, out=none, where=pairs > 0)
            return NodeEvs(np.stack(means), np.stack(actions), taken)

        return NodeView(
            line=line,
            flop=self.flop,
            street=Street(int(tree.street[node])),
            player=player,
            **chips_at(tree, node, player),
            actions=tuple(postflop_word(tree, child) for child in children),
            labels=tuple(postflop_label(tree, child) for child in children),
            strategy=np.stack([_means(own[player], row) for row in strategy]),
            reach=np.stack([spread.sum(axis=1) for spread in spreads]),
            combos=combos,
            weights=np.stack([combos * (spreads[p] @ beside[p]) for p in Player]),
            dealt=float(pairs_met(first, np.ones(len(first.combos))).sum()),
            settled=settled_actions(tree, node),
            evaluate=evs,
        )

    def spread(self, node: int, player: Player | None) -> Floats:
        """S [169, H] of a player at a node; `None`: nobody has played, cards alone are dealt."""
        tree, kept, held = self.pot.tree, self.kept, self.hands.held
        combos = held.sum(axis=1, keepdims=True)
        spread: Floats = np.divide(held, combos, out=np.zeros_like(held), where=combos > 0)
        for here, below in pairwise(tree.path_to(node)):
            if tree.kind[here] == NodeKind.DECISION and tree.player_at(here) == player:
                action = tree.children_of(here).tolist().index(below)
                spread = spread * kept.at(here)[action, : spread.shape[1]]
            if kept.stages[below] != kept.stages[here]:
                before, after = (self.hands.stages()[int(kept.stages[n])] for n in (here, below))
                assert after.down is not None
                spread = spread @ (after.down * after.combos / before.combos[:, None])
        return spread

    def _evaluate(self, node: int, reach: list[Floats], met: list[Floats]) -> HandTotals:
        del met
        tree = self.pot.tree
        player = tree.player_at(node)
        below = FlopEvaluation(tree, self.pot.payoffs, self.hands.stages(), self.kept)
        other = reach[player.opponent]
        actions = np.stack(
            [below.value(child, player, other) for child in tree.children_of(node).tolist()]
        )
        strategy = self.kept.at(node)[:, : actions.shape[1]]
        own = (strategy * actions).sum(axis=0)
        theirs = below.value(node, player.opponent, reach[player])
        return HandTotals((own, theirs) if player == Player.OOP else (theirs, own), actions)


def _or_dealt(spread: Floats, dealt: Floats) -> Floats:
    """The spread of classes that play so, and of the others as the cards are dealt."""
    return np.where(spread.sum(axis=1, keepdims=True) > 0, spread, dealt)


def _means(own: Floats, values: Floats, weights: Floats | None = None) -> Floats:
    """[169]: Σ of values [H] over Σ of weights [H], both of one combo, over the spread [169, H]."""
    totals = own.sum(axis=1) if weights is None else own @ weights
    none = np.full(len(own), np.nan)
    means: Floats = np.divide(own @ values, totals, out=none, where=totals > 0)
    return means
