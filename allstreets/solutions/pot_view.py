"""A pot on a flop as hand classes see it, whatever hands the card model plays with.

A class is spread over the hands of a street: S[c, h] is the chance that a combo of class c that the
flop leaves is in hand h later on and has played so far. S is multiplied by the strategy at a
player's own decisions, and by the moves between hands where a card is dealt. All numbers of a class
are means over S; for a class that never plays so, over the cards alone.

A reader who browses a pot visits one node after the other. Where hands are classes, `swept`
evaluates all nodes at once: both players' reach is passed forward through the whole tree, values
come back, depth by depth with all nodes of a depth side by side. A pot of 2,000 nodes takes less
than its first decision alone takes node by node, and every other decision is a look into the
result.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs, Pair, quotient
from allstreets.betting import BettingTree, NodeKind, Outcome, Player, paid_at
from allstreets.cards import HAND_OF_COMBO, CanonicalFlop, Flop, combo_equity, flop_equity
from allstreets.engines import PackedStrategies, Shares
from allstreets.games import PotGame
from allstreets.solutions.decision import BB, NOWHERE, Decision, Evs, Unit, betting_at
from allstreets.solutions.hands import Hands
from allstreets.solutions.pot_evaluation import ModelHands, NodeEvaluation, live, pairs_met

LEAST_COMBOS = 1e-12  # a hand may have none, and nothing else of it is counted then


@dataclass(frozen=True, eq=False)
class HandTotals:
    """What a decision is worth to the hands of its stage, in chips times pairs of combos."""

    players: tuple[Floats, Floats]  # [H] of OOP and IP
    actions: Floats  # [A, H] of the player who acts


# (node, reach [H] of both players, pairs met [H] of both players) → totals
Evaluate = Callable[[int, list[Floats], list[Floats]], HandTotals]


@dataclass(frozen=True, eq=False)
class _Here:
    """A node in the H hands of its stage; lists are of OOP and IP."""

    sizes: Floats  # [H]: combos of each hand
    dealt: Floats  # S [169, H] by the cards alone
    played: list[Floats]  # S [169, H] since the flop
    spreads: list[Floats]  # the same times the reach with which classes see the flop
    reach: list[Floats]  # [H]
    met: list[Floats]  # [H]: pairs of combos with the other's that get here
    strategy: Floats  # [A, H]


@dataclass(frozen=True, eq=False)
class PotView:
    """Every decision of a pot on a flop."""

    pot: PotGame
    flop: Flop
    hands: ModelHands
    strategies: PackedStrategies
    reach: Floats  # [2, 169]: both players' reach where the flop is dealt
    evaluate: Evaluate | None = None  # None: by the stored strategies of all streets
    unit: Unit = BB  # of amounts and EVs

    def node(self, node: int, line: str) -> Decision:
        """A node of the pot's tree by hand class: a decision, or the end of a hand."""
        here, combos = self._at(node), self.hands.combos
        own = [_or_dealt(spread, here.dealt) for spread in here.played]
        beside = [pairs / here.sizes for pairs in here.met]  # of one combo
        oop, ip = (
            Hands(
                combos=None,
                counts=combos,
                reach=here.spreads[p].sum(axis=1),
                weights=combos * (here.spreads[p] @ beside[p]),
                start=float(combos.sum()),
            )
            for p in Player
        )

        def evs() -> Evs:
            totals = self._totals(node, here)
            if totals is None:
                return Evs.unknown((oop, ip), here.strategy)
            unit, player = here.sizes * self.unit.notation.scale, self.pot.tree.player_at(node)
            means = [_means(own[p], totals.players[p] / unit, beside[p]) for p in Player]
            actions = [_means(own[player], row / unit, beside[player]) for row in totals.actions]
            part = here.strategy * here.reach[player]  # [A, H]
            won = (part * totals.actions).sum(axis=1)
            taken = quotient(won, part @ here.met[player] * self.unit.notation.scale)
            return self._from_here(node, Evs((means[0], means[1]), np.stack(actions), taken))

        def equities() -> Pair:
            first, reach = self.hands.first, (here.reach[0], here.reach[1])
            if first.cards is None:  # buckets: hands that play alike win differently
                return np.full(len(combos), np.nan), np.full(len(combos), np.nan)
            if len(first.combos) == len(combos):
                return flop_equity(self.flop.cards, np.stack([oop.reach, ip.reach]))
            both = combo_equity(self.flop.cards, (live(self.flop), live(self.flop)), reach)
            won = [np.nan_to_num(both[p]) * beside[p] for p in Player]
            return _means(own[0], won[0], beside[0]), _means(own[1], won[1], beside[1])

        chances = [_means(own[self.pot.tree.player_at(node)], row) for row in here.strategy]
        return Decision(
            line=line,
            **self._table(node),
            hands=(oop, ip),
            equate=equities,
            evaluate=evs,
            strategy=np.array(chances),
            locked=self._locked(node, np.arange(len(combos))),
        )

    def combo_node(self, node: int, line: str) -> Decision:
        """The same by combo, where combos are the model's hands."""
        here, combos = self._at(node), live(self.flop)
        # A class that never plays so shows what it would do, as the cards are dealt.
        cells = [_or_dealt(spread, here.dealt).sum(axis=0) for spread in here.played]
        oop, ip = (
            Hands(
                combos=combos,
                counts=np.ones(len(combos)),
                reach=here.reach[p],
                weights=here.reach[p] * here.met[p],
                start=float(len(combos)),
                cell_weights=(cells[p], cells[p] * here.met[p]),
            )
            for p in Player
        )

        def evs() -> Evs:
            totals = self._totals(node, here)
            if totals is None:
                return Evs.unknown((oop, ip), here.strategy)
            units = [np.where(met > 0, met * self.unit.notation.scale, np.nan) for met in here.met]
            player = self.pot.tree.player_at(node)
            both = totals.players[0] / units[0], totals.players[1] / units[1]
            return self._from_here(node, Evs(both, totals.actions / units[player]))

        reach = here.reach[0], here.reach[1]
        return Decision(
            line=line,
            **self._table(node),
            hands=(oop, ip),
            equate=lambda: combo_equity(self.flop.cards, (combos, combos), reach),
            evaluate=evs,
            strategy=here.strategy,
            locked=self._locked(node, HAND_OF_COMBO[combos]),
        )

    def stage_play(self, node: int) -> tuple[Floats, Floats]:
        """(strategy [A, H], weights [H]) of a decision in the hands of its stage.

        A hand weighs as often as it gets there beside the other player's range.
        """
        here, player = self._at(node), self.pot.tree.player_at(node)
        return here.strategy, here.reach[player] * here.met[player]

    def _locked(self, node: int, classes: NDArray[Any]) -> Flags:
        """[H]: whether hands of these classes are told what to do; empty where all are free."""
        tree = self.pot.tree
        if node in tree.locks:
            return np.ones(len(classes), np.bool_)
        some = tree.hand_locks.get(node)
        return NOWHERE if some is None else np.isin(classes, list(some))

    def _table(self, node: int) -> dict[str, Any]:
        """What does not depend on the hands that are shown, as keys of a `Decision`."""
        first = self.hands.first
        return {
            "board": self.flop.cards,
            **betting_at(self.pot.tree, node, self.unit),
            "paid": self._paid(node),
            "deal": lambda: float(pairs_met(first, np.ones(len(first.combos))).sum()),
        }

    def _paid(self, node: int) -> tuple[float, float]:
        """What both players have put in over the whole hand."""
        oop, ip = paid_at(self.pot.tree, self.pot.rules.bb_ante, node)
        return self.unit.amount(oop), self.unit.amount(ip)

    def _from_here(self, node: int, results: Evs) -> Evs:
        """EVs from a decision on, by results of the whole hand."""
        return results.plus(self._paid(node), self.pot.tree.player_at(node))

    def _at(self, node: int) -> "_Here":
        """A node in the hands of its stage."""
        tree, combos = self.pot.tree, self.hands.combos
        stage = self.hands.stage(int(self.strategies.stages[node]))
        sizes = np.maximum(stage.combos, LEAST_COMBOS)
        played = [self.spread(node, player) for player in Player]
        spreads = [self.reach[player][:, None] * played[player] for player in Player]
        reach = [combos @ spread / sizes for spread in spreads]
        strategy = np.zeros((0, len(sizes)))
        if tree.kind[node] == NodeKind.DECISION:
            strategy = self.strategies.at(node)[:, : len(sizes)]
        return _Here(
            sizes=sizes,
            dealt=self.spread(node, None),
            played=played,
            spreads=spreads,
            reach=reach,
            met=[pairs_met(stage, reach[player.opponent]) for player in Player],
            strategy=strategy,
        )

    def _totals(self, node: int, here: "_Here") -> HandTotals | None:
        """What a decision is worth; None: no player acts."""
        if self.pot.tree.kind[node] != NodeKind.DECISION:
            return None
        return (self.evaluate or self._evaluate)(node, here.reach, here.met)

    def spread(self, node: int, player: Player | None) -> Floats:
        """S [169, H] of a player at a node; `None`: by the cards alone, before any action."""
        tree, strategies, held = self.pot.tree, self.strategies, self.hands.held
        combos = held.sum(axis=1, keepdims=True)
        spread: Floats = np.divide(held, combos, out=np.zeros_like(held), where=combos > 0)
        for here, below in pairwise(tree.path_to(node)):
            if tree.kind[here] == NodeKind.DECISION and tree.player_at(here) == player:
                action = tree.children_of(here).tolist().index(below)
                spread = spread * strategies.at(here)[action, : spread.shape[1]]
            if strategies.stages[below] != strategies.stages[here]:
                before, after = (
                    self.hands.stages()[int(strategies.stages[n])] for n in (here, below)
                )
                assert after.down is not None
                spread = spread @ (after.down * after.combos / before.combos[:, None])
        return spread

    def _evaluate(self, node: int, reach: list[Floats], met: list[Floats]) -> HandTotals:
        del met
        tree = self.pot.tree
        player = tree.player_at(node)
        below = NodeEvaluation(tree, self.pot.payoffs, self.hands.stages(), self.strategies)
        other = reach[player.opponent]
        actions = np.stack(
            [below.value(child, player, other) for child in tree.children_of(node).tolist()]
        )
        strategy = self.strategies.at(node)[:, : actions.shape[1]]
        own = (strategy * actions).sum(axis=0)
        theirs = below.value(node, player.opponent, reach[player])
        return HandTotals((own, theirs) if player == Player.OOP else (theirs, own), actions)


def _or_dealt(spread: Floats, dealt: Floats) -> Floats:
    """The spread of classes that play so, and of the others as the cards are dealt."""
    return np.where(spread.sum(axis=1, keepdims=True) > 0, spread, dealt)


def _means(own: Floats, values: Floats, weights: Floats | None = None) -> Floats:
    """[169]: Σ of values [H] over Σ of weights [H], both of one combo, over the spread [169, H]."""
    totals = own.sum(axis=1) if weights is None else own @ weights
    return quotient(own @ values, totals)


def in_suits(decision: Decision, named: CanonicalFlop, cards: tuple[int, ...]) -> Decision:
    """A decision by combo on the solved flop, in the suits that lie on the table."""
    combos = named.named_combos(live(named.flop))
    oop, ip = (replace(hands, combos=combos) for hands in decision.hands)
    return replace(decision, hands=(oop, ip), board=cards)


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
