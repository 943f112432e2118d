"""Many pots on many flops: each as if it were alone, whatever the threads."""

from collections.abc import Sequence

import numpy as np
import pytest
from reference.matrix import NaiveGame, NaiveStage

from allstreets.base import Floats
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
from allstreets.cards import (
    CARD_PERMUTATIONS,
    HAND_COUNT,
    flop_matchups,
    hand_cards,
    hand_combos,
    hand_pairs,
    parse_board,
)
from allstreets.cfr.schedules import IterationWeights, parse_schedule
from allstreets.engines.card_model import CardModel, DealtPairs
from allstreets.engines.matrix.cards import Stage, class_stages
from allstreets.engines.matrix.engine import LEAST_REACH, MatrixCards, MatrixEngine
from allstreets.engines.matrix.plan import SPLIT_FLOPS, cut_pieces
from allstreets.engines.protocol import Engine
from allstreets.engines.simd.iteration_weights import KernelWeights

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


def dealt_by(stages: Sequence[tuple[Stage]]) -> DealtPairs:
    held = [stage.cards for (stage,) in stages if stage.cards is not None]
    combos = np.array([stage.combos for (stage,) in stages])
    return DealtPairs(combos, np.array(held) if held else None)


def make_flops(
    stages: Sequence[tuple[Stage]], trees: Trees | None = None, threads: int = 1
) -> MatrixEngine:
    cards = MatrixCards(stages, dealt_by(stages))
    return MatrixEngine(trees or make_trees(), cards, threads=threads)


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
    games: Engine = make_flops(stages, trees)
    naive = naive_games(trees, stages)
    generator = np.random.default_rng(2)
    visits = np.zeros(4, np.int64)
    for chosen in ([0, 1, 2, 3], [1, 3], [3], [0, 3], [0, 1, 3]):
        flops = np.array(chosen)
        visits[flops] += 1
        every = [SCHEDULE.at(int(visit)) for visit in visits[flops]]
        for player in Player:
            own, other = generator.random((2, 2, HANDS))
            found = np.asarray(games.step(player, own, other, flops, every))
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
            run = games.best_response if best else games.evaluate
            found = run(player, other, flops)
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


def test_a_pot_nobody_gets_to_is_left_alone() -> None:
    """And the other pots do not notice."""
    games, reference = (make_flops(random_stages(3)) for _ in range(2))
    rows = [SCHEDULE.at(1)] * 3
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
        best = games.best_response(player, absent, flops)
        assert not best[0].any()
        assert best[1].any()
    for name, array in games.state().items():
        *_, pot, _stage, _player = name.split(".")
        assert array.any() == (pot == "1")


def test_hands_of_a_first_stage_that_are_not_classes() -> None:
    """Classes fall into a few hands; the game is the same as if it were played by these."""
    stages, trees = random_stages(3), make_trees()
    generator = np.random.default_rng(6)
    roots = generator.random((3, HAND_COUNT, HANDS)) * (generator.random((3, HAND_COUNT, 1)) < 0.8)
    model = CardModel("buckets", seed=5)
    games = MatrixEngine(trees, MatrixCards(stages, DealtPairs.of([()] * 3), roots), model)
    assert games.model == model
    assert not games.can_drop_hands
    naive = naive_games(trees, stages)
    for iteration in (1, 2, 3):
        flops = np.array([0, 2])
        now = SCHEDULE.at(iteration)
        for player in Player:
            own, other = generator.random((2, 2, HAND_COUNT))
            found = games.step(player, own, other, flops, [now] * 2)
            assert found.shape == (2, 2, HAND_COUNT)
            for pot in range(2):
                for place, flop in enumerate(flops):
                    factors = now.positive, now.negative, now.average, now.weight
                    below = naive[pot][flop].step(player, other[pot] @ roots[flop], factors)
                    close(found[pot, place], roots[flop] @ below)


FLOPS = ("AsKh7d", "8s8h3d", "Qs9s4s")


def test_pairs_of_classes_are_those_of_the_cards() -> None:
    boards = [parse_board(text) for text in FLOPS]
    dealt = DealtPairs.of(boards)
    weights = np.array([24.0, 12.0, 0.5])
    expected = sum(w * hand_pairs(board) for w, board in zip(weights, boards, strict=True))
    np.testing.assert_allclose(dealt.sum(weights), expected, rtol=1e-12)
    generator = np.random.default_rng(7)
    own, other = generator.random((2, HAND_COUNT))
    reached = [own @ hand_pairs(board) @ other for board in boards]
    np.testing.assert_allclose(dealt.reached(own, other), reached, rtol=1e-12)


def test_without_card_removal_pairs_are_products() -> None:
    board = parse_board("AsKh7d")
    dealt = DealtPairs.of([board], removal=False)
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


def test_regret_figures() -> None:
    """Of some flops, pot by pot."""
    games = make_flops(random_stages(3))
    flops = np.array([2, 0])
    before = games.regret_sums(flops)
    assert not before.total.any()
    assert not before.largest.any()
    reach = np.random.default_rng(10).random((2, HANDS))
    for player in Player:
        games.step(player, reach, reach, np.arange(3), [SCHEDULE.at(1)] * 3)
    found = games.regret_sums(flops)
    assert {part.shape for part in found} == {(2, 2)}
    for pot, game in enumerate(games.games):
        for place, flop in enumerate(flops.tolist()):
            entries = np.concatenate(
                [
                    game.numbers_at(game.regrets, flop, node).reshape(-1).astype(np.float64)
                    for node in game.tree.decisions()
                ]
            )
            total = entries[entries > 0].sum(dtype=np.float64)
            assert found.total[pot, place] == pytest.approx(total, rel=1e-6)
            assert found.largest[pot, place] == entries.max()
            assert found.entries[pot, place] == len(entries)


def test_no_pots_at_all() -> None:
    """Where every line ends before the flop there is nothing to do, and nothing goes wrong."""
    board = parse_board("AsKh7d")
    games = MatrixEngine([], MatrixCards([class_stages(board)], DealtPairs.of([board])))
    nobody, one = np.zeros((0, HAND_COUNT)), np.arange(1)
    for player in Player:
        now = [SCHEDULE.at(1)]
        assert games.step(player, nobody, nobody, one, now).shape == (0, 1, HAND_COUNT)
        assert games.best_response(player, nobody, one).shape == (0, 1, HAND_COUNT)
        assert games.evaluate(player, nobody, one).shape == (0, 1, HAND_COUNT)
    assert {part.shape for part in games.regret_sums(one)} == {(0, 1)}
    assert games.state() == {}


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize(("flops", "pots"), [(1, 7), (5, 3), (400, 7), (0, 7), (3, 1)])
def test_every_pot_on_every_flop_is_in_one_piece(flops: int, pots: int, threads: int) -> None:
    done = np.zeros((flops, pots), np.int64)
    pieces = cut_pieces(flops, pots, threads)
    for first, last, begin, end in pieces.tolist():
        done[first:last, begin:end] += 1
    assert (done == 1).all()
    sizes = ((pieces[:, 1] - pieces[:, 0]) * (pieces[:, 3] - pieces[:, 2])).tolist()
    assert sizes == sorted(sizes, reverse=True)
    if threads > 1 and flops:  # enough small ones at the end that no thread waits long
        assert sizes.count(min(sizes)) >= min(flops, SPLIT_FLOPS * threads) * pots


def test_tables_of_iteration_weights_are_in_the_order_that_kernels_read() -> None:
    shared = ("positive", "negative", "average", "weight", "threshold", "ahead")
    for name in shared:
        assert KernelWeights._fields.index(name) == IterationWeights._fields.index(name)
    assert KernelWeights._fields[len(IterationWeights._fields) :] == ("phase",)
