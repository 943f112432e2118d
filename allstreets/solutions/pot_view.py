"""A pot on a flop as a reader sees it, whatever hands the card model plays with.

Where combos are the model's hands, each is shown for itself. Elsewhere a class is spread over the
hands of a street: S[c, h] is the chance that a combo of class c that the flop leaves is in hand h
later on and has played so far. S is multiplied by the strategy at a player's own decisions, and by
the moves between hands where a card is dealt. All numbers of a class are means over S; for a class
that never plays so, over the cards alone.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Pair, quotient
from allstreets.betting import NodeKind, Player, paid_at
from allstreets.cards import CanonicalFlop, Flop, combo_equity, flop_equity
from allstreets.engines import PackedStrategies
from allstreets.games import PotGame
from allstreets.solutions.decision import BB, NOWHERE, Decision, Evs, Hands, Unit, betting_at
from allstreets.solutions.pot_evaluation import ModelHands, PotValues, live, pairs_met

LEAST_COMBOS = 1e-12  # a hand may have none, and nothing else of it is counted then


@dataclass(frozen=True, eq=False)
class HandTotals:
    """The worth of a decision to the hands of its stage, in chips times pairs of combos."""

    players: tuple[Floats, Floats]  # [H] of OOP and IP
    actions: Floats  # [A, H] of the player who acts


class StoredEvs(Protocol):
    """EVs that are stored with the strategies of a flop."""

    def totals(self, node: int, met: list[Floats]) -> HandTotals:
        """A decision; `met` [H] of OOP and IP are the pairs of combos that get there."""


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

    @property
    def shown(self) -> list[Floats]:
        """S [169, H]: of classes that play so, and of the others as the cards are dealt."""
        return [
            np.where(spread.sum(axis=1, keepdims=True) > 0, spread, self.dealt)
            for spread in self.played
        ]


@dataclass(frozen=True, eq=False)
class PotView:
    """Every decision of a pot on a flop."""

    pot: PotGame
    flop: Flop
    hands: ModelHands
    strategies: PackedStrategies
    reach: Floats  # [2, 169]: both players' reach where the flop is dealt
    stored: StoredEvs | None = None  # None: EVs follow from the strategies of all streets
    unit: Unit = BB  # of amounts and EVs

    def node(self, node: int, line: str) -> Decision:
        """A node of the pot's tree, by combo or by hand class: a decision, or the end of a hand."""
        tree, first, here = self.pot.tree, self.hands.first, self._at(node)
        oop, ip = (self._hands(here, player) for player in Player)
        strategy = here.strategy
        if not self.hands.by_combo and len(strategy):
            own = here.shown[tree.player_at(node)]
            strategy = np.array([_means(own, chances) for chances in strategy])
        return Decision(
            line=line,
            board=self.flop.cards,
            **betting_at(tree, node, self.unit),
            paid=self._paid(node),
            hands=(oop, ip),
            deal=lambda: float(pairs_met(first, np.ones(len(first.combos))).sum()),
            equate=lambda: self._equities(oop, ip),
            evaluate=lambda: self._evs(node, here, (oop, ip)),
            strategy=strategy,
            locked=self._locked(node, oop.classes),
        )

    def _hands(self, here: _Here, player: Player) -> Hands:
        """A player's hands: the combos, or the 169 classes."""
        counts, reach, met = self.hands.combos, here.reach[player], here.met[player]
        if not self.hands.by_combo:
            spread = here.spreads[player]
            weights = counts * (spread @ (met / here.sizes))
            return Hands(None, counts, spread.sum(axis=1), weights, float(counts.sum()))
        # A class that never plays so shows what it would do, as the cards are dealt.
        cells = here.shown[player].sum(axis=0)
        each, combos = np.ones(len(met)), live(self.flop)
        return Hands(combos, each, reach, reach * met, float(len(met)), (cells, cells * met))

    def _evs(self, node: int, here: _Here, hands: tuple[Hands, Hands]) -> Evs:
        """EVs from a node on."""
        tree, scale = self.pot.tree, self.unit.notation.scale
        if tree.kind[node] != NodeKind.DECISION:
            return Evs.unknown(hands, here.strategy)
        player = tree.player_at(node)
        totals = self._totals(node, here.met)

        def means(player: Player, won: Floats) -> Floats:
            """EVs of a player's hands, by totals of the hands of the stage [H]."""
            if self.hands.by_combo:
                return quotient(won, here.met[player] * scale)
            beside = here.met[player] / here.sizes  # of one combo
            return _means(here.shown[player], won / (here.sizes * scale), beside)

        part = here.strategy * here.reach[player]  # [A, H]
        results = Evs(
            (means(Player.OOP, totals.players[0]), means(Player.IP, totals.players[1])),
            np.stack([means(player, won) for won in totals.actions]),
            quotient((part * totals.actions).sum(axis=1), part @ here.met[player] * scale),
        )
        return results.plus(self._paid(node), player)

    def _totals(self, node: int, met: list[Floats]) -> HandTotals:
        """The worth of a decision."""
        if self.stored is not None:
            return self.stored.totals(node, met)
        values, tree = self._values, self.pot.tree
        player, children = tree.player_at(node), tree.children_of(node).tolist()
        actions = np.stack([values.at(player, child) for child in children])
        return HandTotals((values.at(Player.OOP, node), values.at(Player.IP, node)), actions)

    @cached_property
    def _values(self) -> PotValues:
        pot, reach = self.pot, self._at(0).reach
        return PotValues(pot.tree, pot.payoffs, self.hands.stages(), self.strategies, reach)

    def _equities(self, oop: Hands, ip: Hands) -> Pair:
        if oop.combos is not None and ip.combos is not None:
            both = oop.combos, ip.combos
            return combo_equity(self.flop.cards, both, (oop.reach, ip.reach))
        if self.hands.first.cards is None:  # buckets: hands that play alike win differently
            return np.full(len(oop.reach), np.nan), np.full(len(ip.reach), np.nan)
        return flop_equity(self.flop.cards, np.stack([oop.reach, ip.reach]))

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

    def _paid(self, node: int) -> tuple[float, float]:
        """The amounts that both players have put in over the whole hand."""
        oop, ip = paid_at(self.pot.tree, self.pot.rules.bb_ante, node)
        return self.unit.amount(oop), self.unit.amount(ip)

    def _at(self, node: int) -> _Here:
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


def _means(own: Floats, values: Floats, weights: Floats | None = None) -> Floats:
    """[169]: Σ of values [H] over Σ of weights [H], both of one combo, over the spread [169, H]."""
    totals = own.sum(axis=1) if weights is None else own @ weights
    return quotient(own @ values, totals)


def in_suits(decision: Decision, named: CanonicalFlop, cards: tuple[int, ...]) -> Decision:
    """A decision on the solved flop, in the suits that lie on the table."""
    if decision.by_combo:
        combos = named.named_combos(live(named.flop))
        oop, ip = (replace(hands, combos=combos) for hands in decision.hands)
        decision = replace(decision, hands=(oop, ip))
    return replace(decision, board=cards)
