"""Hand strength by table look-up: 5 to 7 cards to a number 1..7462, higher is better.

Every card carries a key; the keys of a hand are added. Three numbers sit side by side in the sum
and never carry into one another:

    bits  0..16   Σ 5^rank over the cards 2..8         (the multiset of the low ranks)
    bits 17..31   Σ 5^(rank − 7) over the cards 9..A   (the multiset of the high ranks)
    bits 32..47   four counters of four bits, each 3 + the number of cards of that suit

A counter of 8 or more is a flush: its strength stands in a table by the 13 bits of its ranks.
Everything else depends on the two multisets only. The hands of one high multiset lie side by side
in `strengths`, in the order of their low multiset, so

    strengths[row_starts[high multiset] + low_slots[low multiset]]

finds a hand without a search or a hash: two independent reads and one that depends on them.

Cards that collide (a combo and a board that share one) make sums that belong to no hand. The tables
are padded so that reading there is harmless, and the answer is discarded: cheaper than a branch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, inner_kernel, kernel

LOW_BITS = np.uint64(17)
LOW_MASK = np.uint64((1 << 17) - 1)
HIGH_MASK = np.uint64((1 << 15) - 1)
SUIT_START = np.uint64(0x3333 << 32)
FLUSH_MASK = np.uint64(0x8888 << 32)
DEAD = np.uint16(65535)
"""Stands for a combo that shares a card with the board."""


class EvaluatorTables(NamedTuple):
    """The tables that the kernels read; built by `allstreets.cards.evaluator`."""

    card_keys: NDArray[np.uint64]  # [52]
    card_bits: NDArray[np.uint64]  # [52]: bit 16 · suit + rank
    low_slots: NDArray[np.uint16]  # [2^17], of which 5^7 are hands
    row_starts: NDArray[
        np.int32
    ]  # [3, 2^15], for hands of 5, 6 and 7 cards, of which 5^6 are hands
    strengths: NDArray[np.uint16]  # [73775 and padding]
    flushes: NDArray[np.uint16]  # [8192]


@inner_kernel
def flush_strength(key: np.uint64, bits: np.uint64, flushes: NDArray[np.uint16]) -> np.uint16:
    """The strength of a hand whose `key` says that one suit has five cards or more."""
    suit = np.uint64(0)
    while not (key >> (np.uint64(35) + np.uint64(4) * suit)) & np.uint64(1):
        suit += np.uint64(1)
    ranks = np.int64((bits >> (np.uint64(16) * suit)) & np.uint64(8191))
    strength: np.uint16 = flushes[ranks]
    return strength


@kernel
def evaluate_hands(hands: Bytes, tables: EvaluatorTables, out: NDArray[np.uint16]) -> None:
    """Strength of each of `hands` [N, 5..7] into `out` [N]."""
    count, size = hands.shape
    row_starts = tables.row_starts[size - 5]
    for n in range(count):
        key = SUIT_START
        for position in range(size):
            key += tables.card_keys[hands[n, position]]
        if key & FLUSH_MASK:
            bits = np.uint64(0)
            for position in range(size):
                bits |= tables.card_bits[hands[n, position]]
            out[n] = flush_strength(key, bits, tables.flushes)
        else:
            row = row_starts[np.int64((key >> LOW_BITS) & HIGH_MASK)]
            out[n] = tables.strengths[row + tables.low_slots[np.int64(key & LOW_MASK)]]


@kernel
def evaluate_combos(
    boards: Bytes,
    combos: Bytes,
    tables: EvaluatorTables,
    out: NDArray[np.uint16],
) -> None:
    """Strength of each combo [C, 2] on each board [B, 5] into `out` [B, C].

    A combo that shares a card with the board gets `DEAD`. The combos' keys are added once for all
    boards, and boards without three cards of a suit skip the flush test.
    """
    board_count, combo_count = len(boards), len(combos)
    combo_keys = np.empty(combo_count, np.uint64)
    combo_bits = np.empty(combo_count, np.uint64)
    for c in range(combo_count):
        first, second = combos[c, 0], combos[c, 1]
        combo_keys[c] = tables.card_keys[first] + tables.card_keys[second]
        combo_bits[c] = tables.card_bits[first] | tables.card_bits[second]
    row_starts = tables.row_starts[2]
    low_slots, strengths = tables.low_slots, tables.strengths
    for b in range(board_count):
        board_key = SUIT_START
        board_bits = np.uint64(0)
        for position in range(5):
            board_key += tables.card_keys[boards[b, position]]
            board_bits |= tables.card_bits[boards[b, position]]
        # A counter of 3 + 3 or more: two suited hole cards could complete a flush.
        flush_possible = (board_key + np.uint64(0x2222 << 32)) & FLUSH_MASK
        for c in range(combo_count):
            key = board_key + combo_keys[c]
            row = row_starts[np.int64((key >> LOW_BITS) & HIGH_MASK)]
            strength = strengths[row + low_slots[np.int64(key & LOW_MASK)]]
            out[b, c] = DEAD if combo_bits[c] & board_bits else strength
        if flush_possible:
            for c in range(combo_count):
                key = board_key + combo_keys[c]
                if key & FLUSH_MASK and out[b, c] != DEAD:
                    bits = board_bits | combo_bits[c]
                    out[b, c] = flush_strength(key, bits, tables.flushes)
