"""The bucket model: masses, moves counted one by one, order, symmetry, and views."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, pairwise

import numpy as np
import pytest
from builders.one_flop import OneFlop
from numpy.typing import NDArray
from reference import buckets as naive_buckets

from allstreets.base import InputError
from allstreets.betting import OOP, NodeKind, Street, parse_line, same_sizes
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    COMBO_PERMUTATIONS,
    HAND_OF_COMBO,
    live_combos,
    parse_cards,
    parse_combo,
)
from allstreets.engines.matrix.bucket_features import (
    FLOP_RUNOUTS,
    flop_boards,
    flop_features,
    mean_equity,
)
from allstreets.engines.matrix.buckets import (
    STREETS,
    BucketCounts,
    BucketModel,
    bucket_stages,
    build_bucket_model,
    down_from_hands,
)
from allstreets.games.whole_game import pot_at

FLOP = parse_cards("Ts 9s 4h")
SMALL = BucketCounts(5, 12, 17)
ROOMY = BucketCounts(30, 300, 250)


@pytest.fixture(scope="module")
def small() -> BucketModel:
    return build_bucket_model(FLOP, SMALL, seed=7)


@pytest.fixture(scope="module", params=["Ts 9s 4h", "As Kh 7d", "Qs Js 2s", "6s 6h 6d"])
def roomy(request: pytest.FixtureRequest) -> BucketModel:
    return build_bucket_model(parse_cards(request.param), ROOMY, seed=7)


def test_every_situation_is_in_one_bucket(roomy: BucketModel) -> None:
    sizes = [len(weights) for weights in roomy.weights]
    assert np.array_equal(roomy.flop_buckets >= 0, live_combos(roomy.flop))
    assert set(roomy.flop_buckets[roomy.flop_buckets >= 0].tolist()) == set(range(sizes[0]))
    for card in range(52):
        live = live_combos((*roomy.flop, card)) if card not in roomy.flop else np.zeros(1326, bool)
        assert np.array_equal(roomy.turn_buckets[card] >= 0, live)
    assert set(roomy.turn_buckets[roomy.turn_buckets >= 0].tolist()) == set(range(sizes[1]))
    assert set(roomy.river_buckets.tolist()) == set(range(sizes[2]))
    assert sizes == [30, 300, 250]


def test_weights_are_the_combos_of_the_flop(roomy: BucketModel) -> None:
    for weights in roomy.weights:
        assert weights.sum() == pytest.approx(1176, abs=1e-9)
        assert weights.min() > 0
    live = roomy.turn_buckets >= 0
    assert roomy.weights[1] == pytest.approx(np.bincount(roomy.turn_buckets[live]) / 47)


def test_weights_move_on_from_street_to_street(roomy: BucketModel) -> None:
    for before, moves, after in zip(roomy.weights, roomy.moves, roomy.weights[1:], strict=False):
        assert moves.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
        assert moves.min() >= 0
        assert before @ moves == pytest.approx(after, rel=1e-12)


def test_net_shares_are_antisymmetric_and_bounded(roomy: BucketModel) -> None:
    assert len(roomy.net) == len(STREETS)
    for net in roomy.net:
        assert np.isfinite(net).all()
        assert np.array_equal(net, -net.T)
        assert abs(net).max() <= 1
        equity = (1.0 + net) / 2.0
        assert abs(equity + equity.T - 1).max() < 1e-15
        assert equity.min() >= 0


def test_buckets_are_numbered_from_the_weakest(roomy: BucketModel) -> None:
    for equity, weights in zip(roomy.equity, roomy.weights, strict=True):
        assert (np.diff(equity) >= 0).all()
        # Against any two cards the mean over all combos is one half, on every street.
        assert weights @ equity / 1176 == pytest.approx(0.5, abs=1e-12)
    assert (np.diff(roomy.river_buckets) >= 0).all()
    live = live_combos(roomy.flop)
    of_combo = mean_equity(flop_features(flop_boards(roomy.flop)), FLOP_RUNOUTS)
    for bucket, equity in enumerate(roomy.equity[0]):
        members = live & (roomy.flop_buckets == bucket)
        assert of_combo[members].mean() == pytest.approx(equity)


def test_strong_buckets_beat_weak_ones(roomy: BucketModel) -> None:
    for net in roomy.net:
        assert net[-1, 0] > 0.3
        # The mean net share against all buckets rises, by and large, with the bucket's number.
        overall = net.mean(axis=1)
        assert np.corrcoef(overall, np.arange(len(net)))[0, 1] > 0.95


def test_moves_and_what_they_are_worth_are_those_counted_one_by_one(small: BucketModel) -> None:
    """Every combo, turn card and river card in a plain loop."""
    to_turn, to_river = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    deck = [card for card in range(52) if card not in FLOP]
    flop = small.buckets_on(FLOP).tolist()
    combos = COMBO_CARDS.tolist()
    for turn in deck:
        turns = small.buckets_on((*FLOP, turn)).tolist()
        for combo, (high, low) in enumerate(combos):
            if not {high, low} & {turn, *FLOP}:
                to_turn[flop[combo], turns[combo]] += 1
        for river in deck:
            if river == turn:
                continue
            rivers = small.buckets_on((*FLOP, turn, river)).tolist()
            for combo in range(1326):
                if rivers[combo] >= 0:
                    to_river[turns[combo], rivers[combo]] += 1
    for counted, moves in zip((to_turn, to_river), small.moves, strict=True):
        counts = np.zeros(moves.shape)
        for pair, count in counted.items():
            counts[pair] = count
        assert moves == pytest.approx(counts / counts.sum(axis=1, keepdims=True), abs=1e-15)
    assert small.weights[2] == pytest.approx(counts.sum(axis=0) / (47 * 46))
    river_net = small.net[2].tolist()
    for steps, net in (((to_turn, to_river), small.net[0]), ((to_river,), small.net[1])):
        for own, other in combinations(range(len(net)), 2):
            share = naive_buckets.dealt_share(steps, own, other, river_net)
            assert net[own, other] == pytest.approx(share, abs=1e-12)


def test_river_buckets_follow_the_equity_of_another_program(small: BucketModel) -> None:
    board = (*FLOP, *parse_cards("2d Jh"))
    found = small.buckets_on(board)
    for text in ("AsKs", "KcQd", "3c3h", "7h5d", "JcTd"):
        points = naive_buckets.points(parse_cards(text), board)
        assert found[parse_combo(text)] == small.river_buckets[points]
    assert found[parse_combo("Jh3c")] == -1


CHECKED_DOWN = "x x | * | x x | * | x x"
ALL_INS = ("a c", "x x | * | a c", "x x | * | x x | * | a c")


@pytest.mark.parametrize("counts", [(10, 50, 50), (14, 70, 90)])
@pytest.mark.parametrize("flop", ["9h 8h 2c", "7h 7d 2c"])
def test_a_pot_is_worth_the_same_on_whichever_street_the_money_goes_in(
    flop: str, counts: tuple[int, int, int]
) -> None:
    """All-ins on any street and check-downs, of every bucket against every other, in the engine.

    Likewise folds: what a bucket wins when the other gives up does not depend on the street.
    """
    game = pot_at(0.75, same_sizes(Street.FLOP, "a", ""))
    stages = bucket_stages(build_bucket_model(parse_cards(flop), BucketCounts(*counts)))
    tree, subgame = game.tree, OneFlop(game.tree, game.payoffs, stages)

    def worth(line: str) -> NDArray[np.float64]:
        """[K, K]: what OOP's bucket wins of IP's, in pots at the end, a pair of combos."""
        end = parse_line(tree, line, any_card=True).node
        for node, after in pairwise(tree.path_to(end)):
            if tree.kind[node] == NodeKind.DECISION:
                taken = tree.children_of(node) == after
                subgame.set_average(
                    node, np.where(taken[:, None], 1.0, 0.0 * subgame.average(node))
                )
        chips = [subgame.evaluate(OOP, one) for one in np.eye(len(stages[0].combos))]
        pot = tree.pot + 2 * int(tree.invested[end].min())
        won: NDArray[np.float64] = np.array(chips).T / stages[0].pairs / pot
        return won

    checked_down = worth(CHECKED_DOWN)
    assert abs(checked_down).max() > 0.2
    for line in ALL_INS:
        np.testing.assert_allclose(worth(line), checked_down, rtol=0, atol=2e-6)
        folded = worth(line.replace("c", "f"))
        np.testing.assert_allclose(folded, 0.5, rtol=0, atol=2e-6)


@pytest.mark.parametrize(("flop", "renaming"), [("Ts 9s 4h", 7), ("8s 8h 3d", 22)])
def test_renamed_suits_give_the_same_model(flop: str, renaming: int) -> None:
    cards, combos = CARD_PERMUTATIONS[renaming], COMBO_PERMUTATIONS[renaming]
    here = build_bucket_model(parse_cards(flop), SMALL, seed=7)
    there = build_bucket_model(cards[list(parse_cards(flop))].tolist(), SMALL, seed=7)
    assert np.array_equal(there.flop_buckets[combos], here.flop_buckets)
    assert np.array_equal(there.turn_buckets[cards][:, combos], here.turn_buckets)
    assert np.array_equal(there.river_buckets, here.river_buckets)
    for name in ("weights", "equity", "moves", "net"):
        for one, other in zip(getattr(here, name), getattr(there, name), strict=True):
            assert np.array_equal(one, other)


def test_a_seed_gives_the_same_model_and_another_seed_another(small: BucketModel) -> None:
    with ThreadPoolExecutor(2) as pool:
        builds = [pool.submit(build_bucket_model, FLOP, SMALL, seed=7) for _ in range(2)]
    for again in (build.result() for build in builds):
        for name in ("weights", "equity", "moves", "net"):
            for one, other in zip(getattr(small, name), getattr(again, name), strict=True):
                assert np.array_equal(one, other)
        assert np.array_equal(small.turn_buckets, again.turn_buckets)
    other_seed = build_bucket_model(FLOP, SMALL, seed=8)
    assert not np.array_equal(small.turn_buckets, other_seed.turn_buckets)


def test_one_bucket_a_street_knows_nothing() -> None:
    model = build_bucket_model(FLOP, BucketCounts(1, 1, 1))
    assert [net.tolist() for net in model.net] == [[[0.0]]] * 3
    assert [moves.tolist() for moves in model.moves] == [[[1.0]]] * 2


def test_as_many_buckets_as_there_are_differences() -> None:
    model = build_bucket_model(parse_cards("Qs Js 2s"), BucketCounts(1500, 40, 4000))
    features = flop_features(flop_boards(model.flop))
    different = len(np.unique(features[live_combos(model.flop)], axis=0))
    assert len(model.weights[0]) == different
    for bucket in range(different):
        members = features[model.flop_buckets == bucket]
        assert (members == members[0]).all()
    assert len(model.weights[2]) < 1981


def test_stages_pass_reach_down_and_values_up(roomy: BucketModel) -> None:
    stages = bucket_stages(roomy)
    assert [stage.streets for stage in stages] == [(street,) for street in STREETS]
    assert all(stage.cards is None for stage in stages)
    assert stages[0].down is None
    rng = np.random.default_rng(4)
    for number in (1, 2):
        before, stage = stages[number - 1], stages[number]
        assert stage.down is not None
        # A range of all combos stays one, and any range keeps its combos.
        assert np.ones(len(before.combos)) @ stage.down == pytest.approx(1.0, abs=1e-5)
        reach = rng.random(len(before.combos))
        assert (reach @ stage.down) @ stage.combos == pytest.approx(reach @ before.combos, rel=1e-6)
    for stage, net in zip(stages, roomy.net, strict=True):
        assert stage.margin.dtype == np.float32
        assert np.array_equal(stage.margin, -stage.margin.T)
        expected = np.outer(stage.combos, stage.combos) * net
        np.testing.assert_allclose(stage.margin, expected, rtol=1e-6, atol=1e-6)


def test_buckets_win_from_all_others_what_their_equity_says(roomy: BucketModel) -> None:
    """Against every bucket by its weight, though pairs that never meet have no equity of their own.

    Not exact: a combo meets only combos that share no card with it.
    """
    for weights, net, equity in zip(roomy.weights, roomy.net, roomy.equity, strict=True):
        against_all = (1 + net @ weights / 1176) / 2
        off = np.sqrt(weights @ (against_all - equity) ** 2 / 1176)
        assert off < 0.02


def mean_weights(model: BucketModel, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """[K]: the mean weight of each flop bucket's combos, from weights of combos [1326]."""
    live = model.flop_buckets >= 0
    return np.bincount(model.flop_buckets[live], weights[live]) / model.weights[0]


def test_hand_classes_pass_to_buckets_as_stages_do(small: BucketModel) -> None:
    rng = np.random.default_rng(5)
    hands: NDArray[np.float64] = rng.random(169)
    down = down_from_hands(small)
    assert hands @ down == pytest.approx(mean_weights(small, hands[HAND_OF_COMBO]))
    assert np.ones(169) @ down == pytest.approx(1.0)
    # A value of 1 a combo is worth the live combos of a hand class.
    live = np.bincount(HAND_OF_COMBO[live_combos(FLOP)], minlength=169)
    assert down @ small.weights[0] == pytest.approx(live)


def test_bad_questions_are_refused(small: BucketModel) -> None:
    for board in ("Ts9s", "Ts9s5h", "Ts9s4h4h", "Ts9s4h2c2d2h"):
        with pytest.raises(InputError, match="no board of the flop Ts9s4h"):
            small.buckets_on(parse_cards(board) if board != "Ts9s4h4h" else (*FLOP, FLOP[2]))
    with pytest.raises(InputError, match="no board"):
        small.buckets_on((*FLOP, -1))
