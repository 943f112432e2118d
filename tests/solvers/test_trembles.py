"""Trembles before the flop: the hands that take off-path actions, and the effect."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base import Floats
from allstreets.betting import Player, PreflopRules, build_preflop_tree
from allstreets.cards import HAND_COUNT, HAND_SIZES, preflop_equity
from allstreets.cfr import parse_schedule
from allstreets.games import ClassLock, PreflopGame, Strategies
from allstreets.solvers.kernels.preflop_pass import trembling_reach
from allstreets.solvers.preflop import (
    BELOW,
    SPREAD,
    TEMPERATURE,
    PreflopCfr,
    normalised,
    preflop_layout,
    trembles,
)

RULES = PreflopRules.parse(20, [2.5], 3)
TREE = build_preflop_tree(RULES)
PAIRS = preflop_equity().pairs.astype(np.float64)
GAME = PreflopGame.dealt(TREE, RULES, PAIRS)


class NoLeaves:
    """Pots in which nothing is won: the game is decided before the flop."""

    def step(self, _player: Player, _own: Floats, opponent_reach: Floats, _mask: object) -> Floats:
        return np.zeros_like(opponent_reach)

    def best_response(self, _: Player, opponent_reach: Floats) -> Floats:
        return np.zeros_like(opponent_reach)

    evaluate = best_response


def random_play(seed: int) -> tuple[Strategies, Floats]:
    """Strategies that leave out many actions altogether, and values [2, N, 169]."""
    generator = np.random.default_rng(seed)
    strategies = {}
    for node in TREE.decisions():
        numbers = generator.random((int(TREE.child_count[node]), HAND_COUNT)) ** 8
        numbers[generator.random(len(numbers)) < 0.4] = 0.0
        strategies[node] = normalised(numbers)
    values = generator.normal(0, 100, (2, TREE.node_count, HAND_COUNT)) * HAND_SIZES * 1225
    return strategies, values


def trembled_reach(strategies: Strategies, values: Floats, share: float) -> Floats:
    """[N, 2, 169]: the kernel's reach, where losses are those of `values`."""
    layout, played, gains = preflop_layout(GAME), [], []
    for node in layout.decision.tolist():
        player = TREE.player[node]
        gains.append(values[player, TREE.children_of(node)] - values[player, node])
        played.append(strategies[node])
    reach = np.ones((TREE.node_count, 2, HAND_COUNT))
    meant = np.ones(len(layout.child))
    trembling_reach(
        layout, np.concatenate(played), np.concatenate(gains), trembles(share), reach, meant
    )
    return reach


def slow_reach(strategies: Strategies, values: Floats, share: float) -> Floats:
    """`trembled_reach` hand by hand, as the docstrings say it."""
    reach = np.ones((TREE.node_count, 2, HAND_COUNT))
    for node in TREE.decisions():
        player = int(TREE.player[node])
        here, opponent = reach[node, player], reach[node, 1 - player]
        for action, child in enumerate(TREE.children_of(node).tolist()):
            reach[child] = reach[node]
            takes = here * strategies[node][action]
            missing = min(share * 1326, BELOW * float(here @ HAND_SIZES))
            missing -= float(takes @ HAND_SIZES)
            if missing > 0 and opponent.any():
                met = HAND_SIZES * 1225 * float(opponent @ HAND_SIZES) / 1326
                loss = -np.minimum(values[player, child] - values[player, node], 0.0) / met
                logit = np.exp(-(loss - loss[here > 0].min()) / TEMPERATURE) * here
                weights = (1 - SPREAD) * logit / (logit @ HAND_SIZES)
                weights += SPREAD * here / (here @ HAND_SIZES)
                takes = np.minimum(takes + missing * weights, here)
            reach[child, player] = takes
    return reach


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.0005, 0.01]))
def test_reach_equals_that_of_the_slow_twin(seed: int, share: float) -> None:
    strategies, values = random_play(seed)
    fast = trembled_reach(strategies, values, share)
    np.testing.assert_allclose(fast, slow_reach(strategies, values, share), rtol=1e-9, atol=1e-15)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_lines_that_are_played_keep_their_reach(seed: int) -> None:
    strategies, values = random_play(seed)
    share = 0.001
    plain, trembled = GAME.reach(strategies), trembled_reach(strategies, values, share)
    for node in TREE.decisions():
        player = int(TREE.player[node])
        for child in TREE.children_of(node).tolist():
            path = TREE.path_to(child)
            own = [plain[step, player] @ HAND_SIZES / 1326 for step in path]
            if min(own) >= share:
                np.testing.assert_allclose(trembled[child, player], plain[child, player])
            assert (trembled[child, player] <= trembled[node, player] + 1e-15).all()


def test_hands_that_lose_least_tremble_most() -> None:
    strategies, values = random_play(3)
    node = TREE.decisions()[0]
    player, action = int(TREE.player[node]), int(TREE.child_count[node]) - 1
    strategies[node] = np.zeros_like(strategies[node])
    strategies[node][0] = 1.0
    child = int(TREE.children_of(node)[action])
    loss = np.arange(HAND_COUNT) * 1.0  # chips
    values[player, child] = values[player, node] - loss * HAND_SIZES * 1225
    reach = trembled_reach(strategies, values, 0.001)[child, player]
    assert reach @ HAND_SIZES / 1326 == pytest.approx(0.001)
    assert (np.diff(reach) < 0).all()
    assert reach[-1] > 0  # no hand is a surprise
    ratio = (reach[5] - reach[-1]) / (reach[10] - reach[-1])
    assert ratio == pytest.approx(math.exp(5 / TEMPERATURE), rel=0.01)


def test_locked_hands_do_not_tremble() -> None:
    node = TREE.decisions()[0]
    held = np.zeros(HAND_COUNT, np.bool_)
    held[:40] = True
    first = np.zeros((int(TREE.child_count[node]), HAND_COUNT))
    first[0] = 1.0
    game = PreflopGame.dealt(TREE, RULES, PAIRS, {node: ClassLock(held, first)})
    solver = PreflopCfr(game, NoLeaves(), 0.001)
    solver.regrets[node][:, 40:] = -1.0
    solver.regrets[node][0] = 1.0  # no hand wants to take another action
    train(solver, 1, 1)
    for child in TREE.children_of(node)[1:].tolist():
        taken = solver._reach[child, int(TREE.player[node])]
        assert (taken[:40] == 0).all()
        assert (taken[40:] > 0).all()


def train(solver: PreflopCfr, first: int, count: int) -> None:
    schedule = parse_schedule("tuned")
    for iteration in range(first, first + count):
        for player in Player:
            solver.step(player, schedule.at(iteration))


def exploitability(solver: PreflopCfr) -> float:
    """In mbb/hand."""
    average, nothing = solver.average(), np.zeros((len(GAME.pots), HAND_COUNT))
    gains = (
        GAME.values(player, nothing, best=best, strategies=average)[0].sum() * sign
        for player in Player
        for best, sign in ((True, 1), (False, -1))
    )
    return float(sum(gains)) / GAME.weight * 10 / 2


def test_trembles_hardly_cost_anything() -> None:
    plain, trembling = PreflopCfr(GAME, NoLeaves()), PreflopCfr(GAME, NoLeaves(), 0.001)
    for solver in (plain, trembling):
        train(solver, 1, 400)
    assert exploitability(trembling) < exploitability(plain) + 0.5


def test_trembles_of_the_opponent_do_not_count_above_them() -> None:
    """Where an action has no chance, what it would be worth stays below it."""
    solver, tremble = PreflopCfr(GAME, NoLeaves()), PreflopCfr(GAME, NoLeaves(), 0.01)
    schedule = parse_schedule("tuned")
    generator = np.random.default_rng(5)
    for node, regrets in solver.regrets.items():
        regrets[...] = -generator.random(regrets.shape)
        regrets[0] = 1.0  # only the first action is taken
        tremble.regrets[node][...] = regrets
    for player in Player:
        same, other = (one.step(player, schedule.at(1)) for one in (solver, tremble))
        np.testing.assert_allclose(other, same, rtol=1e-12, atol=1e-6)


def test_a_restored_run_equals_an_uninterrupted_one() -> None:
    whole, first, second = (PreflopCfr(GAME, NoLeaves(), 0.002) for _ in range(3))
    train(whole, 1, 30)
    train(first, 1, 12)
    second.restore({name: array.copy() for name, array in first.state().items()})
    train(second, 13, 18)
    for name, array in whole.state().items():
        assert (second.state()[name] == array).all(), name
