"""Hand strength: any 5, 6 or 7 cards as a number 1..7462, higher is better, equal hands equal.

The number is the rank among the 7,462 different five-card hands, from 7-5-4-3-2 (1) to the royal
flush (7462). The tables behind them are built from the rules of poker in a tenth of a second:

1. A *score* orders hands: the category, then the ranks that decide within it, as one number.
2. The 7,462 different five-card hands, sorted by score, are numbered 1..7462: the *strength*.
3. Every multiset of 5, 6 or 7 ranks, and every set of five or more suited ranks, gets the
   strength of its best five cards.

`cards.kernels.evaluator` describes how the kernels read them.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allstreets.base import Bytes, Flags, InputError, Longs, cached_arrays
from allstreets.cards.card import DECK_SIZE, cards_text
from allstreets.cards.hands import COMBO_CARDS
from allstreets.cards.kernels.evaluator import (
    HIGH_MASK,
    LOW_BITS,
    LOW_MASK,
    EvaluatorTables,
    evaluate_combos,
    evaluate_hands,
)

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
LOW_RANKS, HIGH_RANKS = 7, 6  # 2..8 and 9..A


TABLES = "evaluator"
TABLES_VERSION = 1
STRENGTH_COUNT = 7462


@cache
def evaluator_tables() -> EvaluatorTables:
    """The tables of the kernels, from the cache folder, or built and stored there."""
    built = cached_arrays(TABLES, TABLES_VERSION, lambda: build_tables()._asdict())
    tables = EvaluatorTables(**built)
    for table in tables:
        table.setflags(write=False)
    return tables


def build_tables() -> EvaluatorTables:
    """The tables of the kernels, from the rules."""
    low_counts = _digits(LOW_RANKS).sum(axis=1)
    low_slots = np.zeros(int(LOW_MASK) + 1, np.uint16)
    for count in range(8):
        members = np.flatnonzero(low_counts == count)
        low_slots[members] = np.arange(len(members))

    row_starts = np.zeros((3, int(HIGH_MASK) + 1), np.int32)
    strengths: list[NDArray[np.uint16]] = []
    filled = 0
    for size in (5, 6, 7):
        for high_multisets, counts in _rank_counts(size):
            row_length = len(counts) // len(high_multisets)
            row_starts[size - 5, high_multisets] = filled + row_length * np.arange(
                len(high_multisets)
            )
            strengths.append(_strength_of_score(_score_without_flush(counts)))
            filled += len(counts)

    # Colliding cards may pair the last row with the highest slot; see the kernels.
    strengths.append(np.zeros(int(low_slots.max()) + 1, np.uint16))

    ranks, suits = np.divmod(np.arange(DECK_SIZE, dtype=np.uint64), 4)
    low = ranks < LOW_RANKS
    rank_keys = np.where(low, 5**ranks, 5 ** np.where(low, 0, ranks - LOW_RANKS) << LOW_BITS)
    return EvaluatorTables(
        card_keys=rank_keys.astype(np.uint64) + (np.uint64(1) << (32 + 4 * suits)),
        card_bits=np.uint64(1) << (16 * suits + ranks),
        low_slots=low_slots,
        row_starts=row_starts,
        strengths=np.concatenate(strengths),
        flushes=_flush_table(),
    )


@cache
def category_starts() -> Longs:
    """[9]: the lowest strength of each category."""
    return 1 + np.searchsorted(_all_scores(), np.arange(len(CATEGORIES)) << 20)


def _digits(ranks: int) -> Longs:
    """[5^ranks, ranks]: every number below 5^ranks as its digits = cards of each rank."""
    return np.arange(5**ranks)[:, None] // 5 ** np.arange(ranks) % 5


def _rank_counts(size: int) -> Iterator[tuple[Longs, Longs]]:
    """All multisets of `size` ranks, in blocks that share the number of high cards.

    Yields (high multisets [M], counts [M · L, 13]): each high multiset is followed through its L
    low multisets, the order that `row_starts` and `low_slots` rely on.
    """
    low_digits, high_digits = _digits(LOW_RANKS), _digits(HIGH_RANKS)
    for high_cards in range(size + 1):
        highs = np.flatnonzero(high_digits.sum(axis=1) == high_cards)
        lows = np.flatnonzero(low_digits.sum(axis=1) == size - high_cards)
        low_part = np.tile(low_digits[lows], (len(highs), 1))
        high_part = np.repeat(high_digits[highs], len(lows), axis=0)
        yield highs, np.concatenate([low_part, high_part], axis=1)


def _highest(ranks: Flags) -> Longs:
    """[M]: the highest rank that is set in each row of [M, 13], or −1."""
    highest: Longs = np.where(ranks.any(axis=1), 12 - np.argmax(ranks[:, ::-1], axis=1), -1)
    return highest


def _without(ranks: Flags, *removed: Longs) -> Flags:
    """[M, 13]: a copy of `ranks` in which each row lacks the removed ranks [M]."""
    left = ranks.copy()
    for rank in removed:
        left[np.arange(len(left)), rank] = False
    return left


def _top(ranks: Flags, places: int) -> list[Longs]:
    """The `places` highest ranks that are set in each row, the highest first."""
    taken: list[Longs] = []
    for _ in range(places):
        taken.append(_highest(_without(ranks, *taken)))
    return taken


def _straight_top(ranks: Flags) -> Longs:
    """[M]: the highest rank of the best straight in each row, or −1; the ace counts low too."""
    ace_first = np.concatenate([ranks[:, 12:], ranks], axis=1)
    # runs[:, i] are the five ranks that end at rank i + 3; i = 0 is A2345.
    runs = np.stack([ace_first[:, i : i + 5].all(axis=1) for i in range(10)], axis=1)
    best: Longs = np.where(runs.any(axis=1), 12 - np.argmax(runs[:, ::-1], axis=1), -1)
    return best


def _score(kind: int, ranks: Sequence[Longs]) -> Longs:
    """Category and the ranks that decide within it as one number: four bits for each rank."""
    score: Longs = np.full_like(ranks[0], kind)
    for place in range(5):
        score = score << 4 | (ranks[place] if place < len(ranks) else 0)
    return score


def _score_without_flush(counts: Longs) -> Longs:
    """[M]: the score of the best five cards of each row of rank counts [M, 13], no flush."""
    here, paired = counts > 0, counts >= 2
    four, three, two = _highest(counts == 4), _highest(counts >= 3), _highest(paired)
    filled, second = _highest(_without(paired, three)), _highest(_without(paired, two))
    straight = _straight_top(here)
    # Where a condition fails its score is meaningless, and a better or a worse one is taken.
    return np.select(
        [four >= 0, (three >= 0) & (filled >= 0), straight >= 0, three >= 0, second >= 0, two >= 0],
        [
            _score(7, [four, *_top(_without(here, four), 1)]),
            _score(6, [three, filled]),
            _score(4, [straight]),
            _score(3, [three, *_top(_without(here, three), 2)]),
            _score(2, [two, second, *_top(_without(here, two, second), 1)]),
            _score(1, [two, *_top(_without(here, two), 3)]),
        ],
        _score(0, _top(here, 5)),
    )


def _flush_scores() -> tuple[Longs, Longs]:
    """Every set of five or more ranks as 13 bits, and the score of its flush."""
    ranks = (np.arange(8192)[:, None] >> np.arange(13) & 1).astype(bool)
    sets = np.flatnonzero(ranks.sum(axis=1) >= 5)
    straight = _straight_top(ranks[sets])
    flush = _score(5, _top(ranks[sets], 5))
    return sets, np.where(straight >= 0, _score(8, [straight]), flush)


@cache
def _all_scores() -> Longs:
    """[7462]: the scores of all different five-card hands, rising."""
    without_flush = [_score_without_flush(counts) for _, counts in _rank_counts(5)]
    return np.unique(np.concatenate([*without_flush, _flush_scores()[1]]))


def _strength_of_score(scores: Longs) -> NDArray[np.uint16]:
    return (1 + np.searchsorted(_all_scores(), scores)).astype(np.uint16)


def _flush_table() -> NDArray[np.uint16]:
    sets, scores = _flush_scores()
    table = np.zeros(8192, np.uint16)
    table[sets] = _strength_of_score(scores)
    return table


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
        raise InputError(f"hand {row} contains a card twice: {cards_text(cards[row].tolist())}")
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
