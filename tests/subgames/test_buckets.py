"""The bucket model: masses, moves counted one by one, order, symmetry, and what a viewer asks."""

from concurrent.futures import ThreadPoolExecutor

import naive_buckets
import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import Street
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    COMBO_PERMUTATIONS,
    HAND_OF_COMBO,
    Range,
    live_combos,
    parse_cards,
    parse_combo,
)
from allstreets.subgames.bucket_features import (
    FLOP_RUNOUTS,
    flop_boards,
    flop_features,
    mean_equity,
)
from allstreets.subgames.buckets import (
    BUCKET_PRESETS,
    STREETS,
    BucketCounts,
    BucketModel,
    bucket_reach,
    bucket_stages,
    build_bucket_model,
    combo_reach,
    down_from_hands,
    parse_bucket_counts,
)

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
    for street, net in zip(STREETS, roomy.net, strict=True):
        assert np.isfinite(net).all()
        assert np.array_equal(net, -net.T)
        assert abs(net).max() <= 1
        equity = roomy.pair_equity(street)
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


def test_moves_are_those_counted_one_by_one(small: BucketModel) -> None:
    """Every combo, turn card and river card in a plain loop."""
    sizes = [len(weights) for weights in small.weights]
    to_turn, to_river = np.zeros(sizes[:2]), np.zeros(sizes[1:])
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
    for counts, moves in zip((to_turn, to_river), small.moves, strict=True):
        assert moves == pytest.approx(counts / counts.sum(axis=1, keepdims=True), abs=1e-15)
    assert small.weights[2] == pytest.approx(to_river.sum(axis=0) / (47 * 46))


def test_river_buckets_follow_the_equity_of_another_program(small: BucketModel) -> None:
    board = (*FLOP, *parse_cards("2d Jh"))
    found = small.buckets_on(board)
    for text in ("AsKs", "KcQd", "3c3h", "7h5d", "JcTd"):
        points = naive_buckets.points(parse_cards(text), board)
        assert found[parse_combo(text)] == small.river_buckets[points]
    assert found[parse_combo("Jh3c")] == -1


def test_pair_equity_of_buckets_is_the_mean_over_their_combos() -> None:
    """On the flop, of two small buckets, with another program's evaluator and every board."""
    model = build_bucket_model(FLOP, BucketCounts(200, 20, 20))
    sizes = model.weights[0]
    own, other = np.argsort(sizes, kind="stable")[[40, 60]]
    sides = [
        [(int(high), int(low)) for high, low in COMBO_CARDS[model.flop_buckets == bucket]]
        for bucket in (own, other)
    ]
    assert all(len(side) <= 6 for side in sides)
    meetings, margin = naive_buckets.runout_meetings(FLOP, sides[0], sides[1])
    assert meetings > 0
    assert model.net[0][own, other] == pytest.approx(margin / meetings, abs=1e-14)


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
    assert (np.unique(model.net[0], axis=0, return_counts=True)[1] == 1).all()
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


def test_ranges_become_reach_of_buckets_and_back(small: BucketModel) -> None:
    wide = Range.parse("22+,A2s+,KTo+,98s:0.5")
    reach = bucket_reach(small, wide.weights)
    live = live_combos(FLOP)
    for bucket in range(len(reach)):
        members = live & (small.flop_buckets == bucket)
        assert reach[bucket] == pytest.approx(wide.weights[members].mean())
    assert reach @ small.weights[0] == pytest.approx(wide.weights[live].sum())
    back = combo_reach(small, reach)
    assert not back[~live].any()
    assert back[live].tolist() == reach[small.flop_buckets[live]].tolist()
    assert bucket_reach(small, back) == pytest.approx(reach)
    assert bucket_reach(small, np.ones(1326)) == pytest.approx(1.0)


def test_hand_classes_pass_to_buckets_as_stages_do(small: BucketModel) -> None:
    rng = np.random.default_rng(5)
    hands: NDArray[np.float64] = rng.random(169)
    down = down_from_hands(small)
    assert hands @ down == pytest.approx(bucket_reach(small, hands))
    assert hands @ down == pytest.approx(bucket_reach(small, hands[HAND_OF_COMBO]))
    # A value of 1 a combo is worth the live combos of a hand class.
    live = np.bincount(HAND_OF_COMBO[live_combos(FLOP)], minlength=169)
    assert down @ small.weights[0] == pytest.approx(live)


def test_presets_and_numbers_are_read() -> None:
    assert parse_bucket_counts("standard") == BucketCounts(20, 500, 500)
    assert parse_bucket_counts("7 / 8/9") == BucketCounts(7, 8, 9)
    assert set(BUCKET_PRESETS) == {"fast", "medium", "standard", "accurate"}


@pytest.mark.parametrize(
    ("text", "says"),
    [("standart", "did you mean 'standard'"), ("1/2", "20/500/500"), ("0/5/5", "on the flop")],
)
def test_what_is_no_number_of_buckets_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_bucket_counts(text)


def test_bad_questions_are_refused(small: BucketModel) -> None:
    for board in ("Ts9s", "Ts9s5h", "Ts9s4h4h", "Ts9s4h2c2d2h"):
        with pytest.raises(InputError, match="no board of the flop Ts9s4h"):
            small.buckets_on(parse_cards(board) if board != "Ts9s4h4h" else (*FLOP, FLOP[2]))
    with pytest.raises(InputError, match="no board"):
        small.buckets_on((*FLOP, -1))
    with pytest.raises(InputError, match="1326 weights"):
        bucket_reach(small, np.ones(1000))
    assert np.array_equal(small.pair_equity(Street.TURN), (1 + small.net[1]) / 2)
