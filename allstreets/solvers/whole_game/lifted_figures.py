"""What a solution's own play of a flop is worth and loses with real cards, to the ranges there.

Every combo plays what the solution stores for it (`engines.lifting`), and best responses see
every card. It is the exploitability of a spot whose strategies are the solution's.
"""

from dataclasses import dataclass, replace

import numpy as np

from allstreets.base import Floats
from allstreets.betting import CHIPS_PER_BB, Player
from allstreets.cards import Range
from allstreets.engines import evaluate_flop, lift_flop
from allstreets.games import estimate_spot
from allstreets.solvers.whole_game.flop_spot import FlopSpot
from allstreets.solvers.whole_game.result import UnifiedResult


@dataclass(frozen=True)
class RealFigures:
    """A solution's own play of a flop, judged with real cards."""

    evs: tuple[float, float]  # of OOP and IP in bb over the whole hand
    loss: float  # mean of both players' best-response gains, a share of the pot


def real_figures(
    result: UnifiedResult, found: FlopSpot, threads: int = 1, free: int | None = None
) -> RealFigures | None:
    """What both players' stored strategies win on a flop with real cards, and what they lose.

    None: the solution does not say how turn and river are played there, or `free` bytes of memory
    are not enough to find out.
    """
    if found.place is None or not result.cards.stores_all_streets:
        return None
    if free is not None and _bytes(found) > free:
        return None
    flop, pots = found.flop.flop, [result.pot(n) for n in range(len(result.game.flop_pots))]
    arrays = result.source.arrays(found.place)
    play = lift_flop(result.cards, flop, [pot.tree for pot in pots], arrays)[found.number]
    pot = pots[found.number]
    weights: Floats = np.stack([one.hand_weights for one in found.ranges])  # [2, 169]
    values = evaluate_flop(
        [(pot.tree, pot.payoffs)], flop, [play], weights[:, None, :], threads=threads
    )
    assert values.own is not None
    own, best = (
        [float(weights[player] @ some[player, 0]) / found.spot.pairs for player in Player]
        for some in (values.own, values.best)
    )
    loss = (sum(best) - sum(own)) / 2 / found.spot.pot
    return RealFigures((own[0] / CHIPS_PER_BB, own[1] / CHIPS_PER_BB), max(loss, 0.0))


def _bytes(found: FlopSpot) -> int:
    """The memory of all combos whose strategies are shared about as widely as those of rows."""
    full = replace(found.spot, oop=Range.full(), ip=Range.full())
    return estimate_spot(full, river_groups="suits").process_bytes
