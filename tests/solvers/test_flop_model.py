"""Flops solved by every model, judged by a slow recursion over dense matrices."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from reference.flop_model import judged, naive_classes, set_or_better
from reference.matrix import NaiveGame, NaiveStage

from allstreets.base import InputError
from allstreets.betting import ActionKind, NodeKind, Player, Street, parse_line, same_sizes
from allstreets.cards import (
    COMBO_CARDS,
    HAND_NAMES,
    HAND_OF_COMBO,
    hand_combos,
    hand_pairs,
    parse_flop,
    parse_hand,
)
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import dcfr, linear, parse_schedule
from allstreets.kernels.pair_sums import add_outer_products
from allstreets.solvers.flops import model as flop_model
from allstreets.solvers.flops import values as flop_values
from allstreets.solvers.flops.game import POT, FlopGame, flop_game
from allstreets.solvers.flops.model import (
    FlopEnds,
    FlopModel,
    FlopProgress,
    FlopResult,
    FlopSolver,
    solve_flop,
)
from allstreets.solvers.flops.strategies import (
    ONE_BYTE,
    TWO_BYTES,
    FlopStrategies,
    Numbers,
    decisions,
)
from allstreets.solvers.flops.values import class_values, single_stage_values
from allstreets.subgames.buckets import BucketCounts, bucket_stages, build_bucket_model

FLOP = parse_flop("Ks7d2c").flop
THRESHOLD = 0.004
BUCKETS = BucketCounts(6, 12, 15)
MODELS = {
    "exhaustive": FlopModel("exhaustive"),
    "bucketed": FlopModel("bucketed", buckets=BUCKETS),
    "mccfr": FlopModel("mccfr", schedule=linear(), sample_pct=0.3),
    "pruned": FlopModel(schedule=dcfr(), pruning=Pruning(25, "-1e5*sqrt(t)")),
}


@cache
def small_game() -> FlopGame:
    return flop_game(2.0, same_sizes(Street.FLOP, "75%", "75%"), 1)


@cache
def solved(name: str) -> FlopResult:
    threshold = 0.05 if name == "mccfr" else THRESHOLD
    return solve_flop(FLOP, small_game(), MODELS[name], FlopEnds(400, threshold))


@cache
def naive_stages(name: str) -> list[NaiveStage]:
    if name != "bucketed":
        return [naive_classes(FLOP.cards)]
    stages = bucket_stages(build_bucket_model(FLOP.cards, BUCKETS, 1))
    return [
        NaiveStage(
            tuple(int(street) for street in stage.streets),
            np.outer(stage.combos, stage.combos),
            stage.margin.astype(np.float64),
            None if stage.down is None else stage.down.astype(np.float64),
        )
        for stage in stages
    ]


def naive_game(name: str, result: FlopResult) -> NaiveGame:
    kept = {node: result.strategies.at(node) for node in decisions(small_game().tree)}
    game = small_game()
    return judged(game.tree, game.payoffs, naive_stages(name), kept)


@pytest.mark.parametrize("name", MODELS)
def test_a_slow_best_response_finds_the_exploitability_that_is_told(name: str) -> None:
    result = solved(name)
    game = naive_game(name, result)
    pairs = game.stages[0].pairs
    ones = np.ones(len(pairs))
    pots = pairs.sum() * POT
    gains = [game.judge(player, ones, best=True).sum() for player in Player]
    assert sum(gains) / 2 / pots == pytest.approx(result.exploitability, abs=2e-6)
    assert result.converged
    assert result.exploitability <= (0.05 if name == "mccfr" else THRESHOLD)
    assert result.iterations < 400
    assert result.iterations % 25 == 0
    values = [0.5 + game.judge(player, ones, best=False).sum() / pots for player in Player]
    assert result.evs == pytest.approx(values, abs=1e-5)
    assert sum(result.evs) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", ["exhaustive", "mccfr"])
def test_values_of_pairs_of_hands(name: str) -> None:
    result = solved(name)
    game = naive_game(name, result)
    pairs = game.stages[0].pairs
    for text in ("AA", "77", "KQs", "32o"):
        hand = parse_hand(text)
        alone = np.zeros(169)
        alone[hand] = 1.0
        against, met = game.judge(Player.OOP, alone, best=False), pairs[:, hand] > 0
        shares = 0.5 + against[met] / pairs[met, hand] / POT
        np.testing.assert_allclose(result.values[met, hand], shares, atol=2e-5)
        own, met = game.judge(Player.IP, alone, best=False), pairs[hand] > 0
        shares = 0.5 + own[met] / pairs[hand, met] / POT
        np.testing.assert_allclose(1.0 - result.values[hand, met], shares, atol=2e-5)
    assert (result.values * pairs).sum() / pairs.sum() == pytest.approx(result.evs[0], abs=1e-5)


def test_hands_that_cannot_meet_have_an_even_value() -> None:
    flop = parse_flop("AsAhAd").flop
    result = solve_flop(flop, small_game(), ends=FlopEnds(25, 0.0))
    aces = parse_hand("AA")
    assert (result.values[aces] == 0.5).all()
    assert np.isfinite(result.values).all()
    assert not result.converged


def test_values_of_buckets_are_means_over_combos() -> None:
    model = build_bucket_model(FLOP.cards, BUCKETS, 1)
    generator = np.random.default_rng(3)
    of_buckets = generator.random((6, 6))
    found = class_values(model.flop_buckets, of_buckets)
    for own, other in (("AA", "KK"), ("QQ", "QQ"), ("KK", "KQs"), ("98s", "98s"), ("72o", "A2o")):
        row, column = parse_hand(own), parse_hand(other)
        values = [
            of_buckets[model.flop_buckets[first], model.flop_buckets[second]]
            for first in np.flatnonzero(np.equal(HAND_OF_COMBO, row))
            for second in np.flatnonzero(np.equal(HAND_OF_COMBO, column))
            if len({*COMBO_CARDS[first], *COMBO_CARDS[second], *FLOP.cards}) == 7
        ]
        assert found[row, column] == pytest.approx(np.mean(values))
    met = hand_pairs(FLOP.cards) > 0
    assert (found[~met] == 0.5).all()


def test_bucketed_values_are_those_of_the_bucket_game() -> None:
    result = solved("bucketed")
    game = naive_game("bucketed", result)
    pairs = game.stages[0].pairs
    of_buckets = np.full_like(pairs, 0.5)
    for hand in range(len(pairs)):
        alone = np.zeros(len(pairs))
        alone[hand] = 1.0
        of_buckets[:, hand] += game.judge(Player.OOP, alone, best=False) / pairs[:, hand] / POT
    assert result.flop_buckets is not None
    expected = class_values(result.flop_buckets, of_buckets)
    np.testing.assert_allclose(result.values, expected, atol=2e-5)


@pytest.mark.parametrize("name", MODELS)
def test_how_a_run_is_cut_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for tick in (1e-9, 10.0):
        monkeypatch.setattr(flop_model, "TICK_SECONDS", tick)
        results.append(solve_flop(FLOP, small_game(), MODELS[name], FlopEnds(50, 0.0)))
    one, other = results
    for left, right in zip(one.strategies.stored, other.strategies.stored, strict=True):
        np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(one.values, other.values)
    assert one.exploitability == other.exploitability


def test_progress_of_a_run() -> None:
    solver = FlopSolver(FLOP, small_game(), FlopModel())
    records = list(solver.run(FlopEnds(60, 0.0, check_interval=25)))
    assert all(isinstance(record, FlopProgress) for record in records)
    assert [record.iteration for record in records] == sorted(r.iteration for r in records)
    assert (records[-1].iteration, records[-1].total) == (60, 60)
    checks = {r.iteration: r.exploitability for r in records if r.exploitability is not None}
    assert {25, 50, 60} <= set(checks)
    assert checks[60] < checks[25]


def test_a_run_that_is_not_done_has_no_result() -> None:
    solver = FlopSolver(FLOP, small_game(), FlopModel())
    next(solver.run(FlopEnds()))
    with pytest.raises(RuntimeError, match="not solved yet"):
        solver.result()


def test_average_positive_regret_is_a_stop_rule_of_its_own() -> None:
    long = solve_flop(FLOP, small_game(), ends=FlopEnds(200, 0.0))
    stopped = solve_flop(FLOP, small_game(), ends=FlopEnds(200, 0.0, regret=0.002))
    assert stopped.converged
    assert stopped.iterations < 200
    assert long.avg_positive_regret < stopped.avg_positive_regret <= 0.002


@pytest.mark.parametrize("schedule", ["vanilla", "dcfr"])
def test_average_positive_regret_by_its_definition(schedule: str) -> None:
    """Regrets of the slow game, by hand: in pots, divided by actions and by what weights sum to."""
    iterations = 4
    small, plan = small_game(), parse_schedule(schedule)
    solver = FlopSolver(FLOP, small, FlopModel(schedule=plan))
    for _ in solver.run(FlopEnds(iterations, 0.0)):
        pass
    slow = NaiveGame(small.tree, small.payoffs, naive_stages("exhaustive"))
    weight = 0.0
    for number in range(1, iterations + 1):
        now = plan.at(number)
        for player in Player:
            slow.step(player, np.ones(169), (now.positive, now.negative, now.average, now.weight))
        weight = weight * now.positive + 1
    positive = sum(float(np.maximum(part, 0).sum()) for part in slow.regrets.values())
    actions = sum(len(part) for part in slow.regrets.values())
    expected = positive / slow.stages[0].pairs.sum() / POT / actions / weight
    assert solver.avg_positive_regret() == pytest.approx(expected, rel=1e-3)


def test_sums_of_outer_products() -> None:
    generator = np.random.default_rng(2)
    own, other = generator.random((7, 5)), generator.random((7, 9))
    own[own < 0.3] = 0.0
    factors, sums = generator.normal(size=7), generator.random((5, 9))
    expected = sums + np.einsum("t,tr,tc->rc", factors, own, other)
    add_outer_products(own, other, factors, sums)
    np.testing.assert_allclose(sums, expected)


@pytest.mark.parametrize("ends_at_once", [1, 7, 10_000])
def test_values_do_not_depend_on_how_ends_are_gathered(
    ends_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, game = solved("exhaustive"), small_game()
    stage = naive_stages("exhaustive")[0]
    monkeypatch.setattr(flop_values, "ENDS_AT_ONCE", ends_at_once)
    margin = stage.margin.astype(np.float32)
    found = single_stage_values(result.strategies, game.payoffs, stage.pairs, margin)
    np.testing.assert_allclose(found, result.values, atol=1e-6)


@pytest.mark.parametrize(("iterations", "numbers"), [(50, ONE_BYTE), (2000, TWO_BYTES)])
def test_strategies_are_kept_as_finely_as_they_were_trained(
    iterations: int, numbers: Numbers
) -> None:
    solver = FlopSolver(FLOP, small_game(), FlopModel())
    records = list(solver.run(FlopEnds(iterations, 0.0, check_interval=iterations)))
    trained, result = records[-1].exploitability, solver.result()
    assert trained is not None
    assert {stored.dtype for stored in result.strategies.stored} == {numbers}
    assert result.exploitability == pytest.approx(trained, rel=0.05)


def test_strategies_stand_where_they_are_looked_for() -> None:
    """Other streets, other numbers of hands: every decision finds its own rows."""
    tree = small_game().tree
    streets = ((Street.FLOP,), (Street.TURN, Street.RIVER))
    generator = np.random.default_rng(1)
    averages = []
    for node in decisions(tree):
        hands = 4 if tree.street[node] == Street.FLOP else 7
        averages.append(generator.dirichlet(np.ones(int(tree.child_count[node])), hands).T)
    packed = FlopStrategies.pack(tree, streets, averages)
    for node, average in zip(decisions(tree), averages, strict=True):
        np.testing.assert_allclose(packed.at(node), average, atol=1e-4)


def test_bet_frequencies_by_hand() -> None:
    result, pairs = solved("exhaustive"), hand_pairs(FLOP.cards)
    tree = small_game().tree
    opening, answer = result.strategies.at(0), result.strategies.at(int(tree.children_of(0)[0]))
    bets = [0.0, 0.0]
    total = [0.0, 0.0]
    for own in range(169):
        for other in range(169):
            bets[0] += pairs[own, other] * (1 - opening[0, own])
            total[0] += pairs[own, other]
            bets[1] += pairs[own, other] * opening[0, own] * (1 - answer[0, other])
            total[1] += pairs[own, other] * opening[0, own]
    assert result.bets == pytest.approx((bets[0] / total[0], bets[1] / total[1]))


def test_stacks_that_cannot_be_played() -> None:
    for spr in (0.0, -1.0, 0.0001, 5000.0):
        with pytest.raises(InputError, match="SPR"):
            flop_game(spr)


# What a player would say of a solution.


@cache
def real_game() -> FlopGame:
    return flop_game(1.0, same_sizes(Street.FLOP, "50%,a", "a"), 1)


@cache
def real() -> FlopResult:
    return solve_flop(FLOP, real_game(), ends=FlopEnds(1000, 0.0005))


def folds(node: int) -> bool:
    actions = real_game().tree.actions_at(node)
    return actions[0].kind == ActionKind.FOLD


def test_nobody_folds_the_nuts() -> None:
    kings = parse_hand("KK")
    for node in decisions(real_game().tree):
        if folds(node):
            assert real().strategies.at(node)[0, kings] < 0.01


def test_sets_and_better_never_fold_on_the_flop() -> None:
    strong = [hand for hand in range(169) if set_or_better(FLOP.cards, hand)]
    assert [HAND_NAMES[hand] for hand in strong] == ["KK", "77", "22"]
    tree = real_game().tree
    nodes = [node for node in decisions(tree) if folds(node) and tree.street[node] == Street.FLOP]
    assert nodes
    for node in nodes:
        assert real().strategies.at(node)[0, strong].max() < 0.01


def reaches(node: int) -> list[NDArray[np.float64]]:
    """[169] of both players: the product of their own actions on the way."""
    tree = real_game().tree
    found = [np.ones(169), np.ones(169)]
    path = tree.path_to(node)
    for here, below in pairwise(path):
        if tree.kind[here] == NodeKind.DECISION:
            action = list(tree.children_of(here)).index(below)
            found[tree.player_at(here)] *= real().strategies.at(here)[action]
    return found


def test_a_river_all_in_is_called_by_the_odds() -> None:
    tree, stage = real_game().tree, naive_stages("exhaustive")[0]
    line = "x x | * | x x | * | a"
    node = parse_line(tree, line, any_card=True).node
    bettor, caller = reaches(node)
    price = int(tree.invested[node].max())
    pot = POT + price
    shares = (stage.pairs + stage.margin) / 2  # row's pairs times equity
    met = stage.pairs @ bettor
    equity = np.divide(shares @ bettor, met, out=np.zeros(169), where=met > 0)
    odds = price / (pot + price)
    call = real().strategies.at(node)[1]
    assert bettor @ stage.pairs @ caller / stage.pairs.sum() > 1e-3  # the node matters
    held = (caller > 0.05) & (met > 0)
    clear_folds, clear_calls = held & (equity < odds - 0.05), held & (equity > odds + 0.05)
    assert clear_folds.sum() > 10
    assert clear_calls.sum() > 3
    assert call[clear_folds].max() < 0.05
    assert call[clear_calls].min() > 0.95


def test_betting_ranges_hold_bluffs() -> None:
    pairs, stage = hand_pairs(FLOP.cards), naive_stages("exhaustive")[0]
    equity = 0.5 + stage.margin.sum(axis=1) / np.maximum(pairs.sum(axis=1), 1) / 2
    held = hand_combos(FLOP.cards) > 0
    weakest = held & (equity <= np.quantile(equity[held], 0.25))
    tree = real_game().tree
    for line in ("", "x x | * | x x | * | x"):
        node = parse_line(tree, line, any_card=True).node
        bets = 1 - real().strategies.at(node)[0]
        assert bets[weakest].max() > 0.1
        assert bets[held & ~weakest].min() < 0.1  # and not everything bets
