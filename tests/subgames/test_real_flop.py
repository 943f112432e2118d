"""Flops judged with real cards: against the exact engine, and against asking single hands."""

from functools import cache

import numpy as np
import pytest
from builders.small_games import EXACT, small_config
from reference.real_play import Responder

from allstreets.betting import Player, Street
from allstreets.cards import COMBO_COUNT, HAND_COUNT, HAND_OF_COMBO, combo_index, parse_cards
from allstreets.cfr.schedules import parse_schedule
from allstreets.solvers.game.game import UnifiedGame
from allstreets.solvers.unified.solver import UnifiedSolver
from allstreets.subgames.exact_flops import ExactFlops
from allstreets.subgames.exact_view import average_strategy
from allstreets.subgames.real_flop import judge_flop
from allstreets.subgames.real_play import Board, Floats, Rows


@cache
def limped() -> UnifiedGame:
    return small_config(**EXACT).game()


class OfExactGame:
    """What an exact engine has learned, as rows of combos."""

    def __init__(self, games: ExactFlops) -> None:
        self.subgame = games.subgames[0][0]

    def rows(self, player: Player, board: Board) -> Rows:
        del player, board
        return np.arange(COMBO_COUNT)

    def strategies(self, player: Player, board: Board) -> Floats:
        game, level = self.subgame, len(board) - 3
        number = game.streets[level].boards.index(board)
        nodes = [n for n in game.tree.decisions(Street(level + 1)) if game.tree.player[n] == player]
        combos = game.streets[level].hands[player][number].combos
        tables = []
        for node in nodes:
            table = np.zeros((int(game.tree.child_count[node]), COMBO_COUNT))
            table[:, combos] = average_strategy(game, level, number, node)
            tables.append(table)
        return np.concatenate(tables)


def test_an_exact_solution_is_judged_as_by_its_own_engine() -> None:
    game = limped()
    games = game.build(game.engine(small_config(**EXACT).card_model()))
    assert isinstance(games, ExactFlops)
    solver = UnifiedSolver(game, games, parse_schedule("tuned"))
    solver.train_batch(5)
    reach = solver.preflop.pot_reach(solver.preflop.average())
    trees = [(pot.tree, pot.payoffs) for pot in game.pots]
    found = judge_flop(trees, game.flops.flops[0], [OfExactGame(games)], reach)
    wanted = solver.evaluate()
    assert found.own is not None
    for ours, theirs in ((found.best, wanted.best), (found.own, wanted.own)):
        np.testing.assert_allclose(ours, theirs[:, :, 0], atol=1e-6 * np.abs(theirs).max())


class Careless:
    """A play without rhyme or reason: hands in seven rows, by board and player."""

    def rows(self, player: Player, board: Board) -> Rows:
        # Alike for hands and boards that differ by the names of suits, as every real play is.
        ranks = sum(card // 4 for card in board)
        return (HAND_OF_COMBO * 31 + ranks + player) % 7

    def strategies(self, player: Player, board: Board) -> Floats:
        tree = limped().pots[0].tree
        parts = []
        for node in tree.decisions(Street(len(board) - 2)):
            if tree.player[node] == player:
                drawn = np.random.default_rng([node, sum(card // 4 for card in board)])
                parts.append(drawn.dirichlet(np.ones(int(tree.child_count[node])), 7).T)
        return np.concatenate(parts)


@pytest.mark.parametrize("player", Player)
def test_against_best_responses_hand_by_hand(player: Player) -> None:
    game, pot = limped(), limped().pots[0]
    flop, play = game.flops.flops[0], Careless()
    reach = np.zeros((2, 1, HAND_COUNT))
    weights = {"AhKd": 1.0, "8c8d": 0.25}  # their classes, as the other player holds them
    for text, weight in weights.items():
        combo = combo_index(*parse_cards(text))
        reach[:, 0, HAND_OF_COMBO[combo]] = weight
    others = {
        combo: float(reach[player.opponent, 0, HAND_OF_COMBO[combo]])
        for combo in np.flatnonzero(reach[player.opponent, 0][HAND_OF_COMBO] > 0).tolist()
        if not blocked(combo, flop.cards)
    }
    found = judge_flop([(pot.tree, pot.payoffs)], flop, [play], reach)
    assert found.own is not None
    hand = "7h7d"  # a set; 7c7d and 7c7h play like it
    first = combo_index(*parse_cards(hand))
    one = Responder(pot.tree, pot.payoffs, play, flop.cards, player, first, others)
    values = (found.best, found.own)
    for wanted, value in zip((one.value(), one.value(best=False)), values, strict=True):
        got = value[player, 0, HAND_OF_COMBO[first]]
        assert got == pytest.approx(3 * wanted, rel=1e-5)


def blocked(combo: int, cards: tuple[int, ...]) -> bool:
    from allstreets.cards import COMBO_CARDS

    return bool(set(COMBO_CARDS[combo].tolist()) & set(cards))
