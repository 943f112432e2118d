"""Hands of a river board that play alike: equal in strength, and in what suits tell of them.

Suits still matter on the river through what a hand keeps the other player from holding:

- of a suit that makes flushes, three or more on the board: how many the hand holds, and whether the
  highest of them is the nuts, the second, the third or fourth, or lower;
- of a suit that missed, two on flop and turn and none on the river: whether it holds any.

Hands that agree in both share a strategy: 150 to 250 rows a board in place of 1,081 hands.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.cards import COMBO_CARDS, card_rank, card_suit, combo_strengths
from allstreets.engines.exact.cards import StreetBoards
from allstreets.engines.exact.hand_buckets import SharedRows, Sharing, shared_rows

RANKS, SUITS = 13, 4
# Of the highest card of a flush suit, by how many of the suit that the board lacks are above it.
HEIGHTS = np.array([0, 1, 2, 2, *[3] * (RANKS - 4)])
KINDS = 9  # of a suit: none held, or one or two with the highest at one of four heights


def suit_groups(board: tuple[int, ...], combos: Longs) -> Longs:
    """[C]: the group of each combo on a river board, the largest first: like ones side by side."""
    cards = COMBO_CARDS[combos].astype(np.int64)
    key = combo_strengths([board], COMBO_CARDS[combos])[0].astype(np.int64)
    for suit in range(SUITS):
        ranks = {card_rank(card) for card in board if card_suit(card) == suit}
        drawn = sum(card_suit(card) == suit for card in board[:4])
        held = cards % SUITS == suit
        if len(ranks) >= 3:
            missing = [rank for rank in range(RANKS - 1, -1, -1) if rank not in ranks]
            height = np.zeros(RANKS, np.int64)
            height[missing] = HEIGHTS[: len(missing)]
            highest = np.where(held, cards // SUITS, -1).max(axis=1)
            number = held.sum(axis=1)
            kind = np.where(number > 0, 1 + 4 * (number - 1) + height[highest], 0)
            key = key * KINDS + kind
        elif len(ranks) == drawn == 2:
            key = key * 2 + held.any(axis=1)
    _, group, sizes = np.unique(key, return_inverse=True, return_counts=True)
    place = np.empty(len(sizes), np.int64)
    place[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return place[group.reshape(-1)]


def suit_rows(street: StreetBoards, player: int, weights: Floats | None = None) -> SharedRows:
    """The rows of a player's hands on the boards of the river.

    `weights` [1326] are those of his range: a combo counts by them in the regrets of its row.
    """
    hands = street.hands[player]
    rows = [
        suit_groups(board, here.first) for board, here in zip(street.boards, hands, strict=True)
    ]
    if weights is None:
        return shared_rows(street, player, rows)
    by_hand = [
        np.bincount(here.hand, weights[here.combos], len(here.first)).astype(np.float64)
        for here in hands
    ]
    return shared_rows(street, player, rows, by_hand)


def suit_sharing(
    streets: Sequence[StreetBoards], weights: tuple[Floats, Floats] | None = None
) -> Sharing:
    """Rows on the river alone, if it is among the streets; `weights` [1326] are both ranges'."""
    river = streets[-1]
    if len(river.boards[0]) < 5:
        return [None] * len(streets)
    oop = suit_rows(river, 0, None if weights is None else weights[0])
    alike = river.hands[0] is river.hands[1] and (weights is None or np.array_equal(*weights))
    ip = oop if alike else suit_rows(river, 1, None if weights is None else weights[1])
    return [*[None] * (len(streets) - 1), (oop, ip)]


@dataclass(frozen=True, eq=False)
class SuitRows:
    """The rows by suits of a flop's rivers, found once for all pots that have the same boards."""

    _known: list[tuple[Sequence[StreetBoards], Sharing]] = field(default_factory=list)

    def sharing(self, streets: Sequence[StreetBoards]) -> Sharing:
        """The rows of these streets."""
        for known, rows in self._known:
            if known is streets:
                return rows
        self._known.append((streets, suit_sharing(streets)))
        return self._known[-1][1]
