"""What was learned in rows of hands, carried over to other rows of the same hands.

Axis letters: B boards, H hands of a street (padded, board by board), R rows of a board.
"""

import numpy as np

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.engines.simd.vectors import LANES, load, store


@inner_kernel
def find_sources(mass: Floats, first: Longs, source: Longs, share: Singles) -> None:
    """The earlier rows that each row's hands come from, and their shares in it.

    `mass` [R, R] is the weight of the hands of a row that stood in each earlier one. Row r's
    sources are those from first[r] up to first[r + 1]. A row without hands stays what it was.
    """
    found = 0
    for row in range(len(mass)):
        first[row] = found
        whole = mass[row].sum()
        if whole == 0.0:
            source[found], share[found] = row, 1.0
            found += 1
            continue
        for before in range(len(mass)):
            if mass[row, before] > 0.0:
                source[found], share[found] = before, mass[row, before] / whole
                found += 1
    first[len(mass)] = found


@kernel
def carry_rows(
    start: Longs,
    count: Longs,
    before: Bytes,
    after: Bytes,
    weights: Floats,
    rows: int,
    actions: Longs,
    stored: Singles,
    carried: Singles,
) -> None:
    """Numbers of all nodes of a street, `stored` in the rows `before` [H], in the rows `after` [H].

    A row gets the mean of what its hands had, by `weights` [H]; where all of them come from one row
    not a bit changes. `start` [B+1] and `count` [B] are the boards' hands; every board has `rows`
    rows. Both arrays are [board][node][row / 16][action][16], with `actions` at each of the nodes.
    """
    mass = np.zeros((rows, rows), np.float64)
    first = np.zeros(rows + 1, np.int64)
    source = np.zeros(rows * rows, np.int64)
    share = np.zeros(rows * rows, np.float32)
    node_before = np.zeros(rows * actions.max(), np.float32)
    lanes = np.zeros(LANES, np.float32)
    at = 0
    for board in range(len(count)):
        mass[:] = 0.0
        for hand in range(start[board], start[board] + count[board]):
            mass[after[hand], before[hand]] += weights[hand]
        find_sources(mass, first, source, share)
        for width in actions:
            for place in range(0, rows * width, LANES):
                store(node_before, place, load(stored, at + place))
            for row in range(0, rows, LANES):
                for action in range(width):
                    for lane in range(LANES):
                        begin, end = first[row + lane], first[row + lane + 1]
                        for one in range(begin, end):
                            old = source[one]
                            place = (old // LANES * width + action) * LANES + old % LANES
                            part = share[one] * node_before[place]
                            # Not 0 + part for the first: a negative zero would lose its sign.
                            lanes[lane] = part if one == begin else lanes[lane] + part
                    store(carried, at + row * width + action * LANES, load(lanes, 0))
            at += rows * width
