"""Strategies in the hands of real combos: the same as handing them out one by one."""

from functools import cache

import numpy as np
import pytest
from builders.small_games import BUCKETS, small_config
from reference.real_play import let_play_slowly

from allstreets.betting import Player
from allstreets.cards import COMBO_COUNT, HAND_COUNT, HAND_OF_COMBO, live_combos, runouts
from allstreets.cfr.schedules import parse_schedule
from allstreets.solvers.game.game import UnifiedGame
from allstreets.solvers.unified.kept import evaluate_rounded
from allstreets.solvers.unified.solver import UnifiedSolver
from allstreets.subgames.exact import ExactSubgame
from allstreets.subgames.packed import TWO_BYTES
from allstreets.subgames.real_flop import judge_flop
from allstreets.subgames.real_play import RealPlay, let_play, real_plays, slot_places

# A pot, checked or all-in, on flops of which most runouts are alike.
LIMPED = {"stack_depth": 2, "raise_cap": 0, "flops": ["9s7s2s", "KsKhKd"]}


@cache
def solved(cards: str) -> UnifiedSolver:
    config = small_config(**(BUCKETS if cards == "buckets" else {"cards": cards}), **LIMPED)
    game = config.game()
    solver = UnifiedSolver(
        game, game.build(game.engine(config.card_model())), parse_schedule("tuned")
    )
    solver.train_batch(12)
    return solver


def plays(solver: UnifiedSolver, flop: int) -> list[RealPlay]:
    games, game = solver.games, solver.game
    reach = solver.preflop.pot_reach(solver.preflop.average())
    arrays = games.pack(flop, reach, [TWO_BYTES] * games.pots)
    trees = [pot.tree for pot in game.pots]
    return real_plays(games.model, game.flops.flops[flop], trees, arrays)


def subgame(game: UnifiedGame, flop: int) -> ExactSubgame:
    cards, pot = game.flops.flops[flop].cards, game.pots[0]
    combos = np.flatnonzero(live_combos(cards))
    root = runouts(cards, [np.ones(COMBO_COUNT)])
    return ExactSubgame(pot.tree, pot.payoffs, root, (combos, combos))


@pytest.mark.parametrize("cards", ["classes", "buckets"])
def test_every_combo_plays_its_row(cards: str) -> None:
    solver = solved(cards)
    fast, slow = (subgame(solver.game, 1) for _ in range(2))
    play = plays(solver, 1)[0]
    let_play(fast, play)
    let_play_slowly(slow, play)
    reach = np.random.default_rng(3).random(HAND_COUNT)
    villain = reach[HAND_OF_COMBO[fast.streets[0].combos(Player.OOP, 0)]]
    for player in Player:
        for best in (True, False):
            found, wanted = (
                (one.best_response if best else one.evaluate)(player, villain)
                for one in (fast, slow)
            )
            np.testing.assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("flop", [0, 1])
def test_classes_win_as_much_with_real_cards_as_in_their_own_game(flop: int) -> None:
    solver = solved("classes")
    game = solver.game
    reach = solver.preflop.pot_reach(solver.preflop.average())
    trees = [(pot.tree, pot.payoffs) for pot in game.pots]
    found = judge_flop(trees, game.flops.flops[flop], plays(solver, flop), reach)
    own = evaluate_rounded(solver, TWO_BYTES)
    assert found.own is not None
    np.testing.assert_allclose(found.own, own.own[:, :, flop], atol=1e-5 * np.abs(own.own).max())
    # Who sees turn and river does at least as well as who does not.
    better = np.einsum("aph,aph->a", reach, found.best - own.best[:, :, flop])
    assert (better > 0).all()


def test_where_actions_stand() -> None:
    actions, rows = np.array([2, 3, 1]), 32
    places = slot_places(actions, rows)
    assert sorted(places.reshape(-1).tolist()) == list(range(6 * rows))
    slot = 0
    for node, count in enumerate(actions.tolist()):
        for action in range(count):
            for row in range(rows):
                start = int(actions[:node].sum()) * rows
                wanted = start + (row // 16) * count * 16 + action * 16 + row % 16
                assert places[slot, row] == wanted
            slot += 1
