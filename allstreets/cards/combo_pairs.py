"""Pairs of combos that fit beside each other and a board."""

import numpy as np
from numpy.typing import NDArray

from allstreets.cards.combos import COMBO_MASKS, live_combos
from allstreets.cards.ranges import Range

Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]


def fitting(first: Longs, second: Longs) -> Bools:
    """[H, H']: which combos have no card in common."""
    fits: Bools = (COMBO_MASKS[first][:, None] & COMBO_MASKS[second][None, :]) == 0
    return fits


def pairs_of(ranges: tuple[Range, Range], board: tuple[int, ...] = ()) -> float:
    """Σ of the weights of all pairs of combos that fit beside a board and each other."""
    live = live_combos(board)
    held = [np.flatnonzero((one.weights > 0) & live) for one in ranges]
    oop, ip = (one.weights[some] for one, some in zip(ranges, held, strict=True))
    return float(oop @ fitting(held[0], held[1]) @ ip)
