"""Pruning in matrix games: skipped blocks stay as they are, values stay right, at a known cost."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from builders.matrix_stages import naive_stages, ordered_stage, real_stage
from builders.one_flop import OneFlop, limits, weight_row
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.matrix_pruning import BLOCK, PrunedNaiveGame, Rule

from allstreets.base import InputError
from allstreets.betting import (
    POSTFLOP,
    BettingTree,
    NodeKind,
    Player,
    PostflopRules,
    Street,
    build_postflop_tree,
    payoffs,
    same_sizes,
)
from allstreets.cfr import Pruning
from allstreets.cfr.schedules import IterationWeights, parse_schedule
from allstreets.engines.matrix.cards import Stage
from allstreets.engines.matrix.game import make_spaces
from allstreets.engines.matrix.kernels.layout import UPDATE
from allstreets.engines.matrix.kernels.terminals import add_folds, add_showdowns
from allstreets.engines.matrix.plan import blocks_of_hands
from allstreets.engines.simd.vectors import LANES

Ends = Callable[..., None]

POT = 100
STAGES = {
    "one stage": ((POSTFLOP, 40),),
    "two stages": (((Street.FLOP,), 36), ((Street.TURN, Street.RIVER), 70)),
    "a stage a street": tuple(((street,), 20 + 15 * k) for k, street in enumerate(POSTFLOP)),
}


def make_tree(sizes: Sequence[float], raises: int = 1) -> tuple[BettingTree, NDArray[np.float64]]:
    rules = PostflopRules(
        street=Street.FLOP,
        pot=POT,
        stack=350,
        sizes=same_sizes(Street.FLOP, list(sizes), list(sizes)),
        max_raises=raises,
        rake=0.02,
    )
    tree = build_postflop_tree(rules)
    return tree, payoffs(tree, rules)


def make_stages(name: str, seed: int = 3) -> tuple[Stage, ...]:
    generator = np.random.default_rng(seed)
    stages: list[Stage] = []
    for streets, hands in STAGES[name]:
        before = stages[-1] if stages else None
        stages.append(ordered_stage(generator, streets, hands, before))
    return tuple(stages)


SMALL = make_tree([0.5])
FLOP = make_tree([0.5, 1.0])


def real_game(pruning: Pruning | None) -> OneFlop:
    return OneFlop(*FLOP, (real_stage("AhKd7s"),), pruning)


def real_unit() -> float:
    """The loss of a hand of average weight in an iteration that costs it one pot."""
    stage = real_stage("AhKd7s")
    return POT * float(stage.pairs.sum()) / len(stage.combos)


EVERYONE = np.ones(169), np.ones(169)


def exploitability(game: OneFlop) -> float:
    """In pots."""
    gain = 0.0
    for player in Player:
        own, other = EVERYONE[player], EVERYONE[player.opponent]
        gain += float(own @ (game.best_response(player, other) - game.evaluate(player, other)))
    return gain / 2 / (float(game.stages[0].pairs.sum()) * POT)


def copy_state(source: OneFlop, target: OneFlop) -> None:
    """All that both have: a game without pruning keeps no count of it."""
    for name, array in target.state().items():
        if name in source.state():
            array[...] = source.state()[name]


def same_bits(left: OneFlop, right: OneFlop) -> None:
    for name, array in left.state().items():
        if name != "pruning":
            assert array.tobytes() == right.state()[name].tobytes(), name


def stored_at(game: OneFlop, node: int) -> NDArray[np.float32]:
    """[A, H]: the regrets at a node, as a view of what is stored: writing it changes the game."""
    whole = game.game
    stage = int(whole.stage_of_node[node])
    length, actions = whole.cards.lengths[stage], int(whole.tree.child_count[node])
    start = int(whole.slot_of_node[node]) * length
    array = whole.regrets[stage][whole.tree.player_at(node)][0, start : start + actions * length]
    return array.reshape(length // LANES, actions, LANES).transpose(1, 0, 2)


def copy_to_twin(game: OneFlop, twin: PrunedNaiveGame) -> None:
    """Let the slow solver be in the same state."""
    for node in game.game.tree.decisions():
        twin.regrets[node] = game.regrets(node).astype(np.float64)
        twin.sums[node] = game.game.numbers_at(game.game.averages, 0, node).astype(np.float64)


def rule_of(row: Sequence[float]) -> Rule:
    """A row of iteration weights, rounded as the kernels get it."""
    rounded: list[float] = np.array(row, np.float32).tolist()
    positive, negative, lowest, average, weight, threshold, _ahead = rounded
    return Rule(positive, negative, average, weight, threshold, -lowest)


def close(left: NDArray[np.float64], right: NDArray[np.float64], size: float) -> None:
    np.testing.assert_allclose(left / size, right / size, atol=3e-5)


@pytest.mark.parametrize(
    ("name", "schedule", "floor"),
    [
        ("one stage", "dcfr", 5e4),
        ("two stages", "dcfr", np.inf),
        pytest.param("two stages", "linear", 5e4, marks=pytest.mark.thorough),
        pytest.param("a stage a street", "linear", np.inf, marks=pytest.mark.long),
    ],
)
def test_every_half_iteration_equals_the_recursion(name: str, schedule: str, floor: float) -> None:
    stages = make_stages(name)
    generator = np.random.default_rng(1)
    pruning = Pruning(3, "-200*sqrt(t)", 7, floor)
    game = OneFlop(*SMALL, stages, pruning)
    twin = PrunedNaiveGame(*SMALL, naive_stages(stages))
    hands = len(stages[0].combos)
    left_out = due = 0
    for t, now in enumerate(parse_schedule(schedule).run(1, 16), start=1):
        row = weight_row(now, *limits(pruning, t)[0])
        for player in Player:
            copy_to_twin(game, twin)
            own, other = generator.random((2, hands))
            other *= generator.random(hands) < 0.7
            expected = twin.pruned_step(player, other, rule_of(row))
            close(game.step(player, own, other, now), expected, float(np.abs(expected).max()))
            largest = max(float(np.abs(found).max()) for found in twin.regrets.values())
            for node in game.game.tree.decisions():
                close(game.regrets(node).astype(np.float64), twin.regrets[node], largest)
                sums = game.game.numbers_at(game.game.averages, 0, node).astype(np.float64)
                close(sums, twin.sums[node], float(twin.sums[node].max()) or 1.0)
            left_out += twin.left_out()
            due += game.units(player) if t > pruning.warmup else 0
    assert left_out > 0.1 * due
    if floor < np.inf:
        assert min(float(array.min()) for pair in game.game.regrets for array in pair) == -floor
    assert game.pruned_fraction == left_out / due


@given(
    name=st.sampled_from(sorted(STAGES)),
    seed=st.integers(0, 2**32 - 1),
    player=st.sampled_from(Player),
    calm=st.floats(0.0, 0.9),
    masked=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_all_that_is_visited_has_the_bits_of_a_full_pass(
    name: str, seed: int, player: Player, calm: float, masked: bool
) -> None:
    """And what is not visited is left alone, whatever regrets there are."""
    generator = np.random.default_rng(seed)
    stages = make_stages(name)
    game, full = (OneFlop(*SMALL, stages) for _ in range(2))
    for node in game.game.tree.decisions():
        stage = int(game.game.stage_of_node[node])
        places = stored_at(game, node)
        actions, blocks, _ = places.shape
        shift = np.where(generator.random((actions, blocks, 1)) < calm, -3, 0)
        regrets = 100 * (generator.normal(size=places.shape) + shift)
        present = np.zeros(blocks * LANES)
        present[: len(stages[stage].combos)] = stages[stage].combos > 0
        places[...] = regrets * present.reshape(1, blocks, LANES)
    for array in (array for pair in game.game.averages for array in pair):
        array[...] = generator.random(array.shape)
    copy_state(game, full)
    before = {node: stored_at(game, node).copy() for node in game.game.tree.decisions()}

    hands, length = len(stages[0].combos), game.game.cards.lengths[0]
    other = generator.random(hands)
    asked = generator.random(length // LANES) < (0.5 if masked else 1.0)
    now = IterationWeights(positive=0.8, negative=0.6, floor=-np.inf, average=0.7, weight=1.0)
    row = weight_row(now, threshold=-50.0)
    twin = PrunedNaiveGame(*SMALL, naive_stages(stages))
    copy_to_twin(game, twin)
    wanted = np.repeat(asked, LANES)[:hands]
    twin.pruned_step(player, other, rule_of(row), wanted)

    spaces = make_spaces([game.game])
    table = np.array([row], np.float32)
    blocks_asked = asked.astype(np.uint8) if masked else None
    values = game.game.run(player, other, UPDATE, spaces, weights=table, wanted=blocks_asked)
    plain = np.array([weight_row(now)], np.float32)
    expected = full.game.run(player, other, UPDATE, spaces, weights=plain)

    expected *= wanted
    np.testing.assert_array_equal(values, expected)
    for name_of_array, array in full.state().items():
        if name_of_array.startswith("average"):
            np.testing.assert_array_equal(game.state()[name_of_array], array)
    for node in game.game.tree.decisions():
        new, old, ideal = stored_at(game, node), before[node], stored_at(full, node)
        if game.game.tree.player[node] != player:
            np.testing.assert_array_equal(new, old)
            continue
        looked_at = twin.wanted[node][::BLOCK]
        out = twin.out[node][:, ::BLOCK]
        discounted = old * np.where(old > 0, np.float32(0.8), np.float32(0.6))
        np.testing.assert_array_equal(new[:, ~looked_at], old[:, ~looked_at])
        np.testing.assert_array_equal(new[out & looked_at], discounted[out & looked_at])
        np.testing.assert_array_equal(new[~out], ideal[~out])
    assert sum(int(space.left_out[0]) for space in spaces) == twin.left_out()


@pytest.mark.parametrize("add", [add_folds, add_showdowns])
@pytest.mark.parametrize("share", [0.003, 0.3])
def test_ends_are_valued_for_every_block_that_is_needed(add: Ends, share: float) -> None:
    generator = np.random.default_rng(2)
    game = OneFlop(*SMALL, make_stages("one stage")).game
    plan, cards, space = game.plans[0][0], game.cards.kernel[0], make_spaces([game])[0]
    space.reach[...] = generator.random(space.reach.shape)
    space.reach.reshape(-1, cards.hands)[plan.lines] = 0
    hands = game.hands(Player.OOP)[0]
    add(plan, cards, hands, space, 0, space.needed[:0])
    expected = space.values.reshape(-1, cards.hands // LANES, LANES).copy()
    for _ in range(100):
        needed = generator.random(expected.shape[:2]) < share
        space.needed[...] = needed.reshape(-1)
        space.values[...] = 0
        add(plan, cards, hands, space, 0, space.needed)
        found = space.values.reshape(expected.shape)
        np.testing.assert_array_equal(found[needed], expected[needed])
    if share < 0.1:
        assert (found != expected).any(axis=2).mean() > 0.5 * expected.any(axis=2).mean()


def below(tree: BettingTree, node: int) -> list[int]:
    """All nodes under a node and itself."""
    found = [node]
    for child in tree.children_of(node):
        found += below(tree, int(child))
    return found


def test_a_skipped_action_is_discounted_and_all_below_it_untouched() -> None:
    unit = real_unit()
    pruning = Pruning(60, -0.01 * unit, 20)
    game, full = real_game(pruning), real_game(None)
    every = parse_schedule("dcfr").run(1, 70)
    game.iterate(EVERYONE, every[:65])
    tree, now = game.game.tree, every[65]
    seen = 0
    for player in Player:
        copy_state(game, full)
        before = {node: stored_at(game, node).copy() for node in game.game.tree.decisions()}
        values = game.step(player, *EVERYONE, now)
        np.testing.assert_array_equal(values, full.step(player, *EVERYONE, now))
        untouched: dict[int, set[int]] = {}  # by node the blocks below something skipped
        for node in game.game.tree.decisions():  # parents first
            if tree.player[node] != player:
                continue
            new, old = stored_at(game, node), before[node]
            for block in range(old.shape[1]):
                live = range(min(LANES, 169 - LANES * block))
                if block in untouched.get(node, set()):
                    assert new[:, block].tobytes() == old[:, block].tobytes()
                    continue
                for a, child in enumerate(tree.children_of(node)):
                    regrets = old[:, block]
                    if all(regrets[a, h] < -0.01 * unit and regrets[:, h].max() > 0 for h in live):
                        factor = np.float32(now.negative)
                        assert new[a, block].tobytes() == (regrets[a] * factor).tobytes()
                        for deeper in below(tree, int(child)):
                            untouched.setdefault(deeper, set()).add(block)
                        seen += 1
                    else:
                        ideal = stored_at(full, node)[a, block]
                        assert new[a, block].tobytes() == ideal.tobytes()
        assert any(tree.kind[node] == NodeKind.DECISION for node in untouched)
    assert seen > 100


def test_off_means_off_and_nothing_to_skip_means_the_same_bits() -> None:
    plain = real_game(None)
    others = [
        real_game(Pruning(warmup=0, threshold=-1e-9, regret_floor=1e-3)),
        real_game(Pruning(warmup=0)),
        real_game(Pruning(warmup=1, threshold=-1e30)),
        real_game(Pruning(warmup=1, threshold=-1e-9, explore_interval=1)),
        real_game(Pruning(warmup=40, threshold=-1e-9, regret_floor=1e-3)),
    ]
    every = parse_schedule("dcfr").run(1, 40)
    for game in (plain, *others):
        game.iterate(EVERYONE, every)
    for game in others:
        same_bits(plain, game)
    assert [game.pruned_fraction for game in (plain, *others)] == [None, None, None, 0, 0, 0]
    assert plain.state().keys() == others[0].state().keys()


def test_an_iteration_that_explores_equals_one_without_pruning() -> None:
    pruning = Pruning(5, -1e-6 * real_unit(), explore_interval=10)
    game, full = real_game(pruning), real_game(None)
    every = parse_schedule("dcfr").run(1, 41)
    game.iterate(EVERYONE, every[:39])
    for t in (40, 41):
        copy_state(game, full)
        for player in Player:
            game.step(player, *EVERYONE, every[t - 1])
            full.step(player, *EVERYONE, every[t - 1])
        if t == 40:
            same_bits(full, game)
        else:
            changed = game.game.regrets[0][0] != full.game.regrets[0][0]
            assert changed.mean() > 0.05  # the next one does leave something out


def test_iterations_at_once_equal_single_steps() -> None:
    pruning = Pruning(4, -0.01 * real_unit(), 10, real_unit())
    games = [real_game(pruning) for _ in range(3)]
    every = parse_schedule("linear").run(1, 25)
    games[0].iterate(EVERYONE, every)
    for now in every:
        for player in Player:
            games[1].step(player, *EVERYONE, now)
    games[2].iterate(EVERYONE, every[:3])
    games[2].iterate(EVERYONE, every[3:14])
    games[2].iterate(EVERYONE, [])
    games[2].iterate(EVERYONE, every[14:])
    assert games[0].pruned_fraction
    for game in games[1:]:
        same_bits(games[0], game)
        assert game.pruned_fraction == games[0].pruned_fraction


def test_a_restored_run_goes_on_as_if_nothing_had_happened() -> None:
    pruning = Pruning(4, -0.01 * real_unit(), 10)
    game, again = real_game(pruning), real_game(pruning)
    every = parse_schedule("dcfr").run(1, 30)
    game.iterate(EVERYONE, every[:17])
    again.restore({name: array.copy() for name, array in game.state().items()})
    for solver in (game, again):
        solver.iterate(EVERYONE, every[17:])
    same_bits(game, again)
    assert game.pruned_fraction == again.pruned_fraction


def test_regrets_stay_above_the_floor() -> None:
    floor = 0.1 * real_unit()
    game = real_game(Pruning(10, -0.05 * real_unit(), 10, regret_floor=floor))
    schedule = parse_schedule("linear")
    game.iterate(EVERYONE, schedule.run(1, 10))
    lowest = min(float(array.min()) for array in game.game.regrets[0])
    assert lowest < -floor  # the warm-up is as without
    for start in range(10, 60, 10):
        game.iterate(EVERYONE, schedule.run(start + 1, 10))  # the tenth visits everything
        lowest = min(float(array.min()) for array in game.game.regrets[0])
        assert lowest == -np.float32(floor)
    assert game.pruned_fraction


@pytest.mark.parametrize("threshold", ["{}*sqrt(t)", "{}"])
def test_a_real_flop_converges_as_without(threshold: str) -> None:
    size = -0.01 * real_unit()
    pruning = Pruning(30, threshold.format(size if "t" in threshold else 3 * size))
    plain, pruned = real_game(None), real_game(pruning)
    every = parse_schedule("dcfr").run(1, 400)
    for game in (plain, pruned):
        game.iterate(EVERYONE, every)
    assert exploitability(plain) < 0.002
    assert exploitability(pruned) <= 1.1 * exploitability(plain)
    assert pruned.pruned_fraction is not None
    assert pruned.pruned_fraction > 0.05


def test_hands_that_nobody_asks_for_learn_nothing() -> None:
    game, full = real_game(None), real_game(None)
    every = parse_schedule("dcfr").run(1, 20)
    for solver in (game, full):
        solver.iterate(EVERYONE, every)
    hands = np.arange(169) < 40
    asked = blocks_of_hands(hands)
    before = {node: stored_at(game, node).copy() for node in game.game.tree.decisions()}
    table = np.array([weight_row(every[-1])], np.float32)
    spaces = make_spaces([game.game])
    values = game.game.run(Player.IP, EVERYONE[0], UPDATE, spaces, weights=table, wanted=asked)
    expected = full.step(Player.IP, *EVERYONE, every[-1])
    np.testing.assert_array_equal(values[:48], expected[:48])
    assert not values[48:].any()
    for node in game.game.tree.decisions():
        new, ideal = stored_at(game, node), stored_at(full, node)
        if game.game.tree.player[node] == Player.IP:
            np.testing.assert_array_equal(new[:, :3], ideal[:, :3])
            np.testing.assert_array_equal(new[:, 3:], before[node][:, 3:])
    assert int(spaces[0].left_out[0]) * 11 == game.units(Player.IP) * 8


def test_which_blocks_hands_are_in() -> None:
    hands = np.zeros((2, 40), bool)
    hands[0, [3, 39]] = hands[1, 16] = True
    assert blocks_of_hands(hands).tolist() == [[1, 0, 1], [0, 1, 0]]
    assert blocks_of_hands(hands[0]).tolist() == [1, 0, 1]


def test_what_cannot_be_pruned_is_refused_with_advice() -> None:
    with pytest.raises(InputError, match="prune_threshold is missing"):
        real_game(Pruning(10))
    game = real_game(Pruning(10, -1.0))
    with pytest.raises(InputError, match="nothing to prune"):
        game.step(Player.OOP, *EVERYONE, parse_schedule("cfr+").at(1))
    with pytest.raises(InputError, match="nothing to prune"):
        game.iterate(EVERYONE, parse_schedule("dcfr+").run(1, 3))
    assert game.state()["pruning"].tolist() == [0, 0, 0]
