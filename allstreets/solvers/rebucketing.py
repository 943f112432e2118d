"""River and turn buckets that follow the ranges: made from a quick first solve, then made again.

With `cards: boards` hands are bucketed for the ranges that start a pot, before these are known. So
the game is solved roughly first, with hand classes: a few dozen iterations on two dozen flops are
enough for that (`first_ranges`).

The ranges of the run itself are better, once it has settled. So they are compared a few times, each
three times as late as the last, and hands are bucketed again if the ranges have moved enough to be
worth the time: about 30 iterations, and carried-over regrets have to settle. Early comparisons
would be wasted: ranges of a few iterations are worse than those of the first solve. Once bucketed
again after 150 iterations, ranges have moved by 0.01 when 300 are done; those of the first solve
are 0.1 away.
"""

from dataclasses import dataclass

from allstreets.engines import Engine, RebucketsHands
from allstreets.solvers.leaves import VisitPlan
from allstreets.solvers.preflop import PreflopCfr

FIRST_LOOK = 150  # visits of a flop
LATER = 3  # times as many
LEAST_MOVE = 0.05  # of the combos that start a pot


@dataclass(frozen=True, eq=False)
class Rebucketing:
    """Buckets hands again before an iteration, at most `times` in a run."""

    engine: Engine
    preflop: PreflopCfr
    plan: VisitPlan
    times: int

    def before(self, iteration: int) -> None:
        """Compare the ranges if that is due at the start of an epoch."""
        epoch, batch, begins = self.plan.position(iteration, self.engine.flops)
        if begins and batch == 0 and self.is_due(epoch * self.plan.iterations):
            self.rebucket()

    def is_due(self, visits: int) -> bool:
        """Whether a comparison is due within the visits of the last epoch."""
        looks = (FIRST_LOOK * LATER**number for number in range(self.times))
        return any(visits - self.plan.iterations < look <= visits for look in looks)

    def rebucket(self) -> None:
        """Bucket hands again if the ranges that start pots have moved."""
        if isinstance(self.engine, RebucketsHands):
            reach = self.preflop.pot_reach(self.preflop.average())
            self.engine.rebucket(reach, LEAST_MOVE)
