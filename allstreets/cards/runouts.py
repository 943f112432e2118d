"""Turn and river cards that are the same but for the names of suits, and how hands correspond.

After QsJh2h the 5c and the 5d are the same card as long as both ranges treat clubs and diamonds
alike. Ranges that do not, such as one that holds AcKc but not AdKd, keep them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats
from allstreets.cards.card import DECK_SIZE
from allstreets.cards.combos import live_combos
from allstreets.cards.isomorphism import (
    CARD_PERMUTATIONS,
    COMBO_PERMUTATIONS,
    SUIT_PERMUTATIONS,
)

CARD_SOURCES: list[list[int]] = np.argsort(CARD_PERMUTATIONS, axis=1).tolist()
"""[24][52]: the card that becomes each card under a renaming of suits."""


@dataclass(frozen=True)
class Runouts:
    """Which next cards are the same after a board, given the symmetry of the ranges.

    Only the cards in `representatives` need solving. Card c plays like `representative[c]` after
    every hand has been renamed: hand h with card c does what hand
    `COMBO_PERMUTATIONS[permutation[c]][h]` does with the representative.
    """

    board: tuple[int, ...]
    symmetries: tuple[int, ...]  # renamings that leave the board and both ranges as they are
    representatives: tuple[int, ...]
    multiplicities: tuple[int, ...]  # how many cards each representative stands for, itself too
    representative: NDArray[np.int8]  # [52]: −1 for cards on the board
    permutation: Bytes  # [52]: takes the card to its representative

    def after(self, card: int) -> "Runouts":
        """The runouts after one more card: only renamings that leave it in place remain."""
        return _runouts((*self.board, card), self.symmetries_after(card))

    def symmetries_after(self, card: int) -> tuple[int, ...]:
        """The renamings that leave one more card in place."""
        return tuple(p for p in self.symmetries if CARD_PERMUTATIONS[p, card] == card)

    def with_symmetries(self, symmetries: tuple[int, ...]) -> "Runouts":
        """The same board with these renamings only, some of its own."""
        return self if symmetries == self.symmetries else _runouts(self.board, symmetries)


def board_symmetries(board: Sequence[int], weights: Sequence[Floats]) -> tuple[int, ...]:
    """The renamings that leave the board, as a set, and each range's weights [1326] as they are."""
    on_board = set(board)
    return tuple(
        number
        for number in range(len(SUIT_PERMUTATIONS))
        if {int(CARD_PERMUTATIONS[number, card]) for card in board} == on_board
        and all(np.array_equal(w[COMBO_PERMUTATIONS[number]], w) for w in weights)
    )


def runouts(board: Sequence[int], weights: Sequence[Floats] = ()) -> Runouts:
    """The classes of next cards after `board` for players whose ranges have these weights.

    Weights of combos that the board blocks do not matter. Ranges that treat suits differently
    leave fewer renamings, or none but the identity.
    """
    live = live_combos(tuple(board))
    symmetries = board_symmetries(board, [np.where(live, w, 0.0) for w in weights])
    return _runouts(tuple(board), symmetries)


def _runouts(board: tuple[int, ...], symmetries: tuple[int, ...]) -> Runouts:
    representative, permutation = [-1] * DECK_SIZE, [0] * DECK_SIZE
    counts: dict[int, int] = {}
    for card in range(DECK_SIZE):
        if card in board or representative[card] >= 0:
            continue
        counts[card] = 0
        for number in symmetries:
            # The renaming takes the other card to this one, so look at what this one comes from.
            other = CARD_SOURCES[number][card]
            if representative[other] < 0:
                representative[other], permutation[other] = card, number
                counts[card] += 1
    return Runouts(
        board,
        symmetries,
        tuple(counts),
        tuple(counts.values()),
        np.array(representative, np.int8),
        np.array(permutation, np.uint8),
    )
