"""The 1,755 flops that differ by more than the names of suits, and their textures."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from allstreets.base import InputError, Longs
from allstreets.cards.card import RANKS, card_rank, card_suit, cards_text, parse_board
from allstreets.cards.hands import COMBO_COUNT
from allstreets.cards.isomorphism import (
    CARD_PERMUTATIONS,
    COMBO_PERMUTATIONS,
    SUIT_PERMUTATIONS,
    canonical_boards,
    canonical_permutation,
)

FLOP_COUNT = 1755
SUITS_NAMES = {1: "monotone", 2: "two-tone", 3: "rainbow"}
PAIRING_NAMES = {1: "trips", 2: "paired", 3: "unpaired"}


@dataclass(frozen=True)
class Texture:
    """How players describe a flop."""

    suits: str  # rainbow, two-tone or monotone
    pairing: str  # unpaired, paired or trips
    high_card: str  # A, K, …
    connectedness: str  # connected: 3 ranks that make straights as they stand; see `texture`
    straight_possible: bool  # two hole cards can make a straight


@dataclass(frozen=True)
class Flop:
    """A canonical flop: highest card first, suits in the order s h d c by the cards they hold."""

    number: int  # 0..1754
    cards: tuple[int, int, int]
    multiplicity: int  # how many of the 22,100 flops it stands for
    texture: Texture

    @property
    def text(self) -> str:
        """The flop's cards: "AsKh7d"."""
        return cards_text(self.cards)


@dataclass(frozen=True)
class CanonicalFlop:
    """A flop, the canonical flop that it is, and the renaming of suits between them."""

    flop: Flop
    permutation: (
        int  # the row of `SUIT_PERMUTATIONS` that takes the given flop to the canonical one
    )

    @property
    def suit_map(self) -> tuple[int, ...]:
        """The suits that c d h s of the given flop become."""
        return tuple(SUIT_PERMUTATIONS[self.permutation].tolist())

    def solved_cards(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Cards beside the given flop as they lie beside the canonical one."""
        return tuple(CARD_PERMUTATIONS[self.permutation][list(cards)].tolist())

    def named_cards(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Cards beside the canonical flop in the suits of the given one."""
        return tuple(np.argsort(CARD_PERMUTATIONS[self.permutation])[list(cards)].tolist())

    def named_combos(self, combos: Longs) -> Longs:
        """[H]: combos beside the canonical flop in the suits of the given one."""
        back = np.empty(COMBO_COUNT, np.int64)
        back[COMBO_PERMUTATIONS[self.permutation]] = np.arange(COMBO_COUNT)
        return back[combos]


def texture(cards: Sequence[int]) -> Texture:
    """The texture of three cards.

    Connectedness looks at the different ranks, the ace high or low, whichever is closer:
    *connected* when they lie within five ranks of each other (a straight is possible),
    *semi-connected* when two of them lie within three ranks (97x, 98x), else *disconnected*.

    >>> from allstreets.cards.card import parse_cards
    >>> t = texture(parse_cards("9h8h2c"))
    >>> t.suits, t.pairing, t.high_card, t.connectedness, t.straight_possible
    ('two-tone', 'unpaired', '9', 'semi-connected', False)
    """
    ranks = sorted({card_rank(card) for card in cards}, reverse=True)
    low_ace = sorted({-1 if rank == 12 else rank for rank in ranks}, reverse=True)
    span = min(ranks[0] - ranks[-1], low_ace[0] - low_ace[-1])
    closest = min(
        (high - low for spelling in (ranks, low_ace) for high, low in pairwise(spelling)), default=0
    )
    if len(ranks) == 1:
        connectedness = "disconnected"
    elif span <= 4:
        connectedness = "connected"
    elif closest <= 2:
        connectedness = "semi-connected"
    else:
        connectedness = "disconnected"
    return Texture(
        suits=SUITS_NAMES[len({card_suit(card) for card in cards})],
        pairing=PAIRING_NAMES[len(ranks)],
        high_card=RANKS[ranks[0]],
        connectedness=connectedness,
        straight_possible=len(ranks) == 3 and span <= 4,
    )


@cache
def all_flops() -> tuple[Flop, ...]:
    """The 1,755 canonical flops, highest cards first; their multiplicities sum to 22,100."""
    boards, multiplicities = canonical_boards(3)
    return tuple(
        Flop(number, (high, middle, low), multiplicity, texture((high, middle, low)))
        for number, ((high, middle, low), multiplicity) in enumerate(
            zip(boards.tolist(), multiplicities.tolist(), strict=True)
        )
    )


@cache
def _number_of_cards() -> dict[tuple[int, ...], int]:
    return {flop.cards: flop.number for flop in all_flops()}


def canonical_flop(cards: Sequence[int]) -> CanonicalFlop:
    """The canonical flop of any three cards, with the renaming that leads to it."""
    if len(set(cards)) != 3:
        raise InputError(f"a flop has 3 different cards, not '{cards_text(cards)}'")
    permutation = canonical_permutation(cards)
    renamed = np.sort(CARD_PERMUTATIONS[permutation][list(cards)])[::-1]
    return CanonicalFlop(all_flops()[_number_of_cards()[tuple(renamed.tolist())]], permutation)


def parse_flop(text: str) -> CanonicalFlop:
    """Read a flop such as "AhKd7s"."""
    cards = parse_board(text)
    if len(cards) != 3:
        raise InputError(f"'{text}' has {len(cards)} cards: a flop has 3, such as AhKd7s")
    return canonical_flop(cards)
