"""Positions of the strategies of one turn of a flop among those of all turns.

The boards of a street stand one after the other, turn by turn, with a row for each hand of a board:
combos that suits make alike are one hand, and hands are padded to whole vectors
(`engines.exact.cards`). A subgame with one turn alone is built and read in a fraction of the time.
"""

from dataclasses import replace

import numpy as np

from allstreets import engines  # whose kernels are loaded when something is played
from allstreets.base import Flags, Longs
from allstreets.cards import COMBO_CARDS, Runouts, combo_orbits

Starts = tuple[tuple[int, int], ...]  # by street: rows of OOP and IP
FIRST: Starts = ((0, 0),) * 3


def alone(root: Runouts, card: int) -> Runouts:
    """The root of a game in which a turn card, and those that are the same, are all that comes."""
    same = root.multiplicities[root.representatives.index(card)]
    return replace(root, representatives=(card,), multiplicities=(same,))


def turn_starts(root: Runouts, combos: tuple[Longs, Longs]) -> dict[int, Starts]:
    """By turn card: the rows of OOP and IP before its own, on the flop, the turn and the river."""
    starts: dict[int, Starts] = {}
    counts = np.zeros((2, 2), np.int64)  # of turn and river, of OOP and IP
    held = [_held(own) for own in combos]
    for card in root.representatives:
        turn, river = counts.tolist()
        starts[card] = (0, 0), (turn[0], turn[1]), (river[0], river[1])
        below = root.after(card)
        for player, own in enumerate(combos):
            dead = held[player][card]
            counts[0, player] += _rows(own[~dead], below.symmetries)
            counts[1, player] += sum(
                _rows(own[~(dead | held[player][last])], below.symmetries_after(last))
                for last in below.representatives
            )
    return starts


def _held(combos: Longs) -> Flags:
    """[52, C]: the combos that hold each card."""
    held = np.zeros((52, len(combos)), np.bool_)
    held[COMBO_CARDS[combos], np.arange(len(combos))[:, None]] = True
    return held


def _rows(combos: Longs, symmetries: tuple[int, ...]) -> int:
    """The padded hands that combos are on a board with these renamings."""
    if len(symmetries) == 1:
        return engines.whole_vectors(len(combos))
    return engines.whole_vectors(int((combo_orbits(symmetries)[combos] == combos).sum()))
