"""The ranges with which pots begin, roughly: a quick solve of the game with hand classes.

Groups of hands on river boards are made for the ranges that get there, before these are known. A
few dozen iterations on two dozen flops are enough for that.
"""

from dataclasses import replace

from allstreets.base import Floats
from allstreets.cards import subset_flops
from allstreets.cfr import Schedule
from allstreets.games import WholeGame
from allstreets.solvers.whole_game.solver import WholeGameSolver

ITERATIONS = 100
FLOPS = 25


def first_ranges(game: WholeGame, schedule: Schedule, threads: int = 1) -> Floats:
    """[2, P, 169]: both players' reach at the pots, after some iterations with hand classes."""
    game = game.roughly
    if len(game.flops.flops) > FLOPS:
        game = replace(game, flops=subset_flops(FLOPS))
    solver = WholeGameSolver(game, game.build(game.engine(threads=threads)), schedule)
    solver.train_batch(ITERATIONS)
    reach: Floats = solver.preflop.pot_reach(solver.preflop.average())
    return reach
