"""Sampled games on several flops: each as if it were alone, and evaluated exactly."""

import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.betting import Player, PostflopRules, Street, same_sizes
from allstreets.cards import HAND_COUNT
from allstreets.cards.flop_sets import named_flops
from allstreets.cfr.schedules import linear
from allstreets.engines.card_model import CLASSES, CardModel
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.engines.sampled.engine import SampledEngine
from allstreets.engines.sampled.subgame import SampledSubgame
from allstreets.engines.spec import EngineSpec

FLOPS = named_flops(["Ks7d4d", "AsAhAd"]).flops
MODEL = CardModel("sampled", sample_pct=0.02, seed=3)
POTS = tuple(
    PostflopRules(Street.FLOP, pot, stack, same_sizes(Street.FLOP, "100%", ""), max_raises=0)
    for pot, stack in ((100, 200), (300, 100))
)
REACH = np.random.default_rng(1).random((2, 2, HAND_COUNT))
BOTH = np.arange(2)


def make(threads: int = 1) -> SampledEngine:
    games = EngineSpec(POTS, FLOPS, MODEL, threads=threads).build()
    assert isinstance(games, SampledEngine)
    return games


def step(games: SampledEngine, player: Player, flops: NDArray[np.int64], iteration: int) -> Floats:
    now = [linear().at(iteration)] * len(flops)
    return games.step(player, REACH[player], REACH[player.opponent], flops, now)


def exact_twin(games: SampledEngine) -> MatrixEngine:
    """The game of classes in which both play the averages of the sampled one."""
    spec = EngineSpec(POTS, FLOPS, CLASSES)
    twin = spec.build()
    assert isinstance(twin, MatrixEngine)
    for pot, (tree, _) in enumerate(spec.trees()):
        for flop in range(2):
            for node in tree.decisions():
                twin.set_average(pot, flop, node, games.subgames[pot][flop].average(node))
    return twin


def test_every_pot_and_flop_is_a_game_of_its_own() -> None:
    games, spec = make(threads=2), EngineSpec(POTS, FLOPS, MODEL)
    alone = [
        [SampledSubgame(tree, paid, flop.cards, MODEL.sample_pct, MODEL.seed) for flop in FLOPS]
        for tree, paid in spec.trees()
    ]
    visits = [0, 0]
    for chosen in ([1], [0, 1], [1, 0]):
        flops = np.array(chosen)
        for flop in chosen:
            visits[flop] += 1
        now = [linear().at(visits[flop]) for flop in chosen]
        for player in Player:
            player_reach, opponent_reach = REACH[player], REACH[player.opponent]
            found = games.step(player, player_reach, opponent_reach, flops, now)
            for pot in range(2):
                for place, flop in enumerate(chosen):
                    expected = alone[pot][flop].step(
                        player, player_reach[pot], opponent_reach[pot], now[place]
                    )
                    np.testing.assert_array_equal(found[pot, place], expected)
    sums = games.regret_sums(np.array([1, 0]))
    for pot in range(2):
        for place, flop in enumerate((1, 0)):
            figures = sums.total[pot, place], sums.largest[pot, place], sums.entries[pot, place]
            assert figures == alone[pot][flop].regret_sums()
    assert games.memory_bytes == sum(game.memory_bytes for row in alone for game in row)


def test_averages_are_evaluated_exactly_and_follow_the_training() -> None:
    games = make()
    seen = []
    for iteration in (1, 2):
        for player in Player:
            step(games, player, BOTH if iteration == 1 else BOTH[1:], iteration)
        twin = exact_twin(games)
        for player in Player:
            opponent_reach = REACH[player.opponent]
            np.testing.assert_array_equal(
                games.best_response(player, opponent_reach, BOTH),
                twin.best_response(player, opponent_reach, BOTH),
            )
            values = games.evaluate(player, opponent_reach, BOTH)
            np.testing.assert_array_equal(values, twin.evaluate(player, opponent_reach, BOTH))
        np.testing.assert_array_equal(
            games.pair_values(1, np.array([1])), twin.pair_values(1, np.array([1]))
        )
        seen.append(values)
    np.testing.assert_array_equal(seen[0][:, 0], seen[1][:, 0])  # it was not trained again
    assert not np.array_equal(seen[0][:, 1], seen[1][:, 1])


def test_averages_are_handed_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    games = make()
    calls: list[int] = []
    hand_over = games.exact.set_average

    def counted(pot: int, flop: int, node: int, strategy: Floats) -> None:
        calls.append(flop)
        hand_over(pot, flop, node, strategy)

    monkeypatch.setattr(games.exact, "set_average", counted)
    decisions = sum(len(row[0].tree.decisions()) for row in games.subgames)
    for _ in range(2):
        games.evaluate(Player.OOP, REACH[1], BOTH)
        games.average(0, 0, 0)
    assert calls == sorted(calls)
    assert len(calls) == 2 * decisions
    step(games, Player.OOP, BOTH[1:], 1)
    games.best_response(Player.IP, REACH[0], BOTH)
    assert calls[2 * decisions :] == [1] * decisions
    games.restore({name: array.copy() for name, array in games.state().items()})
    games.evaluate(Player.OOP, REACH[1], BOTH)
    assert len(calls) == 5 * decisions


def test_a_strategy_that_was_set_lasts_until_the_next_step() -> None:
    games = make()
    actions = int(games.subgames[0][0].tree.child_count[0])
    pure = np.zeros((actions, HAND_COUNT))
    pure[1] = 1.0
    games.set_average(0, 0, 0, pure)
    np.testing.assert_array_equal(games.average(0, 0, 0), pure)
    before = games.evaluate(Player.OOP, REACH[1], BOTH)
    for player in Player:
        step(games, player, BOTH, 1)
    np.testing.assert_allclose(games.average(0, 0, 0), games.subgames[0][0].average(0), atol=1e-6)
    assert not np.array_equal(games.evaluate(Player.OOP, REACH[1], BOTH), before)
