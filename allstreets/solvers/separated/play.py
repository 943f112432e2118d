"""What unifying buys: the separated solution, played in the whole game.

1. A `FlopsSolver` solves flops with full ranges, at the SPRs of the game's own pots or at a few.
2. `PreflopSolver` solves the betting before the flop on their values (`model_values`).
3. `play_separated` puts both into a `WholeGameSolver`: that strategy before the flop, after it the
   nearest model's. Where the trees differ, lines are matched as in `betting.tree_matching`.
4. `WholeGameSolver.exploitability` is then what a player loses who plays so.

`resolve_flops` is the other way to play a preflop solution: the flops are solved again, for the
ranges that it sends there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from allstreets.base import Floats
from allstreets.betting import CHIPS_PER_POT, FlopPot, Player, match_trees, matched_strategy
from allstreets.engines import EvaluatesPairs
from allstreets.games import PotGame, Strategies, WholeGame, model_stack
from allstreets.solvers.flops.solver import FlopsSolver
from allstreets.solvers.separated.pair_values import (
    EVEN,
    PairValues,
    mean_over_flops,
    nearest_spr,
)
from allstreets.solvers.separated.solver import refuse_rake
from allstreets.solvers.whole_game.solver import WholeGameSolver


def own_models(game: WholeGame) -> tuple[PotGame, ...]:
    """The game's pots themselves, those with the same rules once; values know of no ante."""
    refuse_rake(game.preflop)
    pots = (game.after_the_flop(replace(pot.pot, bb_ante=0)) for pot in game.pots)
    return tuple({pot.rules: pot for pot in pots}.values())


def models_at(game: WholeGame, sprs: Sequence[float]) -> tuple[PotGame, ...]:
    """The postflop game at each of these SPRs, with the sizes of `game`."""
    refuse_rake(game.preflop)
    return tuple(
        game.after_the_flop(FlopPot(0, CHIPS_PER_POT, model_stack(spr), 0, f"spr{spr:.12g}"))
        for spr in sprs
    )


def model_values(models: FlopsSolver) -> PairValues:
    """What pairs of hands win after the flop under the average strategies of solved flops."""

    def shares(number: int, pot: PotGame) -> Iterator[Floats]:
        for flop in range(models.games.flops):
            assert isinstance(models.games, EvaluatesPairs)
            (won,) = models.games.pair_values(number, np.array([flop]))
            yield EVEN + won.astype(np.float64) / pot.pot.pot

    by_spr: dict[float, Iterator[Floats]] = {}
    for number, pot in enumerate(models.pots):
        by_spr.setdefault(pot.pot.spr, shares(number, pot))  # `nearest_spr` takes the first, too
    return mean_over_flops(models.flops, by_spr)


def play_preflop(unified: WholeGameSolver, preflop: Strategies) -> None:
    """Let the averages before the flop be `preflop`."""
    for node, strategy in preflop.items():
        unified.preflop.sums[node][...] = strategy


def play_separated(unified: WholeGameSolver, preflop: Strategies, models: FlopsSolver) -> None:
    """Let the averages be `preflop` before the flop and those of the nearest model after it.

    The solver is for evaluating then: its regrets are not those of these strategies. Its flops must
    be those of the models.
    """
    play_preflop(unified, preflop)
    games = unified.games
    sprs = [pot.pot.spr for pot in models.pots]
    for place, pot in enumerate(unified.game.pots):
        model = nearest_spr(sprs, pot.pot.spr)
        matches = match_trees(pot.tree, models.pots[model].tree)
        for flop in range(games.flops):
            at = partial(models.games.average, model, flop)
            for node, match in matches.items():
                hands = games.average(place, flop, node).shape[1]
                strategy = matched_strategy(pot.tree, node, match, at, hands)
                games.set_average(place, flop, node, strategy)


def resolve_flops(unified: WholeGameSolver, preflop: Strategies, iterations: int) -> None:
    """Let the averages be `preflop` before the flop and solve all flops for its ranges."""
    play_preflop(unified, preflop)
    reach = unified.preflop.pot_reach(preflop)
    unified.leaves.visit_all()
    for _ in range(iterations):
        for player in Player:
            unified.leaves.step(player, reach[player], reach[player.opponent])
