"""Turn and river of a pot on a flop where what is stored goes by the cards that lie there.

The stored strategies are played by real combos in an exact subgame, as they are judged with real
cards: on a board a combo does what its row or group does, and EVs are those of the cards that may
still come, not of groups.
"""

from collections.abc import Callable

import numpy as np

from allstreets.base import Floats, Longs, Pair
from allstreets.betting import Line, NodeKind, Player, paid_at
from allstreets.cards import (
    HAND_OF_COMBO,
    Flop,
    canonical_flop,
    combo_equity,
    fitting,
)
from allstreets.engines import ExactSubgame, Lift, StreetView, every_combo
from allstreets.games import PotGame
from allstreets.solutions.decision import BB, NOWHERE, Decision, Evs, betting_at
from allstreets.solutions.hands import Hands, class_sums
from allstreets.solutions.spot import deal_evs, left_after, taken_action

CACHED_STREETS = 16  # boards that stay in memory: of a big pot, megabytes each


class RealStreets:
    """Every place after the flop; cards and combos are in the suits that a flop is named in."""

    def __init__(
        self,
        pot: PotGame,
        flop: Flop,
        play: Lift,
        reach: Floats,
        like: "RealStreets | None" = None,
    ) -> None:
        """`reach` [2, 169] starts the pot; `like` is another pot on the same flop."""
        self.pot, self.flop = pot, flop
        self.subgame: ExactSubgame = ExactSubgame(
            pot.tree,
            pot.payoffs,
            *every_combo(flop.cards),
            like=None if like is None else like.subgame,
            buckets=play.sharing,
            learns=False,
        )
        play.fill(self.subgame)
        oop, ip = (
            reach[player][HAND_OF_COMBO[self.subgame.streets[0].combos(player, 0)]]
            for player in Player
        )
        self._reach = oop, ip
        self._views: dict[tuple[int, ...], StreetView] = {}

    def at(self, way: Line, named: tuple[int, ...]) -> Decision:
        """A place after cards were dealt beside the flop that is `named` so; it has no line."""
        if self.pot.tree.kind[way.node] == NodeKind.DECISION:
            return self._decision(way, named)
        above = self._decision(Line(way.nodes[:-1], way.cards), named)
        action = taken_action(self.pot.tree, way.node)
        combos, reach = left_after(above, action)
        fits = fitting(*combos)
        hands = _hands(combos, reach, (fits @ reach[1], reach[0] @ fits))
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

    def _street(self, cards: tuple[int, ...]) -> StreetView:
        """The street after these cards beside the solved flop."""
        found = self._views.pop(cards, None) or StreetView(self.subgame, self._reach, cards)
        self._views[cards] = found  # the last to be given up
        while len(self._views) > CACHED_STREETS:
            del self._views[next(iter(self._views))]
        return found

    def _left_evs(self, node: int, hands: tuple[Hands, Hands], above: Decision) -> Evs:
        """EVs where a card is dealt, as far as they are known without looking at every card."""
        return deal_evs(self.pot.tree, node, hands, above, BB, raked=self.pot.rules.rake > 0)

    def _paid(self, node: int) -> tuple[float, float]:
        """What both players have put in over the whole hand."""
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
    """A class that never gets here shows what it would do, all combos alike."""
    classes = HAND_OF_COMBO[combos].astype(np.int64)
    never = class_sums(classes, reach)[classes] <= 0
    shown = np.where(never, 1.0, reach)
    return shown, shown * met
