"""Hand strength: any 5, 6 or 7 cards as a number 1..7462, higher is better, equal hands equal.

The numbers are the places of the 7,462 different five-card hands, from 7-5-4-3-2 (1) to the royal
flush (7462).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allstreets.base import Bytes, InputError
from allstreets.cards.card import DECK_SIZE, cards_text
from allstreets.cards.combos import COMBO_CARDS
from allstreets.cards.evaluator_tables import CATEGORIES, category_starts, evaluator_tables
from allstreets.cards.kernels.evaluator import evaluate_combos, evaluate_hands

STRENGTH_COUNT = 7462


def evaluate(hands: ArrayLike) -> NDArray[np.uint16]:
    """[N]: the strength of each hand of `hands` [N, 5..7], given as cards 0..51.

    >>> from allstreets.cards import parse_cards
    >>> evaluate([parse_cards("As Ks Qs Js Ts 2c 3d"), parse_cards("7c 5d 4h 3s 2c 2d 2h")])
    array([7462, 5004], dtype=uint16)
    """
    cards = np.ascontiguousarray(hands)
    if cards.ndim != 2 or cards.shape[1] not in (5, 6, 7):
        raise InputError(f"hands must be an array [N, 5..7] of cards, not of shape {cards.shape}")
    if not np.issubdtype(cards.dtype, np.integer):
        raise InputError(f"cards are whole numbers 0..51, not {cards.dtype}")
    if cards.size and (cards.min() < 0 or cards.max() >= DECK_SIZE):
        raise InputError(f"cards are whole numbers 0..51, not {cards.min()}..{cards.max()}")
    cards = cards.astype(np.uint8, copy=False)
    in_order = np.sort(cards, axis=1)
    twice = (in_order[:, 1:] == in_order[:, :-1]).any(axis=1)
    if twice.any():
        row = int(np.argmax(twice))
        raise InputError(f"hand {row} holds a card twice: {cards_text(cards[row].tolist())}")
    out = np.empty(len(cards), np.uint16)
    evaluate_hands(cards, evaluator_tables(), out)
    return out


def combo_strengths(boards: ArrayLike, combos: Bytes = COMBO_CARDS) -> NDArray[np.uint16]:
    """[B, C]: the strength of each combo [C, 2] on each board [B, 5]; 65535 where they collide."""
    cards = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1, 5)
    out = np.empty((len(cards), len(combos)), np.uint16)
    evaluate_combos(cards, np.ascontiguousarray(combos), evaluator_tables(), out)
    return out


def category(strength: int) -> str:
    """The name of a strength's category.

    >>> category(7462), category(1)
    ('straight flush', 'high card')
    """
    if not 1 <= strength <= STRENGTH_COUNT:
        raise InputError(f"a hand strength is 1..{STRENGTH_COUNT}, not {strength}")
    return CATEGORIES[int(np.searchsorted(category_starts(), strength, side="right")) - 1]
