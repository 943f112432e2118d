"""The hands that a matrix game stores, and where their numbers stand.

A game may store only some hands of a player: those that he can reach it with. Their numbers lie
as those of all hands would, [node][hand / 16][action][16] with hands counted by their place in the
list, so that kernels work on whole vectors of them.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from allstreets.base import Flags, Longs
from allstreets.engines.matrix.cards import padded
from allstreets.engines.matrix.kernels.layout import StageHands
from allstreets.engines.simd.vectors import LANES

HandSelection = Literal["kept", "rest", "all"]
"""Own hands of a pass: those that are stored, the others, or all."""


def listed(flags: Flags) -> Longs:
    """The hands that are marked [H]; all of them, with the padding, where none is left out."""
    return np.arange(padded(len(flags))) if flags.all() else np.flatnonzero(flags)


def stage_hands(own: Longs, other: Longs, lengths: Sequence[int]) -> tuple[StageHands, ...]:
    """The hands of a pass: these in the first stage, all in the later ones."""
    every = [np.arange(length) for length in lengths[1:]]
    stages = [(own, other), *zip(every, every, strict=True)]
    return tuple(_stage(*pair, length) for pair, length in zip(stages, lengths, strict=True))


def _stage(own: Longs, other: Longs, length: int) -> StageHands:
    present = np.zeros(length, np.int64)
    present[own] = 1
    by_block = present.reshape(-1, LANES)
    counts = by_block.sum(axis=1)
    return StageHands(
        own=own,
        own_length=padded(len(own)),
        own_bits=by_block @ (1 << np.arange(LANES)),
        own_place=np.cumsum(counts) - counts,
        other=other,
        other_length=padded(len(other)),
    )


def stored_places(slots: Longs, actions: Longs, count: int) -> Longs:
    """[S, count]: where the numbers of every action of every hand stand in the row of a flop.

    `slots` [N] are the actions of earlier nodes, `actions` [N] those of each; S is their sum.
    """
    starts, widths = np.repeat(slots, actions), np.repeat(actions, actions)
    number = np.concatenate([np.arange(0), *(np.arange(count) for count in actions.tolist())])
    hands = np.arange(count)
    block, lane = hands // LANES, hands % LANES
    by_node = (starts * padded(count))[:, None] + block * (LANES * widths)[:, None]
    places: Longs = by_node + (LANES * number)[:, None] + lane
    return places


def sources(slots: Longs, actions: Longs, before: Longs, after: Longs) -> Longs:
    """Where each number of the new row of a flop stood in the old one; −1: nowhere.

    The stored hands were `before` and are `after`.
    """
    source = np.full(int(actions.sum()) * padded(len(after)), -1, np.int64)
    _, old, new = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    to = stored_places(slots, actions, len(after))[:, new]
    source[to] = stored_places(slots, actions, len(before))[:, old]
    return source
