"""Pairs of combos that fit beside each other and a board."""

import numpy as np

from allstreets.base import Flags, Longs
from allstreets.cards.combos import COMBO_MASKS, live_combos
from allstreets.cards.ranges import Range


def fitting(first: Longs, second: Longs) -> Flags:
    """[H, H']: which combos have no card in common."""
    fits: Flags = (COMBO_MASKS[first][:, None] & COMBO_MASKS[second][None, :]) == 0
    return fits


def pairs_of(ranges: tuple[Range, Range], board: tuple[int, ...] = ()) -> float:
    """Σ of the weights of all pairs of combos that fit beside a board and each other."""
    live = live_combos(board)
    held = [np.flatnonzero((one.weights > 0) & live) for one in ranges]
    oop, ip = (one.weights[some] for one, some in zip(ranges, held, strict=True))
    return float(oop @ fitting(held[0], held[1]) @ ip)
