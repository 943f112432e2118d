"""What simple strategies cost in a spot, by the best responses of its own exact game."""

from collections.abc import Collection

import numpy as np

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.solvers.simplified import OWN_GAME
from allstreets.solvers.simplify.records import Simplified, Trials, simplified, variants
from allstreets.solvers.simplify.rule import Simplification
from allstreets.solvers.simplify.subgame import SimpleSubgame
from allstreets.solvers.spot.solver import SpotSolver

SEATS = Player.OOP.name, Player.IP.name


def simplify_spot(
    solver: SpotSolver, rule: Simplification, players: Collection[Player] = tuple(Player)
) -> Simplified:
    """Make the average strategies of a solver simple, and say what that costs in % of the pot.

    It keeps its regrets, and must be on the CPU. `solution` of what comes back is its result.
    """
    spot, subgame = solver.spot, solver.subgame
    if not spot.tree.child_count[0]:
        raise InputError("both players are all-in in this spot: there is no strategy to simplify")
    simple = SimpleSubgame(subgame, solver.reach, rule, players)
    streets = tuple(subgame.levels)
    best, own = [], []
    for chosen in variants(streets):
        simple.play(chosen)
        best.append([solver.mean(player, best=True) for player in Player])
        if spot.rake:
            own.append([solver.mean(player, best=False) for player in Player])
    unit = 100 / spot.pot
    trials = Trials(
        streets,
        unit * np.array(best),
        unit * np.array(own) if own else None,
        simple.before,
        simple.after,
    )
    solution = solver.result()
    solution.exploitability = trials.exploitability(-1) / 100
    solution.iterations = solver.iterations
    return simplified(
        trials,
        rule,
        players,
        unit=solver.unit,
        judged=OWN_GAME,
        seats=SEATS,
        solution=solution,
    )
