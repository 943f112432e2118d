"""The errors of buckets and of the choice of flops, measured on a few flops and corrected.

Where hands share buckets, a pot is worth a little more or less to a hand than it is with real
cards. Before the flop most hands are all but indifferent between two actions, so that an error of a
few thousandths of the pot decides their play. In a game of 20 bb this causes two thirds of a
solution's loss with real cards.

So training halts once, when the ranges have settled. Some flops are solved exactly for these ranges
(by `measure`), and the differences from the run's own values are *corrections*: chips for each
opposing combo that a hand meets in a pot. From then on training adds to every value of a pot the
correction times the combos met, so that corrections follow the ranges.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allstreets.base import Floats

if TYPE_CHECKING:
    from allstreets.solvers.whole_game import WholeGameSolver

SETTLED = 0.5  # share of a run's iterations after which its errors are measured


@dataclass(frozen=True, eq=False)
class Calibration:
    """The time of a calibration in a run, its number of flops, and the function that measures."""

    flops: int
    iteration: int
    measure: "Callable[[WholeGameSolver], Floats]"
    """Corrections [2, P, 169] for the average strategies, in chips for each opposing combo."""
    over: str = "own"  # the flops that corrections are for

    @property
    def ends(self) -> int:
        """The first iteration with corrections."""
        return self.iteration + 1


@dataclass(frozen=True, eq=False)
class Calibrating:
    """Measures the corrections of a solver when they are due."""

    solver: "WholeGameSolver"
    plan: Calibration

    def before(self, iteration: int) -> None:
        """Measure before the iteration that is planned."""
        if iteration == self.plan.iteration:
            self.solver.leaves.corrections = self.plan.measure(self.solver)
