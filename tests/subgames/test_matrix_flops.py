"""Many pots on many flops: each as if it were alone, whatever the threads."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from reference.matrix import NaiveGame, NaiveStage

from allstreets.betting import (
    BettingTree,
    Player,
    PostflopRules,
    Street,
    build_postflop_tree,
    payoffs,
    same_sizes,
)
from allstreets.cards import (
    CARD_PERMUTATIONS,
    HAND_COUNT,
    flop_matchups,
    hand_cards,
    hand_combos,
    hand_pairs,
    parse_board,
)
from allstreets.cfr.schedules import parse_schedule
from allstreets.subgames import matrix_flops
from allstreets.subgames.classes import class_stages
from allstreets.subgames.flop_games import FlopGames
from allstreets.subgames.flop_pairs import FlopPairs
from allstreets.subgames.matrix import discount_row
from allstreets.subgames.matrix_flops import LEAST_REACH, MatrixFlops
from allstreets.subgames.matrix_model import POSTFLOP, Stage

Floats = NDArray[np.float64]
Trees = list[tuple[BettingTree, Floats]]

HANDS = 21
SCHEDULE = parse_schedule("dcfr")


def make_trees(rake: float = 0.0) -> Trees:
    trees: Trees = []
    for pot, stack, size in ((100, 250, 1.0), (400, 100, 0.5)):
        sizes = same_sizes(Street.FLOP, [size], [size])
        rules = PostflopRules(Street.FLOP, pot, stack, sizes, max_raises=1, rake=rake)
        tree = build_postflop_tree(rules)
        trees.append((tree, payoffs(tree, rules)))
    return trees


def random_stages(flops: int, hands: int = HANDS, seed: int = 1) -> list[tuple[Stage]]:
    """Flops of random combos; a hand may have none."""
    generator = np.random.default_rng(seed)
    stages = []
    for _ in range(flops):
        combos, cards = np.zeros(hands), np.zeros((hands, 52))
        for hand in range(hands):
            for _ in range(int(generator.integers(0, 7))):
                combos[hand] += 1
                cards[hand, generator.choice(52, 2, replace=False)] += 1
        spread = generator.normal(size=(hands, hands)) * np.sqrt(np.outer(combos, combos))
        stages.append((Stage(POSTFLOP, combos, cards, (spread - spread.T).astype(np.float32)),))
    return stages


def dealt_by(stages: Sequence[tuple[Stage]]) -> FlopPairs:
    held = [stage.cards for (stage,) in stages if stage.cards is not None]
    combos = np.array([stage.combos for (stage,) in stages])
    return FlopPairs(combos, np.array(held) if held else None)


def make_flops(
    stages: Sequence[tuple[Stage]], trees: Trees | None = None, threads: int = 1
) -> MatrixFlops:
    return MatrixFlops(trees or make_trees(), stages, dealt_by(stages), threads=threads)


def dense_pairs(stage: Stage) -> Floats:
    hands = len(stage.combos)
    pairs = np.zeros((hands, hands))
    assert stage.cards is not None
    for own in range(hands):
        for other in range(hands):
            pairs[own, other] = stage.combos[own] * stage.combos[other]
            pairs[own, other] -= float(sum(stage.cards[own] * stage.cards[other]))
        pairs[own, own] += stage.combos[own]
    return pairs


def naive_games(trees: Trees, stages: Sequence[tuple[Stage]]) -> list[list[NaiveGame]]:
    """By pot and flop."""
    streets = tuple(int(street) for street in POSTFLOP)
    dense = [
        NaiveStage(streets, dense_pairs(stage), stage.margin.astype(np.float64))
        for (stage,) in stages
    ]
    return [[NaiveGame(tree, results, [stage]) for stage in dense] for tree, results in trees]


def close(left: Floats, right: Floats) -> None:
    size = max(float(np.abs(right).max()), 1e-9)
    np.testing.assert_allclose(left / size, right / size, atol=3e-5)


@pytest.mark.parametrize("rake", [0.0, 0.04])
def test_every_pot_and_flop_is_a_game_of_its_own(rake: float) -> None:
    """Flops are visited unevenly, so that each is discounted by another row."""
    trees, stages = make_trees(rake), random_stages(4)
    games: FlopGames = make_flops(stages, trees)
    naive = naive_games(trees, stages)
    generator = np.random.default_rng(2)
    visits = np.zeros(4, np.int64)
    for chosen in ([0, 1, 2, 3], [1, 3], [3], [0, 3], [0, 1, 3]):
        flops = np.array(chosen)
        visits[flops] += 1
        every = [SCHEDULE.at(int(visit)) for visit in visits[flops]]
        rows = np.array([discount_row(now) for now in every])
        for player in Player:
            own, other = generator.random((2, 2, HANDS))
            found = games.step(player, own, other, flops, rows)
            assert found.shape == (2, len(flops), HANDS)
            for pot in range(2):
                for place, flop in enumerate(chosen):
                    now = every[place]
                    factors = now.positive, now.negative, now.average, now.weight
                    expected = naive[pot][flop].step(player, other[pot], factors)
                    close(found[pot, place], expected)
    for player in Player:
        other = generator.random((2, HANDS))
        for best in (True, False):
            flops = np.array([2, 0, 3])
            found = games.judge(player, other, flops, best=best)
            for pot in range(2):
                for place, flop in enumerate(flops):
                    close(found[pot, place], naive[pot][flop].judge(player, other[pot], best))
    apart = []
    for pot in range(2):
        for flop in range(4):
            for node in naive[pot][flop].sums:
                there = naive[pot][flop].strategy(node, naive[pot][flop].sums)
                apart.append(np.abs(games.average(pot, flop, node) - there).reshape(-1))
    # Where regrets cancel, regret matching turns rounding into a strategy: rare, but not never.
    assert np.quantile(np.concatenate(apart), 0.95) < 1e-4


def test_flops_that_are_not_visited_are_left_alone() -> None:
    games = make_flops(random_stages(5))
    generator = np.random.default_rng(3)
    reach = generator.random((2, HANDS))
    rows = np.array([discount_row(SCHEDULE.at(1))])
    for player in Player:
        games.step(player, reach, reach, np.arange(5), np.repeat(rows, 5, axis=0))
    before = {name: array.copy() for name, array in games.state().items()}
    for player in Player:
        games.step(player, reach, reach, np.array([1, 4]), np.repeat(rows, 2, axis=0))
        games.judge(player, reach, np.arange(5), best=True)
    for name, array in games.state().items():
        changed = [flop for flop in range(5) if (array[flop] != before[name][flop]).any()]
        assert changed == [1, 4]


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads: int) -> None:
    alone, together = (make_flops(random_stages(11), threads=count) for count in (1, threads))
    generator = np.random.default_rng(4)
    for iteration in range(1, 6):
        flops = np.sort(generator.choice(11, 7, replace=False))
        rows = np.array([discount_row(SCHEDULE.at(iteration))] * 7)
        for player in Player:
            own, other = generator.random((2, 2, HANDS))
            found = [games.step(player, own, other, flops, rows) for games in (alone, together)]
            np.testing.assert_array_equal(found[0], found[1])
    for player in Player:
        for best in (True, False):
            judged = [
                games.judge(player, other, np.arange(11), best=best) for games in (alone, together)
            ]
            np.testing.assert_array_equal(judged[0], judged[1])
    for name, array in alone.state().items():
        np.testing.assert_array_equal(array, together.state()[name])


def test_a_pot_nobody_gets_to_is_left_alone() -> None:
    """And the other pots do not notice."""
    games, reference = (make_flops(random_stages(3)) for _ in range(2))
    rows = np.array([discount_row(SCHEDULE.at(iteration)) for iteration in (1, 1, 1)])
    other = np.random.default_rng(5).random((2, HANDS))
    flops = np.arange(3)
    absent = other.copy()
    absent[0] = LEAST_REACH / 2
    for player in Player:
        found = games.step(player, other, absent, flops, rows)
        assert not found[0].any()
        np.testing.assert_array_equal(
            found[1], reference.step(player, other, other, flops, rows)[1]
        )
        judged = games.judge(player, absent, flops, best=True)
        assert not judged[0].any()
        assert judged[1].any()
    for name, array in games.state().items():
        assert array.any() == (name.split(".")[1] == "1")


def test_hands_of_a_first_stage_that_are_not_classes() -> None:
    """Classes fall into a few hands; the game is the same as if it were played by these."""
    stages, trees = random_stages(3), make_trees()
    generator = np.random.default_rng(6)
    roots = generator.random((3, HAND_COUNT, HANDS)) * (generator.random((3, HAND_COUNT, 1)) < 0.8)
    games = MatrixFlops(trees, stages, FlopPairs.of([()] * 3), roots, model="some")
    assert games.model == "some"
    naive = naive_games(trees, stages)
    for iteration in (1, 2, 3):
        flops = np.array([0, 2])
        rows = np.array([discount_row(SCHEDULE.at(iteration))] * 2)
        now = SCHEDULE.at(iteration)
        for player in Player:
            own, other = generator.random((2, 2, HAND_COUNT))
            found = games.step(player, own, other, flops, rows)
            assert found.shape == (2, 2, HAND_COUNT)
            for pot in range(2):
                for place, flop in enumerate(flops):
                    factors = now.positive, now.negative, now.average, now.weight
                    below = naive[pot][flop].step(player, other[pot] @ roots[flop], factors)
                    close(found[pot, place], roots[flop] @ below)


FLOPS = ("AsKh7d", "8s8h3d", "Qs9s4s")


def test_pairs_of_classes_are_those_of_the_cards() -> None:
    boards = [parse_board(text) for text in FLOPS]
    dealt = FlopPairs.of(boards)
    weights = np.array([24.0, 12.0, 0.5])
    expected = sum(w * hand_pairs(board) for w, board in zip(weights, boards, strict=True))
    np.testing.assert_allclose(dealt.sum(weights), expected, rtol=1e-12)
    generator = np.random.default_rng(7)
    own, other = generator.random((2, HAND_COUNT))
    reached = [own @ hand_pairs(board) @ other for board in boards]
    np.testing.assert_allclose(dealt.reached(own, other), reached, rtol=1e-12)


def test_without_card_removal_pairs_are_products() -> None:
    board = parse_board("AsKh7d")
    dealt = FlopPairs.of([board], removal=False)
    own, other = np.random.default_rng(8).random((2, HAND_COUNT))
    expected = (own @ hand_combos(board)) * (other @ hand_combos(board))
    assert dealt.reached(own, other)[0] == pytest.approx(expected)
    assert own @ dealt.sum(np.ones(1)) @ other == pytest.approx(expected)


@pytest.mark.parametrize("text", FLOPS)
@pytest.mark.parametrize("renaming", [5, 17])
def test_the_stage_of_a_flop_is_the_same_whatever_its_suits_are_called(
    text: str, renaming: int
) -> None:
    board = parse_board(text)
    renamed = tuple(CARD_PERMUTATIONS[renaming][list(board)].tolist())
    (stage,), (again,) = class_stages(board), class_stages(renamed)
    np.testing.assert_array_equal(stage.margin, again.margin)
    np.testing.assert_array_equal(stage.combos, again.combos)
    np.testing.assert_array_equal(stage.pairs, again.pairs)
    # And it is that of the renamed cards, counted as they are.
    np.testing.assert_array_equal(stage.combos, hand_combos(renamed))
    np.testing.assert_array_equal(stage.pairs, hand_pairs(renamed))
    np.testing.assert_array_equal(stage.margin, flop_matchups(renamed).margin)
    assert stage.cards is not None
    np.testing.assert_array_equal(stage.cards.sum(axis=1), hand_cards(renamed).sum(axis=1))


def test_a_state_is_cut_into_parts_and_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    trees, stages = make_trees(), random_stages(5)
    games, whole = make_flops(stages, trees), make_flops(stages, trees)
    length = games.games[0].regrets[0][0][0].nbytes
    keys = len(games.state())
    monkeypatch.setattr(matrix_flops, "STATE_BYTES", 2 * length)
    assert len(games.state()) > keys
    reach = np.random.default_rng(9).random((2, HANDS))
    flops = np.arange(5)
    rows = np.array([discount_row(SCHEDULE.at(1))] * 5)
    for player in Player:
        games.step(player, reach, reach, flops, rows)
    state = {name: array.copy() for name, array in games.state().items()}
    stored = sum(array.nbytes for array in state.values())
    assert stored == games.memory_bytes
    whole.restore(state)
    rows = np.array([discount_row(SCHEDULE.at(2))] * 5)
    for player in Player:
        found = [some.step(player, reach, reach, flops, rows) for some in (games, whole)]
        np.testing.assert_array_equal(found[0], found[1])
    for name, array in games.state().items():
        np.testing.assert_array_equal(array, whole.state()[name])


def test_regret_figures() -> None:
    games = make_flops(random_stages(3))
    weights = np.array([1.0, 2.0, 0.5])
    assert games.regret_sums(weights)[:2] == (0.0, 0.0)
    reach = np.random.default_rng(10).random((2, HANDS))
    rows = np.array([discount_row(SCHEDULE.at(1))] * 3)
    for player in Player:
        games.step(player, reach, reach, np.arange(3), rows)
    entries = np.concatenate(
        [
            weights[flop] * game.numbers_at(game.regrets, flop, node).reshape(-1).astype(np.float64)
            for game in games.games
            for flop in range(3)
            for node in game.decisions()
        ]
    )
    total, largest, count = games.regret_sums(weights)
    assert total == pytest.approx(entries[entries > 0].sum(dtype=np.float64), rel=1e-6)
    assert largest == entries.max()
    assert count == len(entries)


def test_no_pots_at_all() -> None:
    """Where every line ends before the flop there is nothing to do, and nothing goes wrong."""
    board = parse_board("AsKh7d")
    games = MatrixFlops([], [class_stages(board)], FlopPairs.of([board]))
    nobody = np.zeros((0, HAND_COUNT))
    rows = np.array([discount_row(SCHEDULE.at(1))])
    for player in Player:
        assert games.step(player, nobody, nobody, np.arange(1), rows).shape == (0, 1, HAND_COUNT)
        assert games.judge(player, nobody, np.arange(1), best=True).shape == (0, 1, HAND_COUNT)
    assert games.regret_sums(np.ones(1)) == (0.0, 0.0, 0)
    assert games.state() == {}
