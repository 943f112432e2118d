"""What is stored of a whole game, and how good that is.

Strategies after the flop are rounded to whole numbers before they are stored (`engines.quantised`),
so all figures of a solution are taken from the rounded ones (`engines.quantised_values`). In
`exact` games the decisions on the flop are stored as they are, and nothing is rounded.

One byte per action is enough for a solution that is exploitable for some mbb/hand: in games of 20
to 40 bb it changes that by at most 2 % above 2 mbb/hand, but by up to 40 % at 0.2. Two bytes change
it by at most 0.2 %, also at 0.004. So solutions below 2 mbb/hand are stored in two, and those above
it where one byte turns out to be too coarse, which happens sooner with deeper stacks. So are those
that are locked flop by flop: in one byte an action would not be taken as often as was asked for.

A solution may store its play before the flop alone: any flop can be solved for its ranges on demand
(`flop_spot`). Its figures are then those of the strategies that it was trained with.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Singles
from allstreets.engines import ONE_BYTE, TWO_BYTES, Numbers, agree, quantised_values
from allstreets.solvers.whole_game import Evaluation, UnifiedFigures, WholeGameSolver

FINE_BELOW = 2.0  # mbb/hand


@dataclass(frozen=True, eq=False)
class Kept:
    """How strategies after the flop are stored, and how good a solution they are."""

    numbers: Numbers | None  # None: no strategies after the flop are stored
    figures: UnifiedFigures
    values: Singles | None
    """[2, P, F, 169]: what the pots are worth to both players on every flop; None: not known."""


def keep(solver: WholeGameSolver, trained: float | None = None, *, flops: bool = True) -> Kept:
    """Find out how finely a solution must be stored, and evaluate what is stored.

    `trained` is the exploitability of the strategies that the solver holds, in mbb/hand, where it
    is known: what is stored agrees with it. Otherwise strategies are stored finely. Without `flops`
    none are stored after the flop.
    """
    if not solver.can_evaluate:
        return Kept(None, solver.figures(), None)
    if not flops:
        return _kept(solver, None)
    as_told = bool(solver.game.locks.by_flop)
    if trained is not None and trained >= FINE_BELOW and not as_told:
        coarse = _kept(solver, ONE_BYTE)
        found = coarse.figures.exploitability
        if found is not None and agree(found, trained):
            return coarse
    return _kept(solver, TWO_BYTES)


def _kept(solver: WholeGameSolver, numbers: Numbers | None) -> Kept:
    found = solver.evaluate() if numbers is None else evaluate_rounded(solver, numbers)
    return Kept(numbers, solver.figures(found), found.own.astype(np.float32))


def evaluate_rounded(solver: WholeGameSolver, numbers: Numbers) -> Evaluation:
    """What pots are worth under the strategies as stored; those of the solver stay."""
    reach = solver.preflop.pot_reach(solver.preflop.average())
    best, own = quantised_values(solver.games, reach, numbers)
    return Evaluation(best, own)
