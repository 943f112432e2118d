"""Turn and river of a pot on a flop whose strategies are stored card by card.

The stored strategies are lifted to real combos in an exact subgame, as for a certificate: on a
board a combo plays as its bucket does, and EVs are those of the cards that may still come, not of
buckets.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

import numpy as np

from allstreets.base import Floats, Longs, Pair
from allstreets.betting import Line, NodeKind, Player, paid_at
from allstreets.cards import (
    HAND_OF_COMBO,
    Flop,
    Runouts,
    canonical_flop,
    combo_equity,
    met_reach,
)
from allstreets.engines import ExactSubgame, Lift, StreetView, every_combo
from allstreets.games import PotGame
from allstreets.solutions.decision import BB, NOWHERE, Decision, Evs, Hands, betting_at, class_sums
from allstreets.solutions.spot import deal_evs, left_after, taken_action

CACHED_STREETS = 16  # boards that stay in memory: of a big pot, megabytes each
CACHED_TURNS = 8  # with all their rivers, some ten megabytes each


class TurnLift(Lift, Protocol):
    """A lift that can be cut down to single turns."""

    def on_turn(self, flop: tuple[int, ...], card: int) -> tuple[Lift, Runouts]:
        """The same for one turn card, and the root of the subgame that has no other."""


class LiftedStreets:
    """Every node after the flop; cards and combos are in the suits that a flop is named in.

    A turn is lifted when it is looked at: a subgame with only that card takes a fraction of the
    time and memory of all turns. The flop itself takes them all.
    """

    def __init__(
        self,
        pot: PotGame,
        flop: Flop,
        lift: TurnLift,
        reach: Floats,
        like: "LiftedStreets | None" = None,
        best: Player | None = None,
    ) -> None:
        """`reach` [2, 169] starts the pot; `like` is another pot on the same flop.

        `best`: the player who best responds; None: both play the lifted strategies.
        """
        self.pot, self.flop, self.lift = pot, flop, lift
        self._reach, self._like, self._best = reach, like, best
        # By the card that represents its isomorphic cards; None: with all turns.
        self._turns: dict[int | None, ExactSubgame] = {}
        # By the cards beside the solved flop.
        self._street = lru_cache(CACHED_STREETS)(self._view)

    def _view(self, cards: tuple[int, ...]) -> StreetView:
        subgame = self.subgame(*cards[:1])
        # A subgame has its own order where suits are alike.
        classes = [HAND_OF_COMBO[subgame.streets[0].combos(player, 0)] for player in Player]
        oop, ip = (own[held] for own, held in zip(self._reach, classes, strict=True))
        return StreetView(subgame, (oop, ip), cards, best=self._best)

    def subgame(self, turn: int | None = None) -> ExactSubgame:
        """The exact subgame of a turn card beside the solved flop; None: of all of them."""
        card: int | None = None
        lift: Lift = self.lift
        root = every_combo(self.flop.cards)[0]
        if turn is not None:
            lift, root = self.lift.on_turn(self.flop.cards, turn)
            (card,) = root.representatives
        subgame = self._turns.pop(card, None)
        if subgame is None:
            known = None if self._like is None else self._like._turns.get(card)
            subgame = ExactSubgame(
                self.pot.tree,
                self.pot.payoffs,
                root,
                every_combo(self.flop.cards)[1],
                like=known,
                buckets=lift.sharing,
                learns=False,
            )
            lift.fill(subgame)
        self._turns[card] = subgame  # the last to be dropped
        while len(self._turns) > CACHED_TURNS:
            del self._turns[next(iter(self._turns))]
        return subgame

    def at(self, way: Line, named: tuple[int, ...]) -> Decision:
        """A node after cards were dealt beside the flop that is `named` so; it has no line."""
        if self.pot.tree.kind[way.node] == NodeKind.DECISION:
            return self._decision(way, named)
        above = self._decision(Line(way.nodes[:-1], way.cards), named)
        action = taken_action(self.pot.tree, way.node)
        combos, reach = left_after(above, action)
        (oop, ip), (first, second) = combos, reach
        met = met_reach(oop, ip, second), met_reach(ip, oop, first)
        hands = _hands(combos, reach, met)
        return self._place(way, named, hands, lambda: self._left_evs(way.node, hands, above))

    def _decision(self, way: Line, named: tuple[int, ...]) -> Decision:
        flop = canonical_flop(named)
        view = self._street(flop.solved_cards(way.cards))
        numbers = view.node(way.node)
        oop, ip = (flop.named_combos(combos) for combos in numbers.combos)
        hands = _hands((oop, ip), numbers.reach, numbers.met)
        scale = BB.notation.scale
        results = Evs(
            (numbers.values[0] / scale, numbers.values[1] / scale), numbers.action_values / scale
        )
        evs = results.plus(self._paid(way.node), self.pot.tree.player_at(way.node))
        alike = view.rows(Player.OOP), view.rows(Player.IP)
        return self._place(way, named, hands, lambda: evs, numbers.strategy, alike)

    def _left_evs(self, node: int, hands: tuple[Hands, Hands], above: Decision) -> Evs:
        """EVs where a card is dealt, as far as they are known without visiting every card."""
        return deal_evs(self.pot.tree, node, hands, above, BB, raked=self.pot.rules.rake > 0)

    def _paid(self, node: int) -> tuple[float, float]:
        """The amounts that both players have put in over the whole hand."""
        oop, ip = paid_at(self.pot.tree, self.pot.rules.bb_ante, node)
        return BB.amount(oop), BB.amount(ip)

    def _place(
        self,
        way: Line,
        named: tuple[int, ...],
        hands: tuple[Hands, Hands],
        evaluate: Callable[[], Evs],
        strategy: Floats | None = None,
        alike: tuple[Longs, Longs] | None = None,
    ) -> Decision:
        tree, board = self.pot.tree, (*named, *way.cards)
        left = 52 - len(board)
        combos = _combos(hands[0]), _combos(hands[1])
        return Decision(
            line="",
            board=board,
            **betting_at(tree, way.node, BB),
            paid=self._paid(way.node),
            hands=hands,
            deal=lambda: left * (left - 1) * (left - 2) * (left - 3) / 4,
            equate=lambda: combo_equity(board, combos, (hands[0].reach, hands[1].reach)),
            evaluate=evaluate,
            strategy=np.zeros((0, len(hands[0].reach))) if strategy is None else strategy,
            alike=alike,
            locked=np.ones(len(combos[tree.player_at(way.node)]), np.bool_)
            if way.node in tree.locks
            else NOWHERE,
        )


def _combos(hands: Hands) -> Longs:
    assert hands.combos is not None
    return hands.combos


def _hands(combos: tuple[Longs, Longs], reach: Pair, met: Pair) -> tuple[Hands, Hands]:
    """Both players' hands; `met` [H]: reach of the other's that fit beside each."""
    oop, ip = (
        Hands(
            combos=combos[p],
            counts=np.ones(len(combos[p])),
            reach=reach[p],
            weights=reach[p] * met[p],
            start=float(len(combos[p])),
            cell_weights=_cell_weights(combos[p], reach[p], met[p]),
        )
        for p in Player
    )
    return oop, ip


def _cell_weights(combos: Longs, reach: Floats, met: Floats) -> Pair:
    """A class that never gets here shows its hypothetical play, all combos alike."""
    classes = HAND_OF_COMBO[combos].astype(np.int64)
    never = class_sums(classes, reach)[classes] <= 0
    shown = np.where(never, 1.0, reach)
    return shown, shown * met
