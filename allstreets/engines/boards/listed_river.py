"""The river of an exact subgame as lists, without an object for each of its two thousand boards.

Kernels read lists, which `river_street` makes ten times as fast as `exact.cards.next_street`
makes the hands of each board. A board that is looked at gets its hands from the lists.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, overload

import numpy as np

from allstreets.base import Bytes, Longs
from allstreets.cards import Runouts
from allstreets.engines.boards.cards import RiverStreet, river_street
from allstreets.engines.exact.cards import (
    BoardHands,
    StreetBoards,
    first_street,
    next_street,
    whole_vectors,
)
from allstreets.engines.exact.kernels.layout import HandLists

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class MadeOnDemand(Sequence[Made]):
    """A sequence whose items are made when they are first read."""

    length: int
    make: Callable[[int], Made]
    made: dict[int, Made] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, at: int) -> Made: ...
    @overload
    def __getitem__(self, at: slice) -> list[Made]: ...
    def __getitem__(self, at: int | slice) -> Made | list[Made]:
        if isinstance(at, slice):
            return [self[number] for number in range(self.length)[at]]
        number = range(self.length)[at]
        if number not in self.made:
            self.made[number] = self.make(number)
        return self.made[number]


@dataclass(frozen=True)
class ListedRiver(StreetBoards):
    """River boards whose lists are known."""

    known: tuple[HandLists, HandLists]

    @property
    def lists(self) -> tuple[HandLists, HandLists]:
        """The hands of OOP and IP as the kernels read them."""
        return self.known


def flop_streets(root: Runouts, combos: tuple[Longs, Longs]) -> list[StreetBoards]:
    """The boards of a flop as an exact subgame makes them; [] where the root is no flop.

    An object for each river board would take most of a subgame's time.
    """
    if len(root.board) != 3:
        return []
    flop = first_street(root, combos)
    turn = next_street(flop)
    return [flop, turn, listed_river(turn)]


def listed_river(turn: StreetBoards) -> ListedRiver:
    """The river boards below the turn boards of a flop, as `next_street` has them."""
    river = river_street(turn)
    alike = turn.hands[1] is turn.hands[0]
    other = river if alike else river_street(turn, 1)
    first = river.children

    def runouts_of(board: int) -> Runouts:
        above = turn.runouts[river.parents[board]]
        return above.after(above.representatives[board - first[river.parents[board]]])

    def hands_of(player: int, street: RiverStreet) -> MadeOnDemand[BoardHands]:
        hands = turn.hands[player]
        return MadeOnDemand(count, lambda at: _hands_of(street, hands[street.parents[at]], at))

    count = len(river.parents)
    oop = hands_of(0, river)
    return ListedRiver(
        MadeOnDemand(count, runouts_of),
        tuple(river.parents),
        (oop, oop if alike else hands_of(1, other)),
        (river.hands, other.hands),
    )


def _hands_of(river: RiverStreet, above: BoardHands, board: int) -> BoardHands:
    lists = river.hands
    hands = slice(int(lists.start[board]), int(lists.start[board] + lists.counts[board]))
    combos = slice(int(lists.combo_start[board]), int(lists.combo_start[board + 1]))
    hand = lists.combo_hand[combos].astype(np.int64)
    sizes = np.bincount(hand, minlength=hands.stop - hands.start)
    parent = lists.parent[hands].astype(np.int64)
    return BoardHands(
        _combos(lists.combo_cards[2 * combos.start : 2 * combos.stop]),
        hand,
        _combos(lists.cards[2 * hands.start : 2 * hands.stop]),
        sizes,
        parent,
        int(river.same[board]) * (1 / 44) * sizes / above.sizes[parent],
        whole_vectors(len(above.first)),
    )


def _combos(cards: Bytes) -> Longs:
    """[C]: the numbers (`cards.combo_index`) of combos, of each the higher card and the lower."""
    pairs: Longs = cards.reshape(-1, 2).astype(np.int64)
    numbers: Longs = pairs[:, 0] * (pairs[:, 0] - 1) // 2 + pairs[:, 1]
    return numbers
