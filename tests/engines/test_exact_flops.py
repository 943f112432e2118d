"""Exact subgames below a preflop tree: each as if it were alone, and summed by class."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from builders.small_games import EXACT, small_config

from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.cards import COMBO_CARDS, HAND_COUNT, HAND_OF_COMBO, runouts
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.card_model import EXACT as EXACT_CARDS
from allstreets.engines.exact.engine import ExactEngine
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.games.whole_game import WholeGame
from allstreets.solvers.whole_game import WholeGameSolver

FLOPS = ["9s7s2s", "KsKhKd"]  # on which most runouts are alike
LIMPED: dict[str, Any] = {**EXACT, "flops": FLOPS}
# Nobody bets after the flop: hand classes lose nothing by not seeing turn and river.
CHECKED: dict[str, Any] = {
    "stack_depth": 4,
    "raise_cap": 1,
    "postflop_bet_sizes": [],
    "flops": FLOPS,
}


@pytest.fixture(scope="module")
def limped() -> WholeGame:
    return small_config(**LIMPED).game()


@pytest.fixture(scope="module")
def checked() -> WholeGame:
    return small_config(**CHECKED).game()


class Alone:
    """One subgame by itself, asked combo by combo."""

    def __init__(self, game: WholeGame, pot: int, flop: int) -> None:
        tree, results = game.pots[pot].tree, game.pots[pot].payoffs
        cards = game.flops.flops[flop].cards
        free = [combo for combo in range(1326) if not set(COMBO_CARDS[combo].tolist()) & set(cards)]
        combos = np.array(free)
        self.subgame = ExactSubgame(
            tree, results, runouts(cards, [np.ones(1326)]), (combos, combos)
        )
        self.combos = [self.subgame.streets[0].combos(player, 0).tolist() for player in Player]

    def reach(self, player: Player, classes: Floats) -> Floats:
        return np.array([classes[HAND_OF_COMBO[combo]] for combo in self.combos[player]])

    def by_class(self, player: Player, values: Floats) -> Floats:
        total = np.zeros(HAND_COUNT)
        for combo, value in zip(self.combos[player], values.tolist(), strict=True):
            total[HAND_OF_COMBO[combo]] += value
        return total


def places(games: ExactEngine) -> Iterator[tuple[int, int]]:
    for pot in range(games.pots):
        for flop in range(games.flops):
            yield pot, flop


def exact(game: WholeGame, threads: int = 1) -> ExactEngine:
    games = game.build(game.engine(EXACT_CARDS, threads=threads))
    assert isinstance(games, ExactEngine)
    return games


def test_every_pot_and_flop_is_a_subgame_of_its_own(limped: WholeGame) -> None:
    games = exact(limped, threads=2)
    alone = {place: Alone(limped, *place) for place in places(games)}
    assert games.memory_bytes == sum(one.subgame.memory_bytes for one in alone.values())
    generator, schedule = np.random.default_rng(4), parse_schedule("dcfr")
    visits = [0, 0]
    for flops in ([1], [0, 1]):  # the second is then discounted unlike the first
        for flop in flops:
            visits[flop] += 1
        rows = [schedule.at(visits[flop]) for flop in flops]
        for player in Player:
            own, other = generator.random((2, games.pots, HAND_COUNT))
            found = games.step(player, own, other, np.array(flops), rows)
            assert found.shape == (games.pots, len(flops), HAND_COUNT)
            for pot in range(games.pots):
                for place, flop in enumerate(flops):
                    one = alone[pot, flop]
                    values = one.subgame.step(
                        player,
                        one.reach(player, own[pot]),
                        one.reach(player.opponent, other[pot]),
                        schedule.at(visits[flop]),
                    )
                    np.testing.assert_allclose(
                        found[pot, place], one.by_class(player, values), rtol=1e-5, atol=1
                    )
    other = generator.random((games.pots, HAND_COUNT))
    for best in (True, False):
        run = games.best_response if best else games.evaluate
        found = run(Player.IP, other, np.arange(2))
        for pot, flop in alone:
            one = alone[pot, flop]
            ask = one.subgame.best_response if best else one.subgame.evaluate
            values = ask(Player.IP, one.reach(Player.OOP, other[pot]))
            np.testing.assert_allclose(
                found[pot, flop], one.by_class(Player.IP, values), rtol=1e-5, atol=1
            )
        assert np.abs(found).max() > 1000


@pytest.mark.thorough
def test_where_nobody_bets_classes_are_exact(checked: WholeGame) -> None:
    """Two card models, which share no code below the flop, for the same game."""
    combos, classes = exact(checked), checked.build(checked.engine())
    assert combos.pots == classes.pots > 1
    weights = np.array([2.0, 3.0])
    np.testing.assert_array_equal(combos.dealt.sum(weights), classes.dealt.sum(weights))
    other = np.random.default_rng(5).random((combos.pots, HAND_COUNT))
    for player in Player:
        for of_combos, of_classes in (
            (combos.best_response, classes.best_response),
            (combos.evaluate, classes.evaluate),
        ):
            theirs = of_classes(player, other, np.arange(2))
            ours = of_combos(player, other, np.arange(2))
            np.testing.assert_allclose(ours, theirs, atol=2e-5 * np.abs(theirs).max())
    solvers = [
        WholeGameSolver(checked, games, parse_schedule("dcfr")) for games in (combos, classes)
    ]
    np.testing.assert_array_equal(solvers[0].leaves.pairs, solvers[1].leaves.pairs)
    for solver in solvers:
        solver.train_batch(8)
    gaps = [solver.exploitability() for solver in solvers]
    assert gaps[0] == pytest.approx(gaps[1], rel=0.02, abs=0.05)
    values = [solver.figures().values for solver in solvers]
    assert values[0] is not None
    assert values[1] is not None
    assert values[0] == pytest.approx(values[1], abs=0.1)


def test_no_pots_at_all() -> None:
    game = small_config(**{**LIMPED, "stack_depth": 1}).game()
    games = exact(game)
    assert (games.pots, games.flops, games.memory_bytes) == (0, 2, 0)
    solver = WholeGameSolver(game, games, parse_schedule("tuned"))
    solver.train_batch(20)
    assert solver.exploitability() == pytest.approx(0, abs=1e-3)
