"""What is kept of a whole game, and how good that is.

Strategies after the flop are rounded to whole numbers before they are stored (`flops.strategies`),
so all figures of a solution are taken from the rounded ones: some flops at a time are rounded,
judged and put back, and every flop is judged once. In `exact` games the decisions on the flop are
kept as they are, and nothing is rounded.

A byte an action is enough for a solution that is exploitable for some mbb/hand: in games of 20 to
40 bb it changes that by at most 2 % above 2 mbb/hand, but by up to 40 % at 0.2. Two bytes change it
by at most 0.2 %, also at 0.004. So below 2 mbb/hand solutions are kept in two, and above where one
turns out to be too coarse, as deeper stacks sooner do.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.solvers.flops.strategies import ONE_BYTE, TWO_BYTES, Numbers, agree
from allstreets.solvers.unified.solver import Judgement, UnifiedFigures, UnifiedSolver
from allstreets.subgames.matrix_flops import MatrixFlops

FINE_BELOW = 2.0  # mbb/hand
ASIDE_BYTES = 200_000_000  # of sums that are set aside while flops are judged as they are kept
LEAST_FLOPS = 8  # that are judged at a time, so that threads have something to do


@dataclass(frozen=True, eq=False)
class Kept:
    """How strategies after the flop are kept, and how good a solution they are."""

    numbers: Numbers
    figures: UnifiedFigures
    values: NDArray[np.float32] | None
    """[2, P, F, 169]: what the pots are worth to both players on every flop; None: not known."""


def keep(solver: UnifiedSolver, trained: float | None = None) -> Kept:
    """Find out how finely a solution must be kept, and judge what is kept.

    `trained` is the exploitability of the strategies that the solver holds, in mbb/hand, where it
    is known: what is kept agrees with it. Otherwise strategies are kept finely.
    """
    games = solver.games
    if not solver.is_judgeable:
        return Kept(TWO_BYTES, solver.figures(), None)
    if not isinstance(games, MatrixFlops):
        return _kept(solver, TWO_BYTES, solver.judge())
    if trained is not None and trained >= FINE_BELOW:
        coarse = _kept(solver, ONE_BYTE, judge_rounded(solver, games, ONE_BYTE))
        found = coarse.figures.exploitability
        if found is not None and agree(found, trained):
            return coarse
    return _kept(solver, TWO_BYTES, judge_rounded(solver, games, TWO_BYTES))


def _kept(solver: UnifiedSolver, numbers: Numbers, judgement: Judgement) -> Kept:
    return Kept(numbers, solver.figures(judgement), judgement.own.astype(np.float32))


def judge_rounded(solver: UnifiedSolver, games: MatrixFlops, numbers: Numbers) -> Judgement:
    """What pots are worth under the strategies that are kept; those of the solver stay."""
    largest = int(np.iinfo(numbers).max)
    averages = games.memory_bytes // 2
    count = max(LEAST_FLOPS, ASIDE_BYTES * games.flops // max(averages, 1))
    parts = []
    for first in range(0, games.flops, count):
        flops = range(first, min(first + count, games.flops))
        with games.rounded(flops, largest):
            parts.append(solver.judge(np.array(flops)))
    return Judgement(
        np.concatenate([part.best for part in parts], axis=2),
        np.concatenate([part.own for part in parts], axis=2),
    )
