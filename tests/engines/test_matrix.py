"""Matrix games against a recursion over dense matrices."""

from dataclasses import replace

import numpy as np
import pytest
from builders.one_flop import OneFlop
from numpy.typing import NDArray
from reference.matrix import NaiveGame, NaiveStage

from allstreets.betting import (
    POSTFLOP,
    BettingTree,
    Player,
    PostflopRules,
    Street,
    build_postflop_tree,
    payoffs,
    same_sizes,
)
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.matrix.cards import Stage

SEPARATE = tuple((street,) for street in POSTFLOP)


def random_stage(
    generator: np.random.Generator,
    streets: tuple[Street, ...],
    hands: int,
    removal: bool,
    before: Stage | None = None,
) -> Stage:
    """Hands of random combos; the matrices keep the relations that real ones have."""
    cards = None
    combos = generator.integers(1, 12, hands).astype(np.float64)
    if removal:
        cards = np.zeros((hands, 52))
        for hand in range(hands):
            held = generator.choice(52, (int(combos[hand]), 2))
            np.add.at(cards[hand], held.reshape(-1), 1.0)
    spread = generator.normal(size=(hands, hands)) * np.sqrt(np.outer(combos, combos))
    margin = (spread - spread.T).astype(np.float32)
    down = None
    if before is not None:
        chances = generator.dirichlet(np.ones(hands), len(before.combos))
        combos = before.combos @ chances
        down = (before.combos[:, None] * chances / combos).astype(np.float32)
    return Stage(streets, combos, cards, margin, down)


def naive_stages(stages: tuple[Stage, ...]) -> list[NaiveStage]:
    found = []
    for stage in stages:
        hands = len(stage.combos)
        pairs = np.zeros((hands, hands))
        for own in range(hands):
            for other in range(hands):
                pairs[own, other] = stage.combos[own] * stage.combos[other]
                if stage.cards is not None:
                    pairs[own, other] -= sum(stage.cards[own] * stage.cards[other])
                    pairs[own, other] += stage.combos[own] * (own == other)
        down = None if stage.down is None else stage.down.astype(np.float64)
        streets = tuple(int(street) for street in stage.streets)
        found.append(NaiveStage(streets, pairs, stage.margin.astype(np.float64), down))
    return found


def make_rules(
    rake: float = 0.0, stack: int = 300, sizes: tuple[float, ...] = (0.5, 1.0)
) -> PostflopRules:
    return PostflopRules(
        street=Street.FLOP,
        pot=100,
        stack=stack,
        sizes=same_sizes(Street.FLOP, list(sizes), list(sizes)),
        max_raises=1,
        rake=rake,
    )


def close(
    left: NDArray[np.float64], right: NDArray[np.float64], size: float = 0.0, atol: float = 3e-5
) -> None:
    size = size or float(np.abs(right).max())
    np.testing.assert_allclose(left / size, right / size, atol=atol)


CASES = {
    "one stage": ((POSTFLOP,), (23,), True, 0.0),
    "169 hands": ((POSTFLOP,), (169,), True, 0.0),
    "rake": ((POSTFLOP,), (40,), True, 0.05),
    "a stage a street": (SEPARATE, (10, 33, 70), False, 0.0),
    "two stages and rake": (((Street.FLOP,), (Street.TURN, Street.RIVER)), (18, 50), True, 0.03),
}


def lock_some(tree: BettingTree, generator: np.random.Generator) -> BettingTree:
    """The tree with locks at a quarter of its decisions, some of them to one action."""
    locks = {}
    for node in tree.decisions():
        actions = int(tree.child_count[node])
        if generator.random() < 0.25:
            pure = np.eye(actions)[generator.integers(actions)]
            chances = pure if generator.random() < 0.3 else generator.dirichlet(np.ones(actions))
            locks[node] = tuple(float(chance) for chance in chances)
    return replace(tree, locks=locks)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("algorithm", "locked"),
    [
        ("tuned", False),
        pytest.param("cfr+", False, marks=pytest.mark.thorough),
        pytest.param("ahead", False, marks=pytest.mark.thorough),
        ("ahead", True),
    ],
)
def test_every_half_iteration_equals_the_recursion(name: str, algorithm: str, locked: bool) -> None:
    streets, hands, removal, rake = CASES[name]
    generator = np.random.default_rng(len(name))
    stages: list[Stage] = []
    for members, count in zip(streets, hands, strict=True):
        before = stages[-1] if stages else None
        stages.append(random_stage(generator, members, count, removal, before))
    rules = make_rules(rake, sizes=(0.5,) if len(streets) > 1 or hands[0] > 100 else (0.5, 1.0))
    tree = build_postflop_tree(rules)
    tree = lock_some(tree, generator) if locked else tree
    results = payoffs(tree, rules)
    game = OneFlop(tree, results, tuple(stages))
    schedule = parse_schedule(algorithm)
    naive = NaiveGame(tree, results, naive_stages(tuple(stages)), ahead=schedule.ahead)
    for iteration in range(1, 4):
        now = schedule.at(iteration)
        for player in Player:
            own, other = generator.random((2, hands[0]))
            other *= generator.random(hands[0]) < 0.7
            factors = now.positive, now.negative, now.average, now.weight
            close(
                game.step(player, own, other, now),
                naive.step(player, other, factors, now.floor == 0),
            )
    size = max(float(np.abs(regrets).max()) for regrets in naive.regrets.values())
    apart = []
    for node, chances in tree.locks.items():
        told = np.repeat(np.array(chances)[:, None], game.average(node).shape[1], axis=1)
        np.testing.assert_allclose(game.average(node), told, atol=1e-6)
    for node in game.game.tree.decisions():
        if node in tree.locks:
            continue
        # Single precision drifts from double; values that look ahead feed on it once more.
        atol = 1e-4 if schedule.ahead else 3e-5
        close(game.regrets(node).astype(np.float64), naive.regrets[node], size, atol)
        apart.append(np.abs(game.average(node) - naive.strategy(node, naive.sums)).reshape(-1))
    # Where regrets cancel, regret matching turns rounding into a strategy: rare, but not never.
    assert np.quantile(np.concatenate(apart), 0.95) < 1e-4
    for player in Player:
        other = generator.random(hands[0])
        close(game.best_response(player, other), naive.judge(player, other, best=True))
        close(game.evaluate(player, other), naive.judge(player, other, best=False))


def test_the_players_values_sum_to_minus_the_rake_of_every_pair() -> None:
    generator = np.random.default_rng(5)
    stage = random_stage(generator, POSTFLOP, 31, True)
    rules = make_rules()
    tree = build_postflop_tree(rules)
    game = OneFlop(tree, payoffs(tree, rules), (stage,))
    reach = generator.random(31), generator.random(31)
    game.iterate(reach, parse_schedule("tuned").run(1, 50))
    oop = float(reach[0] @ game.evaluate(Player.OOP, reach[1]))
    ip = float(reach[1] @ game.evaluate(Player.IP, reach[0]))
    assert oop + ip == pytest.approx(0.0, abs=1e-4 * abs(oop))
