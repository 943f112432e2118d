"""A flop of a whole game that was solved exactly: the spot in the seats and units of the game.

The spot has the tree of its pot to the last chip, and the ranges that the game sends there, scaled
so that their largest weight is 1. So a node of the pot is the same node of the spot. Suits may be
named differently: a solved flop serves all of its spellings.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import CHIPS_PER_BB, Player, paid_at
from allstreets.cards import (
    COMBO_PERMUTATIONS,
    CanonicalFlop,
    canonical_flop,
    hand_combos,
)
from allstreets.games import PotGame
from allstreets.solutions.decision import BB, Decision, Evs, Hands, betting_at
from allstreets.solutions.spot import SpotSolution
from allstreets.solutions.walk import Deal, Position


@dataclass(frozen=True, eq=False)
class ExactFlop:
    """A solved spot as a part of its game."""

    spot: SpotSolution
    pot: PotGame
    reach: Floats  # [2, 169]: both players' reach where the flop is dealt
    flop: tuple[int, ...]  # in the suits on the table
    note: str = ""  # the distance of the game's own play from exact play, in words

    @property
    def accuracy(self) -> str:
        """The accuracy of the solution, in words."""
        return self.spot.accuracy_text

    @cached_property
    def _here(self) -> CanonicalFlop:
        return canonical_flop(self.flop)

    @cached_property
    def _there(self) -> CanonicalFlop:
        return canonical_flop(self.spot.spot.cards)

    def _table_combos(self, combos: Longs) -> Longs:
        """[H]: combos of the spot in the suits on the table."""
        canonical = COMBO_PERMUTATIONS[self._there.permutation][combos].astype(np.int64)
        return self._here.named_combos(canonical)

    @cached_property
    def _scales(self) -> tuple[float, float]:
        """The game's reach over the spot's weights, of OOP and IP."""
        live = hand_combos(self.flop) > 0
        return float(self.reach[0][live].max()), float(self.reach[1][live].max())

    def deal(self, position: Position) -> Deal:
        """One card a street."""
        return self.spot.deal(self._position(position))

    def _position(self, position: Position) -> Position:
        """The same node in the spot."""
        cards = self._here.solved_cards(position.cards[3:])
        return Position(position.node, cards=self._there.named_cards(cards))

    def decision(self, position: Position) -> Decision:
        """A node of the pot by combo, as the spot plays it."""
        shown = self.spot.decision(self._position(position))
        tree, node, scales = self.pot.tree, position.node, self._scales
        chips = paid_at(tree, self.pot.rules.bb_ante, node)
        paid = BB.amount(chips[0]), BB.amount(chips[1])
        left = 52 - len(position.cards)

        def evs() -> Evs:
            known = shown.learned
            oop, ip = (hands / CHIPS_PER_BB for hands in known.hands)
            ranges = [None if ev is None else ev / CHIPS_PER_BB for ev in known.ranges]
            return Evs((oop, ip), known.actions / CHIPS_PER_BB, None, (ranges[0], ranges[1]))

        def scaled(player: Player) -> Hands:
            hands = shown.hands[player]
            assert hands.combos is not None
            return replace(
                hands,
                combos=self._table_combos(hands.combos),
                reach=hands.reach * scales[player],
                weights=hands.weights * scales[0] * scales[1],
                start=hands.start * scales[player],
            )

        return replace(
            shown,
            board=position.cards,
            **betting_at(tree, node, BB),
            paid=paid,
            hands=(scaled(Player.OOP), scaled(Player.IP)),
            deal=lambda: left * (left - 1) * (left - 2) * (left - 3) / 4,
            equate=lambda: shown.equities,
            evaluate=evs,
        )


class ExactFlops(Protocol):
    """The flops of a whole game that were solved exactly."""

    @property
    def every(self) -> bool:
        """Whether every flop is found, because missing flops are drafted."""

    def find(self, root: int, flop: tuple[int, ...]) -> ExactFlop | None:
        """The flop in the pot that a root leads to, in any suits; None: it was not solved."""

    def refresh(self) -> None:
        """Look for flops solved meanwhile."""
