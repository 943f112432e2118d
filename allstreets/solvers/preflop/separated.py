"""What unifying buys: the separated solution, played in the whole game.

1. `UniformModels`: flops solved with full ranges, at the SPRs of the game's own pots or at a few.
2. `PreflopSolver` solves the betting before the flop on their values.
3. `play_separated` puts both into a `UnifiedSolver`: that strategy before the flop, after it the
   nearest model's. Where the trees differ, lines are matched as `betting.tree_matching` says.
4. `UnifiedSolver.exploitability` then tells what a player loses who plays so.

`resolve_flops` is the other way to play a preflop solution: the flops are solved again, for the
ranges that it sends there.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from allstreets.base import InputError
from allstreets.betting import OOP, FlopPot, Player
from allstreets.betting.tree_matching import match_trees, matched_strategy
from allstreets.cards import HAND_COUNT, preflop_equity
from allstreets.cfr.schedules import Schedule
from allstreets.solvers.preflop.cfr import Floats, Strategies
from allstreets.solvers.preflop.pair_values import EVEN, PairValues, from_totals, nearest_spr
from allstreets.solvers.preflop.solver import refuse_rake
from allstreets.solvers.unified.game import PotGame, UnifiedGame
from allstreets.solvers.unified.leaves import FlopLeaves
from allstreets.solvers.unified.solver import UnifiedSolver
from allstreets.subgames.flop_games import FlopGames
from allstreets.subgames.matrix_flops import MatrixFlops

MODEL_POT = 1000
"""Chips in the pot of a model whose SPR is given: rounding moves no bet by more than 0.05 %."""


def own_models(game: UnifiedGame) -> tuple[PotGame, ...]:
    """The game's pots themselves, those with the same rules once; values know of no ante."""
    refuse_rake(game.preflop)
    pots = (game.after_the_flop(replace(pot.pot, bb_ante=0)) for pot in game.pots)
    return tuple({pot.rules: pot for pot in pots}.values())


def models_at(game: UnifiedGame, sprs: Sequence[float]) -> tuple[PotGame, ...]:
    """The postflop game at each of these SPRs, with the sizes of `game`."""
    refuse_rake(game.preflop)
    found = []
    for spr in sprs:
        stack = round(spr * MODEL_POT)
        if stack < 1:
            raise InputError(
                f"an SPR of {spr:g} leaves nothing to bet: give {1 / MODEL_POT} or more"
            )
        found.append(game.after_the_flop(FlopPot(0, MODEL_POT, stack, 0, f"SPR {spr:g}")))
    return tuple(found)


class UniformModels:
    """M models on F flops: all of them solved side by side, both ranges full.

    `games` are the subgames of `models` on the flops, `weights` [F] how often each flop comes.
    """

    def __init__(
        self,
        models: Sequence[PotGame],
        games: FlopGames,
        weights: Floats,
        schedule: Schedule,
    ) -> None:
        self.models, self.games = tuple(models), games
        everyone = float(preflop_equity().pairs.sum())
        self.leaves = FlopLeaves(games, weights, everyone, schedule)
        self._full = np.ones((games.pots, HAND_COUNT))

    @property
    def sprs(self) -> tuple[float, ...]:
        """The SPR of each model."""
        return tuple(model.pot.spr for model in self.models)

    def train(self, iterations: int) -> None:
        """So many iterations more, of every model on every flop."""
        for _ in range(iterations):
            for player in Player:
                self.leaves.step(player, self._full, self._full)

    def exploitability(self) -> Floats:
        """[M]: mean of both players' best-response gains over all flops, in pots."""
        gains = sum(self.leaves.judge(player, self._full, best=True).sum(1) for player in Player)
        found: Floats = gains / 2 / self.leaves.pairs.sum() / self._pots()
        return found

    def pair_values(self) -> PairValues:
        """The values of the average strategies.

        Against a range of a single hand a hand's values are those against that hand, times pairs.
        """
        totals = np.zeros((len(self.models), HAND_COUNT, HAND_COUNT))
        for hand in range(HAND_COUNT):
            alone = np.zeros_like(self._full)
            alone[:, hand] = 1.0
            totals[:, :, hand] = self.leaves.judge(OOP, alone, best=False)
        shares = EVEN * self.leaves.pairs + totals / self._pots()[:, None, None]
        return from_totals(self.sprs, self.leaves.pairs, shares)

    def _pots(self) -> Floats:
        return np.array([model.pot.pot for model in self.models], np.float64)


def play_preflop(unified: UnifiedSolver, preflop: Strategies) -> None:
    """Let the averages before the flop be `preflop`."""
    for node, strategy in preflop.items():
        unified.preflop.sums[node][...] = strategy


def play_separated(unified: UnifiedSolver, preflop: Strategies, models: UniformModels) -> None:
    """Let the averages be `preflop` before the flop and those of the nearest model after it.

    The solver is for judging then: its regrets are not those of these strategies. Its flops must be
    those of the models.
    """
    games = unified.games
    if not isinstance(games, MatrixFlops):
        raise TypeError(f"strategies cannot be put into flops of the model {games.model}")
    play_preflop(unified, preflop)
    for place, pot in enumerate(unified.game.pots):
        game = games.games[place]
        model = nearest_spr(models.sprs, pot.pot.spr)
        matches = match_trees(pot.tree, models.models[model].tree)
        for flop in range(games.flops):
            at = partial(models.games.average, model, flop)
            for node, match in matches.items():
                hands = games.cards.hands[int(game.stage_of_node[node])]
                strategy = matched_strategy(pot.tree, node, match, at, hands)
                game.set_average(flop, node, strategy)


def resolve_flops(unified: UnifiedSolver, preflop: Strategies, iterations: int) -> None:
    """Let the averages be `preflop` before the flop and solve all flops for its ranges."""
    play_preflop(unified, preflop)
    reach = unified.preflop.pot_reach(preflop)
    unified.leaves.visit_all()
    for _ in range(iterations):
        for player in Player:
            unified.leaves.step(player, reach[player], reach[player.opponent])
