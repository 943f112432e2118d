"""Cards and boards as numbers, and the texts people write for them.

A card is 0..51 = 4 · rank + suit, ranks 2..A, suits c d h s: "2c" is 0 and "As" is 51.
"""

import re
from collections.abc import Iterable

from allstreets.base import InputError, shorten

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK_SIZE = 52

SEPARATORS = re.compile(r"[\s,]+")


def card_rank(card: int) -> int:
    """Rank 0..12 of a card (2 is 0, the ace 12)."""
    return card >> 2


def card_suit(card: int) -> int:
    """Suit 0..3 of a card, in the order c d h s."""
    return card & 3


def make_card(rank: int, suit: int) -> int:
    """The card of a rank 0..12 and a suit 0..3."""
    return 4 * rank + suit


def card_text(card: int) -> str:
    """The two letters of a card.

    >>> card_text(0), card_text(51)
    ('2c', 'As')
    """
    return RANKS[card_rank(card)] + SUITS[card_suit(card)]


def cards_text(cards: Iterable[int]) -> str:
    """Cards written one after the other, without spaces: "QsJh2h"."""
    return "".join(card_text(card) for card in cards)


def parse_card(text: str) -> int:
    """Read one card; upper and lower case both do.

    >>> parse_card("As"), parse_card("tD")
    (51, 33)
    """
    if len(text) == 2:
        rank, suit = RANKS.find(text[0].upper()), SUITS.find(text[1].lower())
        if rank >= 0 and suit >= 0:
            return make_card(rank, suit)
    raise InputError(
        f"'{shorten(text)}' is not a card: write a rank {RANKS} and a suit {SUITS}, such as As or "
        "Td"
    )


def parse_cards(text: str) -> tuple[int, ...]:
    """Read cards in any of the usual spellings; order is kept, a card twice is an error.

    >>> parse_cards("QsJh2h") == parse_cards("Qs Jh 2h") == parse_cards("Qs,Jh,2h")
    True
    """
    letters = SEPARATORS.sub("", text).replace("10", "T")
    if len(letters) % 2:
        raise InputError(
            f"'{shorten(text)}' has an odd number of letters: every card takes two, as in Qs"
        )
    cards = tuple(parse_card(letters[i : i + 2]) for i in range(0, len(letters), 2))
    for position, card in enumerate(cards):
        if card in cards[:position]:
            raise InputError(f"'{shorten(text)}' contains the card {card_text(card)} twice")
    return cards


def parse_board(text: str) -> tuple[int, ...]:
    """Read a board: 0 (preflop), 3 (flop), 4 (turn) or 5 (river) different cards."""
    cards = parse_cards(text)
    if len(cards) not in (0, 3, 4, 5):
        raise InputError(
            f"the board '{shorten(text)}' has {len(cards)} card{'' if len(cards) == 1 else 's'}: "
            "a flop has 3, a turn 4 and a river 5"
        )
    return cards
