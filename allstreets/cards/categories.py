"""Categories of a combo on a board, in players' words: the hand that it makes, and its draws.

Straights and better count as the combo and the board make them together. Below that, only hands in
which a hole card takes part count: a pair on the board does not make a pair two pair, and on KK7 an
ace without a king or a seven is ace high.

A pair is named by the place of its rank among the different ranks of the board. A draw needs one
card: a flush draw has four of a suit and one of them in the hole, and is to the nuts if no higher
card of the suit is left to others; a straight draw is open-ended if two ranks or more complete a
straight that the board alone would not have. A straight or better has no draw, and no hand has one
on the river.

Before the flop combos differ only by their ranks and suits.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from allstreets.base import Flags, Longs
from allstreets.cards.hands import COMBO_CARDS, COMBO_COUNT, live_combos

MADE = (
    "straight flush",
    "quads",
    "full house",
    "flush",
    "straight",
    "set",
    "trips",
    "two pair",
    "overpair",
    "top pair",
    "underpair",
    "second pair",
    "low pair",
    "ace high",
    "no pair",
)
"""The strongest first; an underpair is a pocket pair below the highest card of the board."""

DRAWS = (
    "flush and straight draw",
    "nut flush draw",
    "flush draw",
    "open-ended",
    "gutshot",
    "no draw",
)
"""The best first."""

STARTING = (
    "pairs TT+",
    "pairs 66–99",
    "pairs 22–55",
    "suited broadway",
    "suited ace",
    "suited connector",
    "other suited",
    "offsuit broadway",
    "offsuit ace",
    "offsuit connector",
    "other offsuit",
)
"""Broadway: both cards ten or higher. The first name that fits a combo holds."""

ACE = 12
TEN = 8
WHEEL = 0b1_0000_0000_1111  # A2345
STRAIGHTS = (WHEEL, *(0b11111 << low for low in range(9)))  # rising, by their highest cards


def hand_categories(board: Sequence[int]) -> tuple[Longs, Longs]:
    """[1326] of `MADE` and of `DRAWS`: what every combo is on a board; −1 where it is blocked.

    >>> from allstreets.cards.card import parse_cards
    >>> from allstreets.cards.hands import parse_combo
    >>> made, draws = hand_categories(parse_cards("Ks9s4d"))
    >>> combos = [parse_combo(text) for text in ("KhQd", "AsQs", "JcTc")]
    >>> [(MADE[made[c]], DRAWS[draws[c]]) for c in combos]
    [('top pair', 'no draw'), ('ace high', 'nut flush draw'), ('no pair', 'gutshot')]
    """
    return _categories(tuple(board))


def starting_categories() -> Longs:
    """[1326] of `STARTING`: what every combo is before the flop.

    >>> from allstreets.cards.hands import parse_combo
    >>> starting = starting_categories()
    >>> [STARTING[starting[parse_combo(text)]] for text in ("9s9h", "AsKs", "Ah2h", "8c7d")]
    ['pairs 66–99', 'suited broadway', 'suited ace', 'offsuit connector']
    """
    hole = COMBO_CARDS.astype(np.int64)
    high, low = (hole >> 2).T
    pair, suited = high == low, (hole[:, 0] & 3) == (hole[:, 1] & 3)
    kinds = [low >= TEN, high == ACE, high == low + 1]
    fits = [pair & (low >= TEN), pair & (low >= TEN - 4), pair]
    fits += [suited & kind for kind in (*kinds, suited)]
    return np.select([*fits, *kinds], list(range(len(fits) + len(kinds))), len(STARTING) - 1)


@lru_cache(maxsize=64)
def _categories(board: tuple[int, ...]) -> tuple[Longs, Longs]:
    cards = np.array(board, np.int64)
    hole = COMBO_CARDS.astype(np.int64)  # [1326, 2]
    ranks, suits = hole >> 2, hole & 3
    own = _counts(ranks, 13)  # [1326, 13]: cards of each rank in the hole
    there = np.bincount(cards >> 2, minlength=13)
    counts = own + there
    by_suit = np.zeros((COMBO_COUNT, 4), np.int64)  # the ranks of each suit as bits
    for card in board:
        by_suit[:, card & 3] |= 1 << (card >> 2)
    shared = by_suit[0].copy()  # those of the board alone
    for place in range(2):
        by_suit[np.arange(COMBO_COUNT), suits[:, place]] |= 1 << ranks[:, place]
    mask = np.bitwise_or.reduce(by_suit, axis=1)
    length = _bits(by_suit)  # [1326, 4]: cards of each suit

    made = _pairs(own, there)
    is_straight, is_flush = _top(mask) >= 0, (length >= 5).any(axis=1)
    # From the weakest up: the last name that fits is kept.
    made[is_straight] = MADE.index("straight")
    made[is_flush] = MADE.index("flush")
    full = ((counts >= 3).sum(axis=1) >= 2) | (
        (counts >= 3).any(axis=1) & ((counts == 2).any(axis=1))
    )
    made[full] = MADE.index("full house")
    made[(counts == 4).any(axis=1)] = MADE.index("quads")
    made[(_top(by_suit) >= 0).any(axis=1)] = MADE.index("straight flush")

    draws = np.full(COMBO_COUNT, DRAWS.index("no draw"), np.int64)
    if len(board) < 5:
        straight = _straight_outs(mask, int(np.bitwise_or.reduce(shared)))
        flush, nuts = _flush_draws(by_suit, shared, length)
        draws[straight == 1] = DRAWS.index("gutshot")
        draws[straight > 1] = DRAWS.index("open-ended")
        draws[flush] = DRAWS.index("flush draw")
        draws[nuts] = DRAWS.index("nut flush draw")
        draws[flush & (straight > 0)] = DRAWS.index("flush and straight draw")
        draws[made <= MADE.index("straight")] = DRAWS.index("no draw")
    blocked = ~live_combos(board)
    made[blocked], draws[blocked] = -1, -1
    for array in (made, draws):
        array.setflags(write=False)
    return made, draws


def _pairs(own: Longs, there: Longs) -> Longs:
    """[1326]: what the hole cards make with the ranks of the board, straights and flushes apart."""
    made = np.full(COMBO_COUNT, MADE.index("no pair"), np.int64)
    made[own[:, ACE] > 0] = MADE.index("ace high")
    on_board = np.flatnonzero(there)[::-1]  # the different ranks, from the highest down
    places = [MADE.index(name) for name in ("top pair", "second pair", "low pair")]
    paired = (own == 1) & (there == 1)  # [1326, 13]
    for place, rank in reversed(list(enumerate(on_board.tolist()))):
        made[paired[:, rank]] = places[min(place, 2)]
    pocket = np.where(own == 2, np.arange(13), -1).max(axis=1)  # its rank, or −1
    fits = pocket >= 0
    made[fits & (pocket < on_board[0])] = MADE.index("underpair")
    made[fits & (pocket > on_board[0])] = MADE.index("overpair")
    made[paired.sum(axis=1) == 2] = MADE.index("two pair")
    made[((own == 1) & (there == 2)).any(axis=1)] = MADE.index("trips")
    made[((own == 2) & (there == 1)).any(axis=1)] = MADE.index("set")
    return made


def _straight_outs(mask: Longs, board: int) -> Longs:
    """[1326]: ranks that complete a straight which the board with that rank does not have."""
    outs = np.zeros(len(mask), np.int64)
    for rank in range(13):
        new = 1 << rank
        alone = int(_top(np.array([board | new]))[0])
        outs += ((mask & new) == 0) & (_top(mask | new) > alone)
    return outs


def _flush_draws(by_suit: Longs, shared: Longs, length: Longs) -> tuple[Flags, Flags]:
    """[1326]: whether one card is missing to a flush with a card of the hole, and to the nuts."""
    own = by_suit & ~shared
    drawn = (length == 4) & (own > 0)  # [1326, 4]
    best = _highest(~shared & 0x1FFF)  # [4]: of the cards of a suit that are not on the board
    nuts = drawn & (_highest(own) == best)
    return drawn.any(axis=1), nuts.any(axis=1)


def _top(mask: Longs) -> Longs:
    """The index in `STRAIGHTS` of the highest straight of some ranks, −1 where there is none."""
    top = np.full(mask.shape, -1, np.int64)
    for place, straight in enumerate(STRAIGHTS):
        top[(mask & straight) == straight] = place
    return top


def _counts(ranks: Longs, size: int) -> Longs:
    counts = np.zeros((len(ranks), size), np.int64)
    for place in range(ranks.shape[1]):
        counts[np.arange(len(ranks)), ranks[:, place]] += 1
    return counts


def _bits(mask: Longs) -> Longs:
    bits: Longs = sum(((mask >> rank) & 1 for rank in range(13)), np.zeros_like(mask))
    return bits


def _highest(mask: Longs) -> Longs:
    """The highest bit, −1 where there is none."""
    highest = np.full(mask.shape, -1, np.int64)
    for rank in range(13):
        highest[(mask >> rank & 1) == 1] = rank
    return highest
