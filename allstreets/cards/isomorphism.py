"""Suits have no order: boards and hands that differ by a renaming of suits are the same.

A renaming is a permutation p of the four suits: suit s becomes p[s]. All 24 are in
`SUIT_PERMUTATIONS`, the identity first, and `COMBO_PERMUTATIONS` says what each does to combos.

So are turn and river cards (`runouts`): after QsJh2h the 5c and the 5d are the same card as long as
both ranges treat clubs and diamonds alike. Ranges that do not, such as one that holds AcKc but not
AdKd, keep them apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs
from allstreets.cards.card import DECK_SIZE, card_suit, make_card
from allstreets.cards.hands import COMBO_CARDS, live_combos

SUIT_PERMUTATIONS: Bytes = np.array(list(permutations(range(4))), np.uint8)
"""[24, 4]: what each suit becomes; row 0 changes nothing."""
# The suit that holds the highest cards is called s, the next h, then d, then c.
SUIT_ORDER = (3, 2, 1, 0)


def _card_permutations() -> Bytes:
    ranks, suits = np.divmod(np.arange(DECK_SIZE), 4)
    return (4 * ranks + SUIT_PERMUTATIONS[:, suits]).astype(np.uint8)


CARD_PERMUTATIONS: Bytes = _card_permutations()
"""[24, 52]: what each card becomes."""


def _combo_permutations() -> NDArray[np.uint16]:
    renamed = CARD_PERMUTATIONS[:, COMBO_CARDS].astype(np.int64)
    high, low = renamed.max(axis=2), renamed.min(axis=2)
    numbers: Longs = high * (high - 1) // 2 + low
    return numbers.astype(np.uint16)


COMBO_PERMUTATIONS: NDArray[np.uint16] = _combo_permutations()
"""[24, 1326]: what each combo becomes."""

for _table in (SUIT_PERMUTATIONS, CARD_PERMUTATIONS, COMBO_PERMUTATIONS):
    _table.setflags(write=False)


@cache
def combo_orbits(renamings: tuple[int, ...]) -> Longs:
    """[1326]: the lowest of the combos that each becomes under a group of renamings.

    Where suits that the renamings exchange are equivalent, the combos of an orbit play alike, and
    one stands for all.
    """
    orbits: Longs = COMBO_PERMUTATIONS[list(renamings)].min(axis=0).astype(np.int64)
    orbits.setflags(write=False)
    return orbits


def suit_masks(cards: Sequence[int]) -> tuple[int, int, int, int]:
    """The ranks of each suit as 13 bits, in the order c d h s."""
    masks = [0, 0, 0, 0]
    for card in cards:
        masks[card_suit(card)] |= 1 << (card >> 2)
    return masks[0], masks[1], masks[2], masks[3]


def canonical_permutation(cards: Sequence[int]) -> int:
    """The number of the renaming that makes a set of cards canonical.

    Canonical means: the suits' rank sets, read as numbers, fall in the order s h d c. Suits with
    equal sets keep their order, so the renaming is unique.
    """
    masks = suit_masks(cards)
    by_mask = sorted(SUIT_ORDER, key=lambda suit: -masks[suit])  # stable
    renaming = [0, 0, 0, 0]
    for old, new in zip(by_mask, SUIT_ORDER, strict=True):
        renaming[old] = new
    return _number_of_renaming()[tuple(renaming)]


@cache
def _number_of_renaming() -> dict[tuple[int, ...], int]:
    return {tuple(row): number for number, row in enumerate(SUIT_PERMUTATIONS.tolist())}


def canonical_cards(cards: Sequence[int]) -> tuple[int, ...]:
    """A set of cards under its canonical renaming, highest card first.

    >>> from allstreets.cards.card import cards_text, parse_cards
    >>> cards_text(canonical_cards(parse_cards("2c Ah Kc")))
    'AsKh2h'
    """
    renamed = CARD_PERMUTATIONS[canonical_permutation(cards)][list(cards)]
    return tuple(sorted(renamed.tolist(), reverse=True))


def boards_alike(board: Sequence[int]) -> int:
    """The number of boards that differ from this board only by the names of suits, itself included.

    The flop is three cards in any order; turn and river keep their places.

    >>> from allstreets.cards.card import parse_cards
    >>> boards_alike(parse_cards("AhKd7s")), boards_alike(parse_cards("AhKh7h9c"))
    (24, 12)
    """
    renamed = CARD_PERMUTATIONS[:, list(board)].astype(np.int64)
    renamed[:, :3].sort(axis=1)
    return len(np.unique(renamed, axis=0))


def canonical_boards(size: int) -> tuple[Bytes, Longs]:
    """All sets of `size` cards up to renaming, [B, size], and how many sets each stands for [B].

    1,755 flops standing for 22,100, and 134,459 rivers standing for 2,598,960.
    """
    boards: list[tuple[int, ...]] = []
    multiplicities: list[int] = []
    for masks in _falling_masks(4, size, 1 << 13):
        cards = (
            make_card(rank, suit)
            for suit, mask in zip(SUIT_ORDER, masks, strict=True)
            for rank in range(13)
            if mask >> rank & 1
        )
        boards.append(tuple(sorted(cards, reverse=True)))
        equal = [masks.count(mask) for mask in set(masks)]
        multiplicities.append(24 // int(np.prod([factorial(count) for count in equal])))
    order = sorted(range(len(boards)), key=lambda i: boards[i], reverse=True)
    return (
        np.array([boards[i] for i in order], np.uint8),
        np.array([multiplicities[i] for i in order], np.int64),
    )


def _falling_masks(suits: int, size: int, limit: int) -> Iterator[tuple[int, ...]]:
    """Rank sets for `suits` suits with `size` cards in all, each at most `limit` and falling."""
    if suits == 0:
        if size == 0:
            yield ()
        return
    for count in range(size + 1):
        for mask in _masks_of_size(count):
            if mask <= limit:
                for rest in _falling_masks(suits - 1, size - count, mask):
                    yield (mask, *rest)


@cache
def _masks_of_size(count: int) -> tuple[int, ...]:
    return tuple(sum(1 << rank for rank in ranks) for ranks in combinations(range(13), count))


CARD_SOURCES: list[list[int]] = np.argsort(CARD_PERMUTATIONS, axis=1).tolist()
"""[24][52]: the card that becomes each card under a renaming of suits."""


@dataclass(frozen=True)
class Runouts:
    """The next cards of a board, and which of them are isomorphic given the symmetry of the ranges.

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
        """The same board with only some of its own renamings."""
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
            # The renaming takes the other card to this card, so look at what this card comes from.
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
