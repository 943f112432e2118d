"""Which worker owns which flops: shares that take all of them the same time.

A flop has a cost, by the boards and bets below it, and a worker a speed: what it has done in a
second so far, or its cores as long as nobody knows. A share's time is cost over speed, and an
iteration takes as long as the slowest share. Shares say nothing about results: each flop's numbers
are its own, and they are put together by place.
"""

from collections.abc import Sequence

import numpy as np

from allstreets.base import Floats, Longs

Places = Longs

TOLERATED = 1.15  # the slowest share's time over the mean: less is not worth moving flops for


def cut(costs: Floats, speeds: Floats, kept: Sequence[Places] | None = None) -> list[Places]:
    """Shares of all flops for workers of these speeds; flops that are `kept` stay where they are.

    The dearest first, each to the worker that would be done with it first.

    >>> [share.tolist() for share in cut(np.ones(6), np.array([1.0, 2.0]))]
    [[1, 4], [0, 2, 3, 5]]
    """
    shares: list[set[int]] = [set() for _ in speeds]
    if kept is not None:
        shares = [set(places.tolist()) for places in kept]
    loads = np.array([sum(costs[place] for place in sorted(share)) for share in shares], np.float64)
    owned = set().union(*shares)
    free = [place for place in range(len(costs)) if place not in owned]
    for place in sorted(free, key=lambda place: (-costs[place], place)):
        worker = int(np.argmin((loads + costs[place]) / speeds))
        shares[worker].add(place)
        loads[worker] += costs[place]
    return [np.array(sorted(share), np.int64) for share in shares]


def balanced(costs: Floats, speeds: Floats, shares: Sequence[Places]) -> list[Places] | None:
    """Shares of which none takes much longer than the mean; None: these are good enough.

    Flops move from the slowest worker to the one that is done with them first, while that helps.
    """
    found = [sorted(share.tolist(), key=lambda place: -costs[place]) for share in shares]
    loads = np.array([costs[share].sum() for share in shares])
    mean = loads.sum() / speeds.sum()
    if (loads / speeds).max() <= TOLERATED * mean:
        return None
    for _ in range(len(costs)):
        slowest = int(np.argmax(loads / speeds))
        worst = loads[slowest] / speeds[slowest]
        for place in found[slowest]:
            after = (loads + costs[place]) / speeds
            after[slowest] = np.inf
            worker = int(np.argmin(after))
            if after[worker] < worst:
                break
        else:
            break
        found[slowest].remove(place)
        found[worker].append(place)
        loads[slowest] -= costs[place]
        loads[worker] += costs[place]
    return [np.array(sorted(share), np.int64) for share in found]
