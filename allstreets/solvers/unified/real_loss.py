"""What a solution's own play of a flop loses with real cards, to the ranges that get there.

Every combo plays what the solution stores for it (`subgames.real_play`), and best responses see
every card. It is the exploitability of a spot whose strategies are the solution's.
"""

from dataclasses import replace

import numpy as np

from allstreets.betting import Player
from allstreets.cards import Range
from allstreets.solvers.hands import Floats
from allstreets.solvers.spot.estimate import estimate_spot
from allstreets.solvers.unified.flop_spot import FlopSpot
from allstreets.solvers.unified.result import UnifiedResult
from allstreets.subgames import judge_flop, plays_all_streets, real_plays


def real_loss(
    result: UnifiedResult, found: FlopSpot, threads: int = 1, free: int | None = None
) -> float | None:
    """Mean of both players' best-response gains on a flop, a share of its pot.

    None: the solution does not say how turn and river are played there, or `free` bytes of memory
    are not enough to find out.
    """
    if found.place is None or not plays_all_streets(result.cards):
        return None
    if free is not None and _bytes(found) > free:
        return None
    flop, pots = found.flop.flop, [result.pot(n) for n in range(len(result.game.flop_pots))]
    arrays = result.source.arrays(found.place)
    play = real_plays(result.cards, flop, [pot.tree for pot in pots], arrays)[found.number]
    pot = pots[found.number]
    weights: Floats = np.stack([one.hand_weights for one in found.ranges])  # [2, 169]
    values = judge_flop(
        [(pot.tree, pot.payoffs)], flop, [play], weights[:, None, :], threads=threads
    )
    assert values.own is not None
    gains = [weights[player] @ (values.best - values.own)[player, 0] for player in Player]
    return max(float(sum(gains)) / 2 / found.spot.pairs / found.spot.pot, 0.0)


def _bytes(found: FlopSpot) -> int:
    """The memory of all combos whose strategies are shared about as widely as those of rows."""
    full = replace(found.spot, oop=Range.full(), ip=Range.full())
    return estimate_spot(full, river_groups="suits").process_bytes
