"""Where the hands of turn boards find their values: groups of the river boards below."""

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.exact_layout import Longs, Shorts
from allstreets.kernels.jit import kernel

BOARD_STEP = 256
"""An entry is BOARD_STEP · river board, counted from the first of its part, + group."""


@kernel
def list_entries(
    children: Longs,
    hand_start: Longs,
    combo_start: Longs,
    first: Shorts,
    parent: Shorts,
    groups: int,
    part: int,
    parts: int,
    start: NDArray[np.int32],
    entries: Shorts,
) -> None:
    """Fill `entries` with the combos of all river boards, by hand of the turn and part.

    The river boards `children` [T+1] of a turn are taken in `parts` of `part` boards. Hands of the
    turns begin at `hand_start` [T+1]; `combo_start`, `first` and `parent` are those of
    `GroupedCombos`. The entries of a hand h in part p begin at start[h · parts + p]; within them
    boards and groups rise. `start` has one number more than that, and comes in as zeros.
    """
    for counting in range(2):  # how many there are, and then where they stand
        for turn in range(len(children) - 1):
            for board in range(children[turn], children[turn + 1]):
                local = board - children[turn]
                for group in range(groups):
                    place = board * (groups + 1) + group
                    for combo in range(
                        combo_start[board] + first[place], combo_start[board] + first[place + 1]
                    ):
                        key = (hand_start[turn] + parent[combo]) * parts + local // part
                        if counting == 0:
                            start[key + 1] += 1
                        else:
                            entries[start[key]] = BOARD_STEP * (local % part) + group
                            start[key] += 1
        if counting == 0:
            for key in range(len(start) - 1):
                start[key + 1] += start[key]
    for key in range(len(start) - 1, 0, -1):  # where each ended, the next begins
        start[key] = start[key - 1]
    start[0] = 0
