"""Flops evaluated with real cards: against the exact engine, and hand by hand."""

from functools import cache

import numpy as np
import pytest
from builders.small_games import EXACT, small_config
from reference.lifting import Array, Board, Handed, Responder

from allstreets.betting import Player
from allstreets.cards import (
    COMBO_CARDS,
    COMBO_COUNT,
    HAND_COUNT,
    HAND_OF_COMBO,
    card_rank,
    combo_index,
    parse_cards,
    parse_hand,
)
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.exact.engine import ExactEngine
from allstreets.engines.exact.strategies import average_strategy
from allstreets.engines.lifting import evaluate_flop
from allstreets.games.whole_game import WholeGame
from allstreets.solvers.whole_game import WholeGameSolver


@cache
def limped() -> WholeGame:
    return small_config(**EXACT).game()


class OfExactGame:
    """The strategies that an exact engine has learned."""

    def __init__(self, games: ExactEngine) -> None:
        self.subgame = games.subgames[0][0]

    def at(self, node: int, board: Board) -> Array:
        game, level = self.subgame, len(board) - 3
        number = game.streets[level].boards.index(board)
        combos = game.streets[level].hands[game.tree.player[node]][number].combos
        table = np.zeros((int(game.tree.child_count[node]), COMBO_COUNT))
        table[:, combos] = average_strategy(game, level, number, node)
        return table


def test_an_exact_solution_is_judged_as_by_its_own_engine() -> None:
    game = limped()
    games = game.build(game.engine(small_config(**EXACT).card_model()))
    assert isinstance(games, ExactEngine)
    solver = WholeGameSolver(game, games, parse_schedule("tuned"))
    solver.train_batch(5)
    reach = solver.preflop.pot_reach(solver.preflop.average())
    trees = [(pot.tree, pot.payoffs) for pot in game.pots]
    found = evaluate_flop(trees, game.flops.flops[0], [Handed(OfExactGame(games))], reach)
    wanted = solver.evaluate()
    for ours, theirs in ((found.best, wanted.best), (found.own, wanted.own)):
        assert ours is not None
        np.testing.assert_allclose(ours, theirs[:, :, 0], atol=1e-6 * np.abs(theirs).max())


class Careless:
    """A play without rhyme or reason, alike only where the names of suits make the difference."""

    def __init__(self) -> None:
        self.at = cache(self._at)

    def _at(self, node: int, board: Board) -> Array:
        actions = int(limped().pots[0].tree.child_count[node])
        seed = [node, *map(card_rank, board[:3]), sum(map(card_rank, board[3:]))]
        drawn = np.random.default_rng(seed).dirichlet(np.ones(actions), HAND_COUNT).T
        return np.asarray(drawn[:, HAND_OF_COMBO])


@pytest.mark.parametrize("player", [Player.OOP, pytest.param(Player.IP, marks=pytest.mark.long)])
def test_against_one_hand_that_is_walked_through_every_runout(player: Player) -> None:
    game, pot, play = limped(), limped().pots[0], Careless()
    flop = game.flops.flops[0]  # 9s7s2s
    reach = np.zeros((2, 1, HAND_COUNT))
    reach[:, 0, parse_hand("88")], reach[:, 0, parse_hand("A9s")] = 1.0, 0.25
    others = {
        combo: float(reach[player.opponent, 0, HAND_OF_COMBO[combo]])
        for combo in np.flatnonzero(reach[0, 0][HAND_OF_COMBO] > 0).tolist()
        if not set(COMBO_CARDS[combo].tolist()) & set(flop.cards)
    }
    found = evaluate_flop([(pot.tree, pot.payoffs)], flop, [Handed(play)], reach)
    combo = combo_index(*parse_cards("7h7d"))  # 7c7d and 7c7h differ from it by suits alone
    one = Responder(pot.tree, pot.payoffs, play, flop.cards, player, combo, others)
    for best, values in ((True, found.best), (False, found.own)):
        assert values is not None
        total = values[player, 0, HAND_OF_COMBO[combo]]
        assert total == pytest.approx(3 * one.value(best=best), rel=1e-5)
