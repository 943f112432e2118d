"""The preflop strategy on view while a game is being solved.

Only the averages before the flop are read, a few kilobytes: that costs nothing, whatever the
size of the game below. EVs would take a pass over all flops, and are reported at the end.
"""

from __future__ import annotations  # some types are of files that import this one

from collections.abc import Callable
from typing import TYPE_CHECKING

from allstreets.betting import PreflopRules
from allstreets.solutions import PreflopRoots, PreflopStrategies, SolutionFacts, WholeSolution
from allstreets.solvers import PreflopTraining
from allstreets.training.loop import Every

if TYPE_CHECKING:
    from allstreets.training.records import Progress

    ChartObserver = Callable[[Progress, WholeSolution], None]


def charts_every(
    interval: int, solver: PreflopTraining, rules: PreflopRules, observer: ChartObserver | None
) -> tuple[Every, ...]:
    """What the training loop is to do so that `observer` gets the strategy at intervals.

    Nothing with an interval of 0 or without an observer, and not when the run ends: then there is
    a whole solution to look at.
    """
    if interval == 0 or observer is None:
        return ()

    def show(progress: Progress) -> None:
        if not progress.holding:
            observer(progress, preflop_so_far(solver, rules, progress))

    return (Every(interval, show),)


def preflop_so_far(
    solver: PreflopTraining, rules: PreflopRules, progress: Progress
) -> WholeSolution:
    """The average strategy before the flop as it stands, without EVs."""

    fresh = progress.fresh_metrics
    facts = SolutionFacts(
        iterations=solver.iterations,
        algorithm=str(solver.schedule),
        exploitability=fresh.exploitability if fresh else None,
        seconds=progress.seconds,
    )
    roots = PreflopRoots(rules, PreflopStrategies.of(solver.preflop, None))
    return WholeSolution(roots, None, facts)
