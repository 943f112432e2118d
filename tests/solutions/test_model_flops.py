"""A solved model by flop, line and hand class, against sums over combos."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from builders.small_flops import BUCKETED, FLOPS, run_small, small_config
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import POT_SHARES, BettingTree, Player, Street, line_text
from allstreets.betting import find_decision as find_in
from allstreets.cards import HAND_OF_COMBO, hand_combos, hand_pairs, parse_flop, parse_hand
from allstreets.engines.matrix.buckets import BucketCounts, build_bucket_model
from allstreets.solutions import NoNodeError, Row, WholeSolution
from allstreets.storage import board_report, load_flops

KINGS = parse_flop("Ks7d2c").flop


def row_of(result: WholeSolution, flop: str, spr: float) -> Row:
    return result.models.row(result.roots.read(f"spr{spr:g}"), parse_flop(flop).flop)


def find_decision(tree: BettingTree, line: str) -> int:
    return find_in(tree, line, POT_SHARES)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> WholeSolution:
    folder: Path = tmp_path_factory.mktemp("result")
    run_small(folder / "classes", flops=FLOPS[:2], postflop_sprs=[1, 2])
    return load_flops(folder / "classes")


@pytest.fixture(scope="module")
def bucketed(tmp_path_factory: pytest.TempPathFactory) -> WholeSolution:
    folder: Path = tmp_path_factory.mktemp("result")
    run_small(folder / "buckets", **{**BUCKETED, "flops": FLOPS[:1]})
    return load_flops(folder / "buckets")


def test_a_decision_by_class(result: WholeSolution) -> None:
    found = result.at("spr2 | x b75%", "Ks7d2c").decision
    assert found.line == "spr2 | Ks7d2c | x b75%"
    assert (found.street, found.player) == (Street.FLOP, Player.OOP)
    assert (found.pot, found.to_call, found.unit.name) == (1.75, 0.75, "pot")
    assert found.stacks == (2.0, 1.25)
    assert found.actions == ("f", "c", "a")
    assert found.labels == ("fold", "call", "all-in 50 %")
    kept = result.models.view(1, KINGS).strategies
    tree = kept.tree
    node = find_decision(tree, "x b75%")
    np.testing.assert_allclose(found.strategy, kept.at(node))
    np.testing.assert_allclose(found.reach, kept.at(0)[0])
    answer = kept.at(find_decision(tree, "x"))[1]
    pairs = hand_pairs(found.board)
    weights = [
        sum(pairs[own, other] * answer[other] for other in range(169)) * kept.at(0)[0, own]
        for own in range(169)
    ]
    np.testing.assert_allclose(found.own.weights, weights)
    expected = (found.strategy * weights).sum(axis=1) / np.sum(weights)
    np.testing.assert_allclose(found.taken, expected)


def test_evs_are_those_of_the_table(result: WholeSolution) -> None:
    for spr in (1, 2):
        row = row_of(result, "9h8h2c", spr)
        first = result.at(f"spr{spr} | 9h8h2c").decision
        assert first.ev(Player.OOP) == pytest.approx(row["ev_oop"], abs=1e-5)
        assert first.ev(Player.IP) == pytest.approx(row["ev_ip"], abs=1e-5)
        # A player who folds at once wins nothing of the pot, and loses nothing besides.
        facing = result.at(f"spr{spr} | 9h8h2c | x b75%").decision
        np.testing.assert_allclose(facing.action_evs[0][facing.reach > 0], 0.0, atol=1e-12)


def test_ratio_and_flop_stand_in_the_line_or_beside_it(result: WholeSolution) -> None:
    line = "spr2 | Ks7d2c | x b75%"
    found = result.at(line).decision
    for other in (
        result.at(result.with_ratio("x b75%", 2), "Ks7d2c").decision,
        result.at("spr2 | x b75%", "Ks7d2c").decision,
        result.at(result.with_ratio("| Ks7d2c | x b75%", 2)).decision,
        result.at(result.with_ratio("Ks7d2c | x b75%", 2)).decision,
        result.at(result.with_ratio("spr1 | Ks7d2c | x b75%", 2)).decision,
    ):
        assert other.line == line
        np.testing.assert_array_equal(other.strategy, found.strategy)
    assert result.strategy(line, hand="KK") == found.hand("KK").frequencies
    with pytest.raises(InputError, match="the flop is dealt after 'spr2'"):
        _ = result.at("spr2 | x").decision
    with pytest.raises(InputError, match="'hello' begins with neither a ratio nor a flop"):
        _ = result.at("hello | Ks7d2c | x").decision


def test_first_frequencies_are_those_of_the_table(result: WholeSolution) -> None:
    for spr in (1, 2):
        row = row_of(result, "9h8h2c", spr)
        first = result.at(f"spr{spr} | 9h8h2c").decision.taken
        second = result.at(f"spr{spr} | 9h8h2c | x").decision.taken
        assert row["bet_oop"] == pytest.approx(1 - first[0])
        assert row["bet_ip"] == pytest.approx(1 - second[0])


def test_values(result: WholeSolution) -> None:
    values = result.models.pair_values(1, KINGS)
    assert values.shape == (2, 169, 169)
    np.testing.assert_allclose(values[0] + values[1].T, 1.0, atol=1e-6)
    row = row_of(result, "Ks7d2c", 2)
    pairs = hand_pairs(parse_flop("Ks7d2c").flop.cards)
    for player, key in enumerate(("ev_oop", "ev_ip")):
        assert (values[player] * pairs).sum() / pairs.sum() == pytest.approx(row[key], abs=1e-5)
    kings, deuces = parse_hand("KK"), parse_hand("A2o")
    assert values[0][kings, deuces] > 1 > 0 > values[0][deuces, kings]


@pytest.mark.parametrize(
    ("written", "line", "street"),
    [
        ("", "", "flop"),
        ("x x", "x x | * |", "turn"),
        ("x x | * |", "x x | * |", "turn"),
        ("x x x", "x x | * | x", "turn"),
        ("x x | * | x", "x x | * | x", "turn"),
        ("b75% c a", "b75% c | * | a", "turn"),
        ("x x x x", "x x | * | x x | * |", "river"),
        ("x x | * | x x | * | b75%", "x x | * | x x | * | b75%", "river"),
    ],
)
def test_lines_may_leave_the_cards_out(
    result: WholeSolution, written: str, line: str, street: str
) -> None:
    tree = result.models.pot(1).tree
    assert line_text(tree, find_decision(tree, written), notation=POT_SHARES) == line
    found = result.at(f"spr2 | {written}", "Ks7d2c").decision
    whole = f"spr2 | Ks7d2c | {line}" if line else "spr2 | Ks7d2c"
    assert (found.line, found.street.text) == (whole, street)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x x 7h x", "turn and river are averaged over: write . for the card"),
        ("hello", "'hello' is not an action: on the flop OOP may x, b75%"),
        ("b50%", "'b50%' is not offered"),
        ("b75% f", "no player acts there any more"),
        ("x x x x x x", "no player acts there any more"),
    ],
)
def test_bad_lines(result: WholeSolution, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _ = result.at(f"spr2 | {line}", "Ks7d2c").decision


def test_flops_and_ratios_that_are_not_there(result: WholeSolution) -> None:
    with pytest.raises(InputError, match=r"AhKd7s \(AsKh7d but for suits\) is not among the 2 of"):
        result.at("", "AhKd7s")
    with pytest.raises(NoNodeError, match="solved at the SPRs 1, 2: choose one with --spr") as told:
        result.at("x", "Ks7d2c")
    assert told.value.hints == (("SPR 1", "spr1 | Ks7d2c | x"), ("SPR 2", "spr2 | Ks7d2c | x"))
    with pytest.raises(InputError, match="the SPR 3 is not solved here, only 1, 2"):
        result.at("spr3 | Ks7d2c")
    assert result.models.sprs == (1.0, 2.0)


@cache
def buckets_by_hand() -> tuple[list[list[int]], list[NDArray[np.float64]]]:
    """Class → flop buckets of its combos, and the moves to turn and river."""
    flop = small_config().chosen_flops()[0]
    model = build_bucket_model(flop.cards, BucketCounts(6, 12, 15), 1)
    classes: list[list[int]] = [[] for _ in range(169)]
    for combo, bucket in enumerate(model.flop_buckets.tolist()):
        if bucket >= 0:
            classes[HAND_OF_COMBO[combo]].append(bucket)
    return classes, list(model.moves)


@pytest.mark.parametrize("line", ["", "x", "x b75%", "x x", "x b75% c x", "x x x x x"])
def test_a_class_plays_what_its_buckets_play(bucketed: WholeSolution, line: str) -> None:
    """Way by way: every combo, every bucket on the turn and on the river.

    A class that never gets there shows what it would do, its buckets by the cards alone.
    """
    kept = bucketed.models.view(0, KINGS).strategies
    tree = kept.tree
    node = find_decision(tree, line)
    found = bucketed.at(line, "Ks7d2c").decision  # there is one ratio
    path = tree.path_to(node)
    player = tree.player_at(node)
    classes, moves = buckets_by_hand()

    def played(street: int, bucket: int) -> float:
        """The product of his own actions on a street with this bucket."""
        chance = 1.0
        for here, below in pairwise(path):
            if (tree.street[here], tree.player[here]) == (street, player):
                action = tree.children_of(here).tolist().index(below)
                chance *= kept.at(here)[action, bucket]
        return chance

    last = int(tree.street[node])

    def gathered(
        hand: int, chance: Callable[[int, int], float]
    ) -> tuple[NDArray[np.float64], float]:
        """Each action over all ways of a class to the node, and the sum of these ways."""
        mix, reach = np.zeros(len(found.actions)), 0.0
        for first in classes[hand]:
            ways = [(first, chance(1, first) / len(classes[hand]))]
            for street in range(2, last + 1):
                ways = [
                    (after, weight * moves[street - 2][before, after] * chance(street, after))
                    for before, weight in ways
                    for after in range(moves[street - 2].shape[1])
                ]
            for bucket, weight in ways:
                mix += weight * kept.at(node)[:, bucket]
                reach += weight
        return mix, reach

    for hand in (parse_hand("AA"), parse_hand("KQs"), parse_hand("72o"), parse_hand("32s")):
        mix, reach = gathered(hand, played)
        assert found.reach[hand] == pytest.approx(reach, rel=1e-6)
        if reach == 0:
            mix, reach = gathered(hand, lambda *_: 1.0)
        np.testing.assert_allclose(
            found.strategy[:, hand], mix / reach, rtol=2e-7
        )  # moves are kept in 32 bits


def test_hands_that_the_flop_blocks_have_no_strategy(tmp_path: Path) -> None:
    run_small(tmp_path / "trips", flops=["AsAhAd"], iterations=25)
    found = load_flops(tmp_path / "trips").at("", "AcAhAd").decision
    aces = parse_hand("AA")
    assert hand_combos(found.board)[aces] == 0
    assert np.isnan(found.strategy[:, aces]).all()
    assert found.reach[aces] == 0
    assert np.isfinite(found.strategy[:, aces + 1 :]).all()
    assert found.taken.sum() == pytest.approx(1)


def test_a_report_over_flops(result: WholeSolution, bucketed: WholeSolution) -> None:
    told: list[tuple[int, int]] = []
    report = board_report(result, "x", spr=2, progress=lambda *count: told.append(count))
    assert told == [(0, 2), (1, 2), (2, 2)]
    nodes = [result.at("spr2 | x", flop).decision for flop in FLOPS[:2]]
    weights = [row_of(result, flop, 2)["weight"] for flop in FLOPS[:2]]
    mass = [
        weight * float(node.own.weights.sum()) for weight, node in zip(weights, nodes, strict=True)
    ]
    for row, node, own in zip(report.by("board"), nodes, mass, strict=True):
        assert row.share == pytest.approx(own / sum(mass))
        assert row.evs == pytest.approx((node.ev(Player.OOP), node.ev(Player.IP)))
    total = sum(own * node.ev() for own, node in zip(mass, nodes, strict=True)) / sum(mass)
    assert report.total.evs[Player.IP] == pytest.approx(total)
    groups = report.by("category")
    assert sum(row.share * row.evs[Player.IP] for row in groups) == pytest.approx(total)
    with pytest.raises(InputError, match="choose one with --spr"):
        board_report(result, "x")
    assert np.isnan(board_report(bucketed, "x").total.equities).all()  # buckets know none
