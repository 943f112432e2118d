"""Strategies as whole numbers: sums rounded to one or two bytes, and running means in 16 bits.

After many iterations a mean stored in 16 bits moves by a fraction of its last digit; rounded to the
nearest number it would not move at all, and its error would grow. A *dither*, a number between −1/2
and 1/2 that is added before rounding, makes it move as often as it should. Numbers that walk round
the unit interval by the golden ratio fill it evenly over any stretch of iterations, so the errors
cancel sooner than those of random numbers; they follow from the count of half-iterations alone, so
that a resumed run rounds like one that never stopped.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Longs, Singles, kernel
from allstreets.engines.simd.vectors import LANES, load, splat, where_positive
from allstreets.engines.simd.work_counter import Counter, take

GOLDEN = (5**0.5 - 1) / 2
LANE_PHASES = (np.arange(LANES) * GOLDEN % 1.0).astype(np.float32)
HALF = np.float32(0.5)
ONE = np.float32(1.0)
# Just short of ±1/2, so that 32767 and 0, which stand for 1 and 0, stay what they are.
WIDTH = np.float32(0.992)


@kernel
def round_shares(sums: Singles, starts: Longs, actions: Longs, blocks: int, largest: int) -> None:
    """Round the sums [node][hand / 16][action][16] of some nodes to whole numbers, in place.

    A hand's largest sum becomes `largest`, the others keep their proportion to it. `starts` and
    `actions` [nodes] say where a node's sums begin and how many actions it has.
    """
    for node in range(len(starts)):
        count = actions[node]
        for block in range(blocks):
            first = starts[node] + block * count * LANES
            for place in range(first, first + LANES):
                most = np.float64(0.0)
                for action in range(count):
                    most = max(most, np.float64(sums[place + action * LANES]))
                if most > 0.0:
                    for action in range(count):
                        share = np.float64(sums[place + action * LANES]) / most
                        sums[place + action * LANES] = np.float32(np.rint(share * largest))


@kernel
def round_flops(
    counter: Counter,
    sums: Singles,
    aside: Singles,
    starts: Longs,
    actions: Longs,
    blocks: int,
    largest: int,
) -> None:
    """Set the sums [K, …] of the flops that this thread takes aside, and round them."""
    while True:
        flop = take(counter)
        if flop >= len(sums):
            break
        for place in range(sums.shape[1]):
            aside[flop, place] = sums[flop, place]
        round_shares(sums[flop], starts, actions, blocks, largest)


@kernel
def put_back(counter: Counter, sums: Singles, aside: Singles) -> None:
    """Undo `round_flops`."""
    while True:
        flop = take(counter)
        if flop >= len(sums):
            break
        for place in range(sums.shape[1]):
            sums[flop, place] = aside[flop, place]


@kernel
def pack_shares(
    sums: Singles,
    starts: Longs,
    actions: Longs,
    rows: Longs,
    places: Longs,
    largest: int,
    packed: NDArray[Any],
) -> None:
    """Write the shares of some nodes' actions into the rows of packed [actions, H].

    `rows` [nodes] say which row is that of a node's first action, `places` [H] where a hand stands
    among those that are stored; −1: nowhere. Such a hand, and one without any sums, plays
    uniformly.
    """
    for node in range(len(starts)):
        count, row = actions[node], rows[node]
        for hand in range(len(places)):
            place, most = places[hand], np.float64(0.0)
            if place >= 0:
                first = starts[node] + place // LANES * count * LANES + place % LANES
                for action in range(count):
                    most = max(most, np.float64(sums[first + action * LANES]))
            for action in range(count):
                share = 1.0
                if most > 0.0:
                    share = np.float64(sums[first + action * LANES]) / most
                packed[row + action, hand] = np.rint(share * largest)


def dither_phase(step: int) -> float:
    """The position of the walk at a half-iteration, in 0..1.

    >>> [round(dither_phase(step), 3) for step in (1, 2, 3)]
    [0.618, 0.236, 0.854]
    """
    return step * GOLDEN % 1.0


@kernel
def dither(phase: np.float32) -> Any:
    """The offsets added to sixteen numbers before they are rounded."""
    fraction = load(LANE_PHASES, 0) + splat(phase)
    centred = where_positive(
        fraction - splat(ONE), fraction - splat(ONE + HALF), fraction - splat(HALF)
    )
    return centred * splat(WIDTH)
