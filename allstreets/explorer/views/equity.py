"""Hands against ranges: what share of the pot they would win if all cards were dealt now."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from allstreets.cards import flop_matchups, preflop_equity
from allstreets.cards.combos import COMBO_MASKS
from allstreets.cards.matchups import matchups
from allstreets.explorer.views.scene import Floats, Longs, quotient

KEPT_BOARDS = 8  # of up to 12 MB each


class ComboEquity:
    """Equities by combo; who beats whom on a board is counted once and kept for a while."""

    def __init__(self) -> None:
        self._kept = lru_cache(KEPT_BOARDS)(_shares)

    def __call__(
        self, board: tuple[int, ...], combos: tuple[Longs, Longs], reach: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """[H] of OOP and IP; NaN for a combo that meets nobody."""
        lists = tuple(one.astype(np.int16).tobytes() for one in combos)
        shares, fits = self._kept(board, lists[0], lists[1])
        first = quotient(shares @ reach[1], fits @ reach[1])
        met = reach[0] @ fits
        return first, quotient(met - reach[0] @ shares, met)


def _shares(
    board: tuple[int, ...], first: bytes, second: bytes
) -> tuple[Floats, NDArray[np.bool_]]:
    """[H of OOP, H of IP]: OOP's share of the pot where two combos fit, and where they do."""
    oop, ip = (np.frombuffer(text, np.int16).astype(np.int64) for text in (first, second))
    fits = (COMBO_MASKS[oop][:, None] & COMBO_MASKS[ip][None, :]) == 0
    shares = np.where(fits, matchups(board, oop, ip).equity, 0.0)
    return shares, fits


def class_equity(
    pairs: NDArray[np.floating | np.integer], won: Floats, reach: Floats
) -> tuple[Floats, Floats]:
    """[169] of OOP and IP for reaches [2, 169].

    `pairs` [169, 169] of combos meet, and OOP's by row win `won` pots of them all.
    """
    met = pairs @ reach[1], reach[0] @ pairs
    return quotient(won @ reach[1], met[0]), quotient(met[1] - reach[0] @ won, met[1])


def flop_equity(flop: tuple[int, ...], reach: Floats) -> tuple[Floats, Floats]:
    """Equities of classes on a flop, over every turn and river."""
    table = flop_matchups(flop)
    return class_equity(table.pairs, (table.pairs + table.margins / table.runouts) / 2, reach)


def preflop_class_equity(pairs: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """Equities of classes before the flop where `pairs` [169, 169] of combos are dealt."""
    return class_equity(pairs, pairs * np.nan_to_num(preflop_equity().equity), reach)
