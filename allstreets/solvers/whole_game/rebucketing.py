"""When hands are grouped again in a run, for the ranges that start pots by then.

Cards `boards` put hands together by the ranges of a quick first solve. Those of the run itself are
better, once it has settled. So they are looked at a few times, each three times as late as the
last, and hands are grouped again where the ranges have moved far enough to be worth the time: that
of about 30 iterations, and what is carried over has to settle. Early looks would be wasted, since
ranges of a few iterations are worse than those of the first solve. Once grouped again after 150
iterations, ranges have moved by 0.01 when 300 are done; those of the first solve are 0.1 away.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from allstreets.base import Floats

FIRST_LOOK = 150  # visits of a flop
LATER = 3  # times as many
LEAST_MOVE = 0.05  # of the combos that start a pot


@runtime_checkable
class GroupedByRanges(Protocol):
    """Games in which hands are put together by the ranges that start a pot."""

    def rebucket(self, reach: Floats, least: float) -> float:
        """Group hands again for the reach [2, P, 169] if it has moved by more than `least`.

        Says how far it had: the share of the combos that start a pot.
        """


@dataclass(frozen=True)
class Regrouping:
    """Looks at the ranges, so many `times` in a run at most."""

    times: int

    def is_due(self, visits: int, fresh: int) -> bool:
        """Whether a look falls into the last `fresh` of a flop's visits."""
        looks = (FIRST_LOOK * LATER**number for number in range(self.times))
        return any(visits - fresh < look <= visits for look in looks)
