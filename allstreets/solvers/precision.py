"""The precision at which a whole game is stored, and the quality of what is stored.

Strategies after the flop are rounded to whole numbers before they are stored (`engines.quantised`),
so all figures of a solution are taken from the rounded ones (`engines.quantised_values`). In
`exact` games the decisions on the flop are stored as they are, and nothing is rounded.

One byte per action is enough for a solution that is exploitable for several mbb/hand: in games of
20 to 40 bb it changes that by at most 2 % above 2 mbb/hand, but by up to 40 % at 0.2. Two bytes
change it by at most 0.2 %, also at 0.004. So solutions below 2 mbb/hand are stored in two, and
those above it where one byte turns out to be too coarse, which happens sooner with deeper stacks.
So are those that are locked flop by flop: in one byte an action would miss its requested frequency.

A solution may store its play before the flop alone: any flop can be solved for its ranges on demand
(`flop_spot`). Its figures are then those of the strategies that it was trained with.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, Singles
from allstreets.engines import ONE_BYTE, TWO_BYTES, Numbers, agree, quantised_values
from allstreets.solvers.whole_game import Evaluation, WholeGameFigures, WholeGameSolver

FINE_BELOW = 2.0  # mbb/hand


@dataclass(frozen=True, eq=False)
class QuantisedSolution:
    """The stored strategies after the flop, and the quality of the solution."""

    numbers: Numbers | None  # None: no strategies after the flop are stored
    figures: WholeGameFigures
    values: Singles | None
    """[2, P, F, 169]: what the pots are worth to both players on every flop; None: not known."""
    ranges: Floats | None = None
    """[2, P, 169]: those to solve other flops for (`entry_ranges`); None: those that get there."""


def quantise_solution(
    solver: WholeGameSolver, trained: float | None = None, *, flops: bool = True
) -> QuantisedSolution:
    """Choose the precision of a solution, and evaluate what is stored.

    `trained` is the exploitability of the strategies that the solver holds, in mbb/hand, where it
    is known: what is stored agrees with it. Otherwise strategies are stored in two bytes. Without
    `flops` none are stored after the flop.
    """
    if not solver.can_evaluate:
        return QuantisedSolution(None, solver.figures(), None)
    if not flops:
        return _quantised(solver, None)
    locked = bool(solver.game.locks.by_flop)
    if trained is not None and trained >= FINE_BELOW and not locked:
        coarse = _quantised(solver, ONE_BYTE)
        stored = coarse.figures.exploitability
        if stored is not None and agree(stored, trained):
            return coarse
    return _quantised(solver, TWO_BYTES)


def _quantised(solver: WholeGameSolver, numbers: Numbers | None) -> QuantisedSolution:
    values = solver.evaluate() if numbers is None else evaluate_quantised(solver, numbers)
    return QuantisedSolution(numbers, solver.figures(values), values.own.astype(np.float32))


def evaluate_quantised(solver: WholeGameSolver, numbers: Numbers) -> Evaluation:
    """The values of pots under the strategies as stored; those of the solver stay."""
    reach = solver.preflop.pot_reach(solver.preflop.average())
    best, own = quantised_values(solver.engine, reach, numbers)
    return solver.corrected(Evaluation(best, own), np.arange(solver.engine.flops))
