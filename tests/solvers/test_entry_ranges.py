"""Off-path pots that are solved again: for the range that is left there, and for an entry range."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from allstreets.base import Floats
from allstreets.betting import IP, OOP, Player
from allstreets.cards import (
    HAND_COUNT,
    HAND_NAMES,
    HAND_SIZES,
    FlopSet,
    all_flops,
    named_flops,
    parse_flop,
)
from allstreets.cfr import IterationWeights, parse_schedule
from allstreets.engines import DealtPairs
from allstreets.games import WholeGame, largest_one
from allstreets.jobs import UnifiedConfig
from allstreets.solvers import MBB_PER_CHIP, WholeGameSolver, solution_ranges
from allstreets.solvers.entry_ranges import EntryGadget, _solve, entering_weights, some_flops

STRONG, WEAK = HAND_NAMES.index("AA"), HAND_NAMES.index("32o")


class CallOrFold:
    """One pot in which OOP calls or folds, whatever he holds, and IP may hold two hands.

    A call pays IP +2 with the strong hand and −2 with the weak one; a fold pays him +1 with either.
    """

    flops, pots = 1, 1
    dealt = DealtPairs.of([parse_flop("9s7h5d").flop.cards], removal=False)
    pays = np.zeros((2, HAND_COUNT))  # [call or fold, IP's hand]
    pays[:, STRONG], pays[:, WEAK] = (2, 1), (-2, 1)

    def __init__(self) -> None:
        self.regrets, self.sums = np.zeros(2), np.zeros(2)

    @property
    def calls(self) -> float:
        return float(self.sums[0] / self.sums.sum())

    def iterate(self, reach: Floats, _: Any, weights: Sequence[IterationWeights]) -> None:
        opponents = reach[IP, 0] * self.dealt.combos[0]
        for now in weights:
            positive = np.maximum(self.regrets, 0.0)
            played = positive / positive.sum() if positive.any() else np.full(2, 0.5)
            gains = -(self.pays @ opponents)
            discount = np.where(self.regrets > 0, now.positive, now.negative)
            self.regrets = self.regrets * discount + gains - played @ gains
            self.sums = self.sums * now.average + played

    def best_response(self, player: Player, opponent_reach: Floats, _: Any) -> Floats:
        met = self.dealt.met(0, opponent_reach[0])
        if player == OOP:
            return np.zeros((1, 1, HAND_COUNT))
        calls = self.calls
        values: Floats = met * (calls * self.pays[0] + (1 - calls) * self.pays[1])
        return values[None, None]


def solved_for(reach: Floats) -> CallOrFold:
    pot = CallOrFold()
    pot.iterate(reach, None, parse_schedule("ahead").run(1, 300))
    return pot


def test_bluffs_enter_where_only_strong_hands_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """IP's range is all strong, so OOP folds, and a weak hand that enters wins 1 instead of 0."""
    ranges = np.zeros((2, 1, HAND_COUNT))
    ranges[OOP] = 1.0
    ranges[IP, 0, STRONG] = 1.0
    unsafe = solved_for(ranges)
    assert unsafe.calls < 0.01
    met = np.stack([[CallOrFold.dealt.met(0, row) for row in side] for side in ranges[::-1]])
    declining = np.zeros_like(ranges)
    declining[IP, 0, STRONG] = 4 / 3 * met[IP, 0, STRONG]  # its value where OOP calls a third
    engine: Any = CallOrFold()
    monkeypatch.setattr("allstreets.solvers.entry_ranges.ITERATIONS", 1500)
    weights = np.array([[0.0], [8.0]])
    entry = _solve(ranges, declining, weights, engine)[IP, 0] * CallOrFold.dealt.combos[0]
    # A third of calls makes the weak hand indifferent (2 · 1/3 lost, 1 · 2/3 won), and one weak
    # hand for three strong ones makes OOP so.
    assert 0.2 < engine.calls < 0.5
    assert 0.2 < entry[WEAK] / entry[STRONG] < 0.5


def test_hands_enter_where_it_beats_declining() -> None:
    ranges, met = np.ones((2, 1, HAND_COUNT)), np.ones((2, 1, HAND_COUNT))
    declining = np.zeros_like(ranges)
    gadget = EntryGadget(ranges, declining, met, np.full((2, 1), 3.0))
    gains = np.zeros((1, HAND_COUNT))
    gains[0, STRONG], gains[0, WEAK] = 1.0, -1.0
    for _ in range(3):
        gadget.learn(IP, gains)
    assert gadget.chances[IP, 0, STRONG] == 1.0
    assert gadget.chances[IP, 0, WEAK] == 0.0
    assert (gadget.chances[OOP] == 0.5).all()
    assert gadget.reach[IP, 0, STRONG] == 4.0
    assert gadget.reach[IP, 0, WEAK] == 1.0


def test_pots_that_are_played_have_no_hands_that_enter() -> None:
    weights = entering_weights(np.array([0.0, 1e-6, 1e-3, 2e-3, 0.02, 1.0]))
    assert weights.tolist() == [8.0, 8.0, 8.0, 2.0, 0.0, 0.0]


def test_a_few_flops_stand_for_all() -> None:
    flops, weights = all_flops()[::40], np.ones(44)
    chosen = some_flops(flops, weights, 16)
    assert len(set(chosen.tolist())) == len(chosen) == 16
    weights[chosen[3]] = 1000.0
    assert (some_flops(flops, weights, 16) == chosen[3]).sum() > 10


@pytest.fixture(scope="module")
def trained() -> WholeGameSolver:
    """A game of one flop at 20 bb, in which some pots are hardly ever played."""
    config = UnifiedConfig.model_validate_json(
        """{"type": "unified_cfr", "cards": "classes", "stack_depth": 20, "raise_cap": 2,
        "raise_sizes": {"open": ["2bb"], "over_limp": ["3bb"], "3bet": ["3x"], "4bet+": ["2.2x"]},
        "postflop_bet_sizes": [0.6], "max_raises_per_street": 1,
        "flops": ["7c6c2d"]}"""
    )
    game = config.game()
    engine = game.build(game.engine(threads=1))
    solver = WholeGameSolver(game, engine, config.schedule(), tremble=0.001)
    solver.train_batch(150)
    return solver


def completed_loss(solver: WholeGameSolver, ranges: Floats) -> float:
    """Exploitability in mbb/hand where every flop is solved again for `ranges`, by brute force."""
    game, average = solver.preflop.game, solver.preflop.average()
    reach, flops = game.pot_reach(average), np.arange(solver.engine.flops)
    engine = solver.game.build(solver.game.engine(threads=1))
    engine.iterate(
        ranges, np.ones((engine.pots, engine.flops), np.bool_), parse_schedule("ahead").run(1, 150)
    )
    total = 0.0
    for player in Player:
        best, own = (
            solver.leaves.sum_flops(np.asarray(run(player, reach[player.opponent], flops)))
            for run in (engine.best_response, engine.evaluate)
        )
        freely = game.values(player, best, best=True, strategies=average)
        kept = game.values(player, own, best=False, strategies=average)
        total += float(freely[0].sum() - kept[0].sum()) / game.weight * MBB_PER_CHIP / 2
    return total


def test_completing_an_off_path_pot_is_unsafe_without_an_entry_range(
    trained: WholeGameSolver,
) -> None:
    game = trained.preflop.game
    reach = game.pot_reach(trained.preflop.average())
    shares = reach @ HAND_SIZES / HAND_SIZES.sum()
    off_path = np.flatnonzero((shares < 1e-3).any(axis=0))
    assert len(off_path)
    ranges = solution_ranges(trained, trained.evaluate().own, trained.engine.model)
    unsafe = completed_loss(trained, largest_one(reach))
    safe = completed_loss(trained, ranges)
    assert unsafe > 100  # mbb/hand
    assert safe < 3
    played = np.flatnonzero((shares > 0.02).all(axis=0))
    assert len(played)
    np.testing.assert_allclose(ranges[:, played], largest_one(reach)[:, played])
    for pot in off_path.tolist():
        for player in Player:
            if shares[player, pot] < 1e-3:
                assert (ranges[player, pot] > 0.01).sum() > 20  # more than a few stray hands


def test_ranges_do_not_depend_on_threads(trained: WholeGameSolver) -> None:
    values, model = trained.evaluate().own, trained.engine.model
    alone, together = (solution_ranges(trained, values, model, 16, threads) for threads in (1, 2))
    assert (alone == together).all()


def test_a_game_without_off_path_pots_keeps_its_ranges() -> None:
    flops = named_flops(["AhKsQd"])
    game = limped_game(flops)
    solver = WholeGameSolver(game, game.build(game.engine()), parse_schedule("tuned"))
    solver.train_batch(2)  # every action is still taken
    reach = solver.preflop.pot_reach(solver.preflop.average())
    ranges = solution_ranges(solver, solver.evaluate().own, solver.engine.model)
    np.testing.assert_allclose(ranges, largest_one(reach))


def limped_game(flops: FlopSet) -> WholeGame:
    config = UnifiedConfig.model_validate_json(
        '{"type": "unified_cfr", "cards": "classes", "stack_depth": 8, "raise_sizes": [2],'
        ' "raise_cap": 1,'
        ' "postflop_bet_sizes": [0.5], "max_raises_per_street": 1, "flops": ["AhKsQd"]}'
    )
    return replace(config.game(), flops=flops)
