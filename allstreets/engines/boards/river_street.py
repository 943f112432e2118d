"""The river boards below a flop in lists alone, when both players may hold every combo.

They are those of `exact.cards.next_street`, board for board and hand for hand. A flop has some two
thousand: a kernel makes their lists, without an object for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Longs
from allstreets.cards import COMBO_CARDS, COMBO_COUNT, combo_orbits, combo_strengths
from allstreets.engines.boards.kernels.river_lists import count_hands, list_hands
from allstreets.engines.exact.cards import StreetBoards, starts_of, whole_vectors
from allstreets.engines.exact.kernels.layout import PADDING_CARD, HandLists


@dataclass(frozen=True)
class RiverStreet:
    """B river boards."""

    parents: Sequence[int]  # [B]: board one street up
    same: Longs  # [B]: cards that the last one stands for, itself too
    hands: HandLists  # of both players
    mass: NDArray[np.uint16]  # by hand: the pairs of river card and combo that it stands for

    @property
    def children(self) -> Longs:
        """[T+1]: river boards before those of each turn board."""
        return starts_of(np.bincount(self.parents))


def river_street(turn: StreetBoards) -> RiverStreet:
    """One more card."""
    boards, parents, same, orbit_of = [], [], [], []
    orbits: dict[tuple[int, ...], int] = {}
    for number, here in enumerate(turn.runouts):
        for card, count in zip(here.representatives, here.multiplicities, strict=True):
            boards.append((*here.board, card))
            parents.append(number)
            same.append(count)
            orbit_of.append(orbits.setdefault(here.symmetries_after(card), len(orbits)))
    above = np.zeros((len(turn.runouts), COMBO_COUNT), np.uint16)
    above_sizes = np.ones((len(turn.runouts), COMBO_COUNT), np.int64)
    for number, hands in enumerate(turn.hands[0]):
        above[number, hands.combos] = hands.hand
        above_sizes[number, hands.combos] = hands.sizes[hands.hand]
    strengths = combo_strengths(boards)
    which = np.array(orbit_of)
    tables = np.stack([combo_orbits(renamings) for renamings in orbits]).astype(np.uint16)
    hand_count, combo_count = np.zeros(len(boards), np.int64), np.zeros(len(boards), np.int64)
    count_hands(strengths, which, tables, hand_count, combo_count)
    start = starts_of([whole_vectors(count) for count in hand_count.tolist()])
    combo_start = starts_of(combo_count)
    total, combos = int(start[-1]), int(combo_start[-1])
    lists = HandLists(
        start,
        hand_count,
        np.full(2 * total, PADDING_CARD, np.uint8),
        np.zeros(total, np.uint16),
        np.zeros(total, np.uint16),
        np.zeros(total, np.float32),
        combo_start,
        np.zeros(2 * combos, np.uint8),
        np.zeros(combos, np.uint16),
        np.zeros(combos, np.uint16),
    )
    counts, mass = np.array(same, np.int64), np.zeros(total, np.uint16)
    list_hands(
        strengths,
        which,
        tables,
        np.array(parents, np.int64),
        above,
        above_sizes,
        np.array([whole_vectors(len(hands.first)) for hands in turn.hands[0]], np.int64),
        counts,
        COMBO_CARDS,
        start,
        combo_start,
        lists.cards,
        lists.strengths,
        lists.parent,
        lists.weight,
        lists.combo_cards,
        lists.combo_strengths,
        lists.combo_hand,
        mass,
    )
    return RiverStreet(tuple(parents), counts, lists, mass)
