"""A pot on a flop as a reader sees it, with any card model.

Where combos or classes are the model's hands, each is shown for itself. With buckets a class is
spread over the hands of a street: S[c, h] is the chance that an unblocked combo of class c is in
hand h and has played to this node. S is multiplied by the strategy at a player's own decisions, and
by the transitions between hands where a card is dealt. All numbers of a class are means over S; for
a class that never gets here, over the cards alone.
"""

from dataclasses import dataclass, field, replace
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
from allstreets.solutions.decision import (
    BB,
    NOWHERE,
    Decision,
    Evs,
    Hands,
    Unit,
    betting_at,
    class_sums,
)
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
    played: list[
        Floats
    ]  # [H]: the chance of having played so since the flop; of buckets S [169, H]
    reach: list[Floats]  # [H]
    met: list[Floats]  # [H]: pairs of combos with the other's that get here
    strategy: Floats  # [A, H]
    spreads: list[Floats] = field(default_factory=list)
    """With buckets S [169, H]: for classes that get here, and for the others by the cards."""


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
    best: Player | None = None
    """The player who best responds: his EVs are those of his best actions from a node on,
    which he takes there; None: both play the strategies. Stored EVs have no best responses."""

    def node(self, node: int, line: str) -> Decision:
        """A node of the pot's tree, by combo or by hand class: a decision, or the end of a hand."""
        tree, first, here = self.pot.tree, self.hands.first, self._at(node)
        oop, ip = (self._hands(here, player) for player in Player)
        if self.best is not None and tree.kind[node] == NodeKind.DECISION:
            here = replace(here, strategy=self._response(node, here))
        strategy = np.where(here.sizes >= 1, here.strategy, np.nan)
        if here.spreads and len(strategy):
            own = here.spreads[tree.player_at(node)]
            strategy = np.array([_means(own, chances) for chances in here.strategy])
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

    def _response(self, node: int, here: _Here) -> Floats:
        """[A, H]: the best actions at a decision of the player who best responds."""
        tree = self.pot.tree
        if tree.player[node] != self.best or node in tree.locks or node in tree.hand_locks:
            return here.strategy
        totals = self._totals(node, here.met).actions
        best: Floats = np.eye(len(totals))[:, totals.argmax(axis=0)]
        return best

    def _hands(self, here: _Here, player: Player) -> Hands:
        """A player's hands: the combos, or the 169 classes."""
        classes, live, played = self.hands.classes, self.hands.live, here.played[player]
        reach, met = here.reach[player], here.met[player]
        if classes is None:
            counts = self.hands.combos
            arrives = self.reach[player][:, None] * played
            weights = counts * (arrives @ (met / here.sizes))
            return Hands(None, counts, arrives.sum(axis=1), weights, float(counts.sum()))
        cells = None
        if live is not None:
            # A class that never gets here shows its hypothetical play, as the cards are dealt.
            never = class_sums(classes, played)[classes] <= 0
            shown = np.where(never, 1.0, played)
            cells = shown, shown * met
        counts = self.hands.first.combos
        return Hands(live, counts, reach, reach * met, float(counts.sum()), cells)

    def _evs(self, node: int, here: _Here, hands: tuple[Hands, Hands]) -> Evs:
        """EVs from a node on."""
        tree, scale = self.pot.tree, self.unit.notation.scale
        if tree.kind[node] != NodeKind.DECISION:
            return Evs.unknown(hands, here.strategy)
        player = tree.player_at(node)
        totals = self._totals(node, here.met)

        def means(player: Player, won: Floats) -> Floats:
            """EVs of a player's hands, by totals of the hands of the stage [H]."""
            if not here.spreads:
                return quotient(won, here.met[player] * scale)
            beside = here.met[player] / here.sizes  # of one combo
            return _means(here.spreads[player], won / (here.sizes * scale), beside)

        part = here.strategy * here.reach[player]  # [A, H]
        results = Evs(
            (means(Player.OOP, totals.players[0]), means(Player.IP, totals.players[1])),
            np.stack([means(player, won) for won in totals.actions]),
            quotient((part * totals.actions).sum(axis=1), part @ here.met[player] * scale),
        )
        return results.plus(self._paid(node), player)

    def _totals(self, node: int, met: list[Floats]) -> HandTotals:
        """The worth of a decision."""
        if self.stored is not None and self.best is None:
            return self.stored.totals(node, met)
        values, tree = self._values, self.pot.tree
        player, children = tree.player_at(node), tree.children_of(node).tolist()
        actions = np.stack([values.at(player, child) for child in children])
        return HandTotals((values.at(Player.OOP, node), values.at(Player.IP, node)), actions)

    @cached_property
    def _values(self) -> PotValues:
        pot, reach = self.pot, self._at(0).reach
        stages = self.hands.stages()
        return PotValues(pot.tree, pot.payoffs, stages, self.strategies, reach, self.best)

    def _equities(self, oop: Hands, ip: Hands) -> Pair:
        if oop.combos is not None and ip.combos is not None:
            both = oop.combos, ip.combos
            return combo_equity(self.flop.cards, both, (oop.reach, ip.reach))
        if self.hands.first.cards is None:  # buckets: hands that play alike win differently
            return np.full(len(oop.reach), np.nan), np.full(len(ip.reach), np.nan)
        return flop_equity(self.flop.cards, np.stack([oop.reach, ip.reach]))

    def stage_play(self, node: int) -> tuple[Floats, Floats]:
        """(strategy [A, H], weights [H]) of a decision in the hands of its stage.

        A hand weighs as often as it gets there against the opponent's range.
        """
        here, player = self._at(node), self.pot.tree.player_at(node)
        return here.strategy, here.reach[player] * here.met[player]

    def stage_evs(self, node: int) -> Floats:
        """[A, H]: the EV of each action of a decision in the hands of its stage.

        They count from here on, in the unit of the view; NaN where no hand of the opponent gets
        there. At unreached decisions they are against what is stored: they put hands in an order,
        and are no figures to show.
        """
        here, player = self._at(node), self.pot.tree.player_at(node)
        won = self._totals(node, here.met).actions
        evs = quotient(won, here.met[player] * self.unit.notation.scale)
        paid: Floats = evs + self._paid(node)[player]
        return paid

    def _locked(self, node: int, classes: NDArray[Any]) -> Flags:
        """[H]: whether hands of these classes are locked; empty where all are free."""
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
        tree, hands = self.pot.tree, self.hands
        stage = hands.stage(int(self.strategies.stages[node]))
        sizes = np.maximum(stage.combos, LEAST_COMBOS)
        played = [self._played(node, player) for player in Player]
        spreads: list[Floats] = []
        if hands.classes is not None:
            live = stage.combos > 0
            reach = [self.reach[p][hands.classes] * played[p] * live for p in Player]
        else:
            reach = [(hands.combos * self.reach[p]) @ played[p] / sizes for p in Player]
            dealt = self._played(node, None)
            spreads = [np.where(own.sum(axis=1, keepdims=True) > 0, own, dealt) for own in played]
        strategy = np.zeros((0, len(sizes)))
        if tree.kind[node] == NodeKind.DECISION:
            strategy = self.strategies.at(node)[:, : len(sizes)]
        met = [pairs_met(stage, reach[player.opponent]) for player in Player]
        return _Here(sizes, played, reach, met, strategy, spreads)

    def _played(self, node: int, player: Player | None) -> Floats:
        """[H]: a player's chance of playing to a node from the flop on; of buckets S [169, H].

        `None`: by the cards alone, before any action.
        """
        tree, strategies, held = self.pot.tree, self.strategies, self.hands.held
        played = np.ones(held.shape[1])
        if self.hands.classes is None:
            played = np.nan_to_num(quotient(held, held.sum(axis=1, keepdims=True)))
        for here, below in pairwise(tree.path_to(node)):
            if tree.kind[here] == NodeKind.DECISION and tree.player_at(here) == player:
                action = tree.children_of(here).tolist().index(below)
                played = played * strategies.at(here)[action, : played.shape[-1]]
            if strategies.stages[below] != strategies.stages[here]:
                before, after = (
                    self.hands.stages()[int(strategies.stages[n])] for n in (here, below)
                )
                assert after.down is not None
                played = played @ (after.down * after.combos / before.combos[:, None])
        return played


def _means(own: Floats, values: Floats, weights: Floats | None = None) -> Floats:
    """[169]: Σ of values [H] over Σ of weights [H], both of one combo, over the spread [169, H]."""
    totals = own.sum(axis=1) if weights is None else own @ weights
    return quotient(own @ values, totals)


def in_suits(decision: Decision, named: CanonicalFlop, cards: tuple[int, ...]) -> Decision:
    """A decision on the solved flop, in the suits on the table."""
    if decision.by_combo:
        combos = named.named_combos(live(named.flop))
        oop, ip = (replace(hands, combos=combos) for hands in decision.hands)
        decision = replace(decision, hands=(oop, ip))
    return replace(decision, board=cards)
