"""Hands against ranges: the share of the pot they would win if all cards were dealt now.

It is a separate file because stored solutions are shown without loading kernels.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from allstreets import cards  # its kernels are loaded by who counts, not by who reads
from allstreets.base import Floats, Longs, Pair, quotient
from allstreets.cards import fitting

CACHED_BOARDS = 8  # up to 22 MB each: the equities of all pairs of combos


def combo_equity(board: tuple[int, ...], combos: tuple[Longs, Longs], reach: Pair) -> Pair:
    """[H] of OOP and IP over every card to come; NaN for a combo that meets no opposing combo."""
    oop, ip = (held.astype(np.int16).tobytes() for held in combos)
    shares, fits = _shares(board, oop, ip)
    met = reach[0] @ fits
    return quotient(shares @ reach[1], fits @ reach[1]), quotient(met - reach[0] @ shares, met)


@lru_cache(CACHED_BOARDS)
def _shares(board: tuple[int, ...], first: bytes, second: bytes) -> tuple[Floats, Floats]:
    """[H of OOP, H of IP]: OOP's share of the pot where two combos fit, and 1.0 where they do."""
    oop, ip = (np.frombuffer(text, np.int16).astype(np.int64) for text in (first, second))
    fits = fitting(oop, ip)
    # Numbers, not flags: products with them are those of whole rows at a time.
    shares = np.where(fits, cards.matchups(board, oop, ip).equity, 0.0)
    return shares, fits.astype(np.float64)


def class_equity(
    pairs: NDArray[np.floating | np.integer], won: Floats, reach: Floats
) -> tuple[Floats, Floats]:
    """[169] of OOP and IP for reaches [2, 169].

    `pairs` [169, 169] of combos meet, and OOP's by row win `won` pots of them all.
    """
    met = pairs @ reach[1], reach[0] @ pairs
    return quotient(won @ reach[1], met[0]), quotient(met[1] - reach[0] @ won, met[1])


def flop_equity(flop: tuple[int, ...], reach: Floats) -> Pair:
    """Equities of classes on a flop, over every turn and river."""
    table = cards.flop_matchups(flop)
    return class_equity(table.pairs, (table.pairs + table.margins / table.runouts) / 2, reach)


def preflop_class_equity(pairs: Floats, reach: Floats) -> Pair:
    """Equities of classes before the flop where `pairs` [169, 169] of combos are dealt."""
    return class_equity(pairs, pairs * np.nan_to_num(cards.preflop_equity().equity), reach)
