"""What pots are worth on every flop when strategies are as a bundle stores them.

Some flops at a time are rounded, evaluated and put back, and every flop is evaluated once.
"""

import numpy as np

from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.engines.protocol import Engine, ShardedEngine
from allstreets.engines.quantised import Numbers

ASIDE_BYTES = 200_000_000  # of sums that are set aside while the rounded flops are evaluated
LEAST_FLOPS = 8  # that are evaluated at a time, so that threads have something to do


def rounded_values(games: Engine, reach: Floats, numbers: Numbers) -> Floats:
    """[2, 2, P, F, 169]: best responses and average strategies, of both players.

    `reach` [2, P, 169] starts the pots.
    """
    if isinstance(games, ShardedEngine):
        return games.rounded_values(reach, numbers)
    averages = games.memory_bytes // 2
    count = max(LEAST_FLOPS, ASIDE_BYTES * games.flops // max(averages, 1))
    parts = []
    for first in range(0, games.flops, count):
        flops = range(first, min(first + count, games.flops))
        with games.rounded(flops, numbers):
            chosen = np.array(flops)
            parts.append(
                [
                    [run(player, reach[player.opponent], chosen) for player in Player]
                    for run in (games.best_response, games.evaluate)
                ]
            )
    return np.concatenate([np.array(part) for part in parts], axis=3)
