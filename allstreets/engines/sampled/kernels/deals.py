"""Dealing for the sampled flop game: two combos by reach, a turn, a river, and who wins.

Axis letters: C combos that fit beside the flop, D deals.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, inner_kernel, kernel
from allstreets.cards.kernels.evaluator import (
    FLUSH_MASK,
    HIGH_MASK,
    LOW_BITS,
    LOW_MASK,
    EvaluatorTables,
    flush_strength,
)
from allstreets.cfr.kernels.external_sampling import random_number

ONE = np.uint64(1)
SEED_STEP = np.uint64(0x9E3779B97F4A7C15)  # between two random numbers
GOLDEN = 0.6180339887498949  # multiples of it, whole parts left out, fill [0, 1) most evenly
TRIES = 64  # to find a combo that fits, before all are looked at
CELLS = 2048  # a power of 2, so that multiplying a number of [0, 1) by it is exact
DOUBTFUL = 1e-6  # share of all weights below which a difference may be rounding


class Cards(NamedTuple):
    """The flop, and the combos that fit beside it, those of a class side by side."""

    cards: Bytes  # [C, 2]
    masks: NDArray[np.uint64]  # [C] both cards as bits
    keys: NDArray[np.uint64]  # [C] both cards' keys of the evaluator, added
    suits: NDArray[np.uint64]  # [C] both cards' bits of the evaluator
    hands: Bytes  # [C] class
    deck: Bytes  # [49] the cards that are not on the flop
    flop_key: np.uint64
    flop_suits: np.uint64


class Deals(NamedTuple):
    """Hands, runouts, and who wins."""

    own: NDArray[np.uint16]  # [D] number of the player's combo
    other: NDArray[np.uint16]  # [D] number of the other player's combo
    runouts: Bytes  # [D, 2] turn and river
    outcomes: Bytes  # [D] 0: the player wins, 1: a tie, 2: he loses


@inner_kernel
def weigh_pairs(cards: Cards, weights: Floats, met: Floats) -> None:
    """Into `met` [C]: Σ of the other's `weights` [C] over his combos that fit beside each combo.

    All weights, less those that hold the one card or the other, and those with both were taken
    off twice. Where next to nothing is left, rounding may be all of it: there the sum is taken.
    """
    by_card = np.zeros(52)
    total = 0.0
    for c in range(len(weights)):
        total += weights[c]
        by_card[cards.cards[c, 0]] += weights[c]
        by_card[cards.cards[c, 1]] += weights[c]
    for c in range(len(weights)):
        high, low = cards.cards[c, 0], cards.cards[c, 1]
        met[c] = total - by_card[high] - by_card[low] + weights[c]
        if met[c] < DOUBTFUL * total:
            met[c] = 0.0
            for d in range(len(weights)):
                if not cards.masks[c] & cards.masks[d]:
                    met[c] += weights[d]


class Shares(NamedTuple):
    """[0, 1) shared out by weight, and a guide to find one's share without a search."""

    ends: Floats  # [C] where each share ends, times the sum of the weights
    guide: Longs  # [CELLS] the share that holds the start of each cell
    total: float


@inner_kernel
def share_out(weights: Floats) -> Shares:
    """Shares by `weights` [C], not all of which may be 0."""
    ends = np.cumsum(weights)
    total = ends[-1]
    final = len(weights) - 1
    while final > 0 and weights[final] == 0.0:
        final -= 1
    ends[final:] = np.inf  # whatever rounding does, a look-up ends here
    guide = np.empty(CELLS, np.int64)
    c = 0
    for cell in range(CELLS):
        while ends[c] <= cell * total / CELLS:
            c += 1
        guide[cell] = c
    return Shares(ends, guide, total)


@inner_kernel
def look_up(shares: Shares, number: float) -> int:
    """The share that holds `number`; never an empty one."""
    c = shares.guide[np.int64(number * CELLS)]
    while shares.ends[c] <= number * shares.total:
        c += 1
    return int(c)


@inner_kernel
def fitting_combo(cards: Cards, weights: Floats, mask: np.uint64, position: float) -> int:
    """The combo at which the weights of those that fit beside `mask` add up to `position`."""
    found, reached = 0, 0.0
    for d in range(len(weights)):
        if weights[d] > 0.0 and not cards.masks[d] & mask:
            found = d
            reached += weights[d]
            if reached > position:
                break
    return found


@inner_kernel
def strength(key: np.uint64, suits: np.uint64, tables: EvaluatorTables) -> np.uint16:
    """The strength of seven cards, given their keys and their bits, each added up."""
    if key & FLUSH_MASK:
        return flush_strength(key, suits, tables.flushes)
    row = tables.row_starts[2, np.int64((key >> LOW_BITS) & HIGH_MASK)]
    found: np.uint16 = tables.strengths[row + tables.low_slots[np.int64(key & LOW_MASK)]]
    return found


@kernel
def deal_hands(
    cards: Cards,
    tables: EvaluatorTables,
    own: Floats,
    other: Floats,
    deals: Deals,
    random: NDArray[np.uint64],
) -> float:
    """Fill `deals`; return Σ own · other over the pairs of combos that fit, which may be 0.

    Each deal is a pair of combos that share no card, drawn in proportion to `own` [C] times `other`
    [C], with a turn and a river from the cards that are left. The deals are not independent of each
    other: the draws of both hands are spread evenly, which makes sums over deals less noisy.

    1. The player's combo. Deal i takes the one at place (i + u) / D of the cumulative weights, with
       one random u for all: each combo is dealt as often as it should be, to less than one deal.
    2. The other's combo, by a number of [0, 1) that goes on by the golden ratio from deal to deal.
       If it shares a card with the player's, another one is drawn until it fits.
    3. Turn and river, drawn until they fit.
    """
    count, deal_count = len(own), len(deals.own)
    met = np.empty(count)
    weigh_pairs(cards, other, met)
    pairs, final = 0.0, 0
    for c in range(count):
        pairs += own[c] * met[c]
        if own[c] * met[c] > 0.0:
            final = c
    if not pairs > 0.0:
        return 0.0
    shares = share_out(other)
    masks, keys, suits = cards.masks, cards.keys, cards.suits
    seed = random[0] + SEED_STEP
    offset = random_number(seed)
    seed += SEED_STEP
    number = random_number(seed)
    c, reached = 0, own[0] * met[0]
    for i in range(deal_count):
        position = (i + offset) * (pairs / deal_count)
        while c < final and reached <= position:
            c += 1
            reached += own[c] * met[c]
        number += GOLDEN
        number -= np.floor(number)
        d = look_up(shares, number)
        tries = 0
        while masks[d] & masks[c] and tries <= TRIES:
            seed += SEED_STEP
            tries += 1
            if tries <= TRIES:
                d = look_up(shares, random_number(seed))
            else:  # hardly anything fits
                d = fitting_combo(cards, other, masks[c], random_number(seed) * met[c])
        dead = masks[c] | masks[d]
        key, bits = cards.flop_key, cards.flop_suits
        for street in range(2):
            while True:
                seed += SEED_STEP
                card = cards.deck[np.int64(random_number(seed) * len(cards.deck))]
                if not dead & (ONE << np.uint64(card)):
                    break
            dead |= ONE << np.uint64(card)
            key += tables.card_keys[card]
            bits |= tables.card_bits[card]
            deals.runouts[i, street] = card
        mine = strength(key + keys[c], bits | suits[c], tables)
        theirs = strength(key + keys[d], bits | suits[d], tables)
        deals.own[i], deals.other[i] = c, d
        deals.outcomes[i] = 0 if mine > theirs else 1 if mine == theirs else 2
    random[0] = seed
    return float(pairs)
