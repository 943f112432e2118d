"""Common knowledge of heads-up play with 20 big blinds, on a small set of flops."""

from dataclasses import dataclass

import numpy as np
import pytest
from builders.whole_solution import trained_once

from allstreets.base import Floats
from allstreets.betting import (
    BIG_BLINDS,
    IP,
    OOP,
    ActionKind,
    Player,
    PreflopRules,
    Street,
    action_text,
    parse_line,
    same_sizes,
)
from allstreets.cards import HAND_SIZES, parse_hand
from allstreets.cards.flop_sets import spread_flops
from allstreets.cards.hands import OFFSUIT, PAIRS, SUITED
from allstreets.cfr.schedules import parse_schedule
from allstreets.games.whole_game import WholeGame
from allstreets.solvers.whole_game import WholeGameFigures, WholeGameSolver


@dataclass
class Solution:
    """A solved game."""

    solver: WholeGameSolver
    figures: WholeGameFigures

    def chances(self, line: str, word: str) -> Floats:
        """[169]: how often each hand takes an action after a line."""
        tree = self.solver.game.tree
        node = parse_line(tree, line, notation=BIG_BLINDS).node
        words = [action_text(action, BIG_BLINDS) for action in tree.actions_at(node)]
        found: Floats = self.solver.preflop.average()[node][words.index(word)]
        return found

    def share_of_combos(self, line: str, word: str) -> float:
        return float(self.chances(line, word) @ HAND_SIZES) / 1326

    def hand_values(self, player: Player) -> Floats:
        """[169]: what each hand wins on average, in chips."""
        average = self.solver.preflop.average()
        reach = self.solver.preflop.pot_reach(average)
        leaves = self.solver.leaves.evaluate(player, reach[player.opponent])
        values = self.solver.preflop.values(player, leaves, best=False, strategies=average)
        found: Floats = values[0] / self.solver.preflop.game.pairs.sum(axis=1)
        return found


@pytest.fixture(scope="module")
def solution() -> Solution:
    rules = PreflopRules.parse(20, [2.5], 4)
    sizes = same_sizes(Street.FLOP, [1.0], [1.0])
    game = WholeGame(rules, sizes, spread_flops(25), max_raises=1)
    solver = WholeGameSolver(game, game.build(game.engine()), parse_schedule("tuned"))
    trained_once(solver, 150)
    return Solution(solver, solver.figures())


def test_it_is_nearly_solved(solution: Solution) -> None:
    assert solution.figures.exploitability is not None
    assert 0 < solution.figures.exploitability < 10


def test_aces_are_never_folded(solution: Solution) -> None:
    tree, aces = solution.solver.game.tree, parse_hand("AA")
    folds = 0
    for node, chances in solution.solver.preflop.average().items():
        for action, chance in zip(tree.actions_at(node), chances[:, aces], strict=True):
            if action.kind == ActionKind.FOLD:
                assert chance < 1e-4
                folds += 1
    assert folds > 10


@pytest.mark.parametrize("line", ["a", "c a", "r2.5 a", "c r2.5 a", "r2.5 r6.25 a"])
def test_seven_deuce_folds_to_an_all_in(solution: Solution, line: str) -> None:
    assert solution.chances(line, "f")[parse_hand("72o")] > 0.999
    assert solution.chances(line, "f")[parse_hand("KK")] < 1e-3


@pytest.mark.parametrize("line", ["r2.5 r6.25 r15.63 a", "c r2.5 r6.25 r15.63 a"])
def test_nobody_folds_for_a_ninth_of_the_pot(solution: Solution, line: str) -> None:
    """4.37 bb to call for a pot of 35.63 bb: the worst hand has the odds."""
    assert solution.chances(line, "f").max() < 1e-3


def test_the_small_blind_plays_more_hands_than_the_big_blind_continues_with(
    solution: Solution,
) -> None:
    played = 1 - solution.share_of_combos("", "f")
    against_open = 1 - solution.share_of_combos("r2.5", "f")
    against_shove = 1 - solution.share_of_combos("a", "f")
    assert 0.7 < played < 1
    assert played > against_open > against_shove
    # With odds of 3.5 to 1.5 on an open most hands continue; on a shove of 20 bb few do.
    assert 0.5 < against_open < 0.9
    assert 0.1 < against_shove < 0.35


def test_suited_is_better_than_offsuit(solution: Solution) -> None:
    for player in Player:
        values = solution.hand_values(player)
        better = values[SUITED] - values[OFFSUIT]
        assert better.mean() > 3  # chips: 30 mbb
        assert better.min() > -1
    played = 1 - solution.chances("", "f")
    assert played[SUITED].mean() > played[OFFSUIT].mean()
    defended = 1 - solution.chances("r2.5", "f")
    assert defended[SUITED].mean() > defended[OFFSUIT].mean() + 0.05


@pytest.mark.parametrize("player", Player)
def test_pairs_are_worth_more_the_higher_they_are(solution: Solution, player: Player) -> None:
    """A few flops hit some ranks more than others, so low pairs may change places with the next."""
    values = solution.hand_values(player)[PAIRS]
    assert (np.diff(values[:5]) < 0).all()  # AA … TT
    assert (values[3:] < values[:-3]).all()
    assert np.corrcoef(values, np.arange(13))[0, 1] < -0.95
    assert values[0] > 300  # three big blinds
    assert values[0] == solution.hand_values(player).max()


def test_the_game_is_nearly_even(solution: Solution) -> None:
    """Position and the last word before the flop are worth about as much as half a blind."""
    values = solution.figures.values
    assert values is not None
    assert -100 < values[IP] < 100
    assert values[OOP] + values[IP] == pytest.approx(0, abs=0.01)


def test_better_position_makes_every_pair_worth_more(solution: Solution) -> None:
    small, big = solution.hand_values(IP), solution.hand_values(OOP)
    assert (small[PAIRS][:10] > big[PAIRS][:10]).all()


def test_strong_hands_are_not_folded_and_weak_ones_not_called(solution: Solution) -> None:
    calls = solution.chances("a", "c")
    for hand in ("AA", "KK", "QQ", "JJ", "TT", "99", "AKs", "AKo", "AQs"):
        assert calls[parse_hand(hand)] > 0.99
    for hand in ("72o", "32o", "62o", "83o", "94o", "T2o", "J3o", "32s", "72s"):
        assert calls[parse_hand(hand)] < 0.01
