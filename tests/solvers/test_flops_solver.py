"""Flops one by one: every card model against a slow recursion over dense matrices."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference.flop_model import judged, naive_classes, set_or_better
from reference.matrix import NaiveGame, NaiveStage

from allstreets.base import InputError
from allstreets.betting import (
    CHIPS_PER_POT,
    ActionKind,
    NodeKind,
    Player,
    Street,
    parse_line,
    same_sizes,
)
from allstreets.cards import (
    COMBO_CARDS,
    HAND_NAMES,
    HAND_OF_COMBO,
    hand_combos,
    hand_pairs,
    parse_hand,
)
from allstreets.cards.flop_sets import FlopSet, named_flops
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import Schedule, dcfr, linear, parse_schedule, tuned
from allstreets.engines.card_model import CLASSES, CardModel
from allstreets.engines.matrix.buckets import BucketCounts, bucket_stages, build_bucket_model
from allstreets.engines.matrix.engine import class_values
from allstreets.engines.matrix.kernels.pair_sums import add_outer_products
from allstreets.engines.protocol import Arrays
from allstreets.engines.quantised import ONE_BYTE, TWO_BYTES, Numbers, PackedStrategies
from allstreets.engines.spec import EngineSpec
from allstreets.games.whole_game import PotGame, pot_at
from allstreets.solvers.flops import FlopsSolver, FlopTargets

ONE, TWO = named_flops(["Ks7d2c"]), named_flops(["Ks7d2c", "9s8s3h:2"])
FLOP = ONE.flops[0]
THRESHOLD = 0.004
COUNTS = (6, 12, 15)
MODELS: dict[str, tuple[CardModel, Schedule, Pruning | None]] = {
    "classes": (CLASSES, tuned(), None),
    "buckets": (CardModel("buckets", COUNTS), tuned(), None),
    "sampled": (CardModel("sampled", sample_pct=0.3), linear(), None),
    "pruned": (CLASSES, dcfr(), Pruning(25, "-1e5*sqrt(t)")),
}


@cache
def small_pot(spr: float = 2.0) -> PotGame:
    return pot_at(spr, same_sizes(Street.FLOP, "75%", "75%"), 1)


def solver_of(
    name: str = "classes",
    targets: FlopTargets | None = None,
    pots: tuple[PotGame, ...] | None = None,
    flops: FlopSet = ONE,
    schedule: Schedule | None = None,
    **others: Any,
) -> FlopsSolver:
    pots = pots or (small_pot(),)
    model, usual, pruning = MODELS[name]
    spec = EngineSpec(tuple(pot.rules for pot in pots), flops.flops, model)
    games = spec.build([(pot.tree, pot.payoffs) for pot in pots])
    targets = targets or FlopTargets(0.0)
    return FlopsSolver(pots, flops, games, schedule or usual, targets, pruning, **others)


def bits(solver: FlopsSolver) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in solver.state().items()}


Result = tuple[dict[str, Any], Arrays]


@cache
def solved(name: str) -> Result:
    solver = solver_of(name, FlopTargets(0.05 if name == "sampled" else THRESHOLD))
    solver.train_batch(400)
    (result,) = solver.results()
    return result


def strategies(name: str, arrays: Arrays, pot: PotGame | None = None) -> PackedStrategies:
    streets = MODELS[name][0].streets
    stored = tuple(arrays[f"strategy.0.{stage}"] for stage in range(len(streets)))
    return PackedStrategies((pot or small_pot()).tree, streets, stored)


@cache
def stage_of(cards: tuple[int, ...]) -> NaiveStage:
    return naive_classes(cards)


@cache
def naive_stages(name: str) -> list[NaiveStage]:
    if name != "buckets":
        return [stage_of(FLOP.cards)]
    stages = bucket_stages(build_bucket_model(FLOP.cards, BucketCounts(*COUNTS), 1))
    return [
        NaiveStage(
            tuple(int(street) for street in stage.streets),
            np.outer(stage.combos, stage.combos),
            stage.margin.astype(np.float64),
            None if stage.down is None else stage.down.astype(np.float64),
        )
        for stage in stages
    ]


def naive_game(
    name: str, arrays: Arrays, stages: list[NaiveStage] | None = None, pot: PotGame | None = None
) -> NaiveGame:
    """A slow game in which both play what is kept of a flop."""
    pot = pot or small_pot()
    kept = strategies(name, arrays, pot)
    played = {node: kept.at(node) for node in pot.tree.decisions()}
    return judged(pot.tree, pot.payoffs, stages or naive_stages(name), played)


@pytest.mark.parametrize("name", MODELS)
def test_a_slow_best_response_finds_the_exploitability_of_what_is_kept(name: str) -> None:
    row, arrays = solved(name)
    game = naive_game(name, arrays)
    pairs = game.stages[0].pairs
    ones = np.ones(len(pairs))
    pots = pairs.sum() * CHIPS_PER_POT
    gains = [game.judge(player, ones, best=True).sum() for player in Player]
    assert sum(gains) / 2 / pots == pytest.approx(row["exploitability"], abs=2e-6)
    assert row["converged"]
    assert row["exploitability"] <= (0.05 if name == "sampled" else THRESHOLD)
    assert row["iterations"] < 400
    assert row["iterations"] % 25 == 0
    values = [0.5 + game.judge(player, ones, best=False).sum() / pots for player in Player]
    assert [row["ev_oop"], row["ev_ip"]] == pytest.approx(values, abs=1e-5)
    assert row["ev_oop"] + row["ev_ip"] == pytest.approx(1.0, abs=1e-12)


def test_ranges_that_are_given_are_those_that_play() -> None:
    """On two flops and at two pots at once, against a slow best response for the same ranges."""
    generator = np.random.default_rng(8)
    reach = generator.random((2, 2, 169)) * (generator.random((2, 2, 169)) < 0.4)
    pots = small_pot(), small_pot(0.5)
    solver = solver_of(pots=pots, flops=TWO, reach=reach)
    solver.train_batch(30)
    results = iter(solver.results())
    for flop in TWO.flops:
        for number, pot in enumerate(pots):
            row, arrays = next(results)
            assert (row["flop"], row["spr"]) == (flop.text, pot.pot.spr)
            game = naive_game("classes", arrays, [stage_of(flop.cards)], pot)
            oop, ip = reach[:, number]
            at_stake = float(oop @ game.stages[0].pairs @ ip) * CHIPS_PER_POT
            best = oop @ game.judge(Player.OOP, ip, best=True)
            best += ip @ game.judge(Player.IP, oop, best=True)
            assert row["exploitability"] == pytest.approx(best / 2 / at_stake, abs=2e-6)
            value = oop @ game.judge(Player.OOP, ip, best=False) / at_stake
            assert row["ev_oop"] == pytest.approx(0.5 + value, abs=1e-5)
            found, expected = arrays["values"][1, 0], game.judge(Player.IP, oop, best=False)
            np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())
    everyone = solver_of(pots=pots, flops=TWO)
    everyone.train_batch(30)
    assert not np.allclose(everyone.mean_exploitability(), solver.mean_exploitability())


def test_ranges_that_never_meet_are_solved_at_once() -> None:
    """Both players hold nothing but the same pair of aces, and the flop has two of them."""
    reach = np.zeros((2, 1, 169))
    reach[:, 0, parse_hand("AA")] = 1.0
    solver = solver_of(flops=named_flops(["AsAhKd"]), reach=reach)
    solver.train_batch(25)
    ((row, _),) = solver.results()
    assert (row["exploitability"], row["converged"], row["bet_oop"]) == (0.0, True, 0.0)
    assert (row["ev_oop"], row["ev_ip"]) == (0.5, 0.5)
    assert solver.positive_regrets()[0, 0] == solver.mean_exploitability()[0] == 0.0


@pytest.mark.parametrize("name", ["classes", "sampled"])
def test_values_of_pairs_of_hands(name: str) -> None:
    row, arrays = solved(name)
    found = arrays["pair_values"]
    game = naive_game(name, arrays)
    pairs = game.stages[0].pairs
    for text in ("AA", "77", "KQs", "32o"):
        hand = parse_hand(text)
        alone = np.zeros(169)
        alone[hand] = 1.0
        against, met = game.judge(Player.OOP, alone, best=False), pairs[:, hand] > 0
        chips = against[met] / pairs[met, hand]
        np.testing.assert_allclose(found[met, hand], chips, atol=2e-5 * CHIPS_PER_POT)
        own, met = game.judge(Player.IP, alone, best=False), pairs[hand] > 0
        chips = own[met] / pairs[hand, met]
        np.testing.assert_allclose(-found[hand, met], chips, atol=2e-5 * CHIPS_PER_POT)
    mean = (found * pairs).sum() / pairs.sum() / CHIPS_PER_POT
    assert 0.5 + mean == pytest.approx(row["ev_oop"], abs=1e-5)


def test_hands_that_cannot_meet_win_nothing() -> None:
    solver = solver_of(flops=named_flops(["AsAhAd"]))
    solver.train_batch(25)
    ((row, arrays),) = solver.results()
    found = arrays["pair_values"]
    assert (found[parse_hand("AA")] == 0).all()
    assert np.isfinite(found).all()
    assert not row["converged"]


def test_values_of_buckets_are_means_over_combos() -> None:
    model = build_bucket_model(FLOP.cards, BucketCounts(*COUNTS), 1)
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
    assert (found[~met] == 0).all()


def test_bucketed_values_are_those_of_the_bucket_game() -> None:
    _, arrays = solved("buckets")
    game = naive_game("buckets", arrays)
    pairs = game.stages[0].pairs
    of_buckets = np.zeros_like(pairs)
    for hand in range(len(pairs)):
        alone = np.zeros(len(pairs))
        alone[hand] = 1.0
        of_buckets[:, hand] = game.judge(Player.OOP, alone, best=False) / pairs[:, hand]
    model = build_bucket_model(FLOP.cards, BucketCounts(*COUNTS), 1)
    expected = class_values(model.flop_buckets, of_buckets)
    np.testing.assert_allclose(arrays["pair_values"], expected, atol=2e-5 * CHIPS_PER_POT)


@pytest.mark.parametrize("name", MODELS)
def test_how_a_run_is_cut_changes_nothing(name: str) -> None:
    pots = small_pot(), small_pot(0.5)
    whole, parts = (solver_of(name, pots=pots, flops=TWO) for _ in range(2))
    whole.train_batch(54)
    for count in (7, 18, 3, 26):
        parts.train_batch(count)
    assert bits(whole) == bits(parts)
    assert whole.iterations == parts.iterations == 54


@pytest.mark.parametrize("name", ["classes", "sampled", "pruned"])
def test_a_restored_run_goes_on_bit_for_bit(name: str) -> None:
    """In the middle of a check interval, one pot solved and the others in work."""
    pots, targets = (small_pot(), small_pot(0.25)), FlopTargets(0.01, check_interval=10)
    whole, begun, resumed = (solver_of(name, targets, pots, TWO) for _ in range(3))
    whole.train_batch(60)
    begun.train_batch(33)
    resumed.train_batch(4)  # what was there before must not matter
    resumed.restore({key: array.copy() for key, array in begun.state().items()})
    assert resumed.identity == begun.identity
    resumed.train_batch(27)
    assert bits(resumed) == bits(whole)
    assert (resumed.metrics(), resumed.iterations) == (whole.metrics(), whole.iterations)
    if name == "classes":
        assert begun.solved.any()
        assert begun.in_work.any()


def test_a_checkpoint_of_other_ranges_or_targets_is_another_run() -> None:
    half = np.full((2, 1, 169), 0.5)
    runs = [
        solver_of(),
        solver_of(reach=half),
        solver_of(targets=FlopTargets(0.01)),
        solver_of(flops=TWO),
        solver_of(pots=(small_pot(0.5),)),
        solver_of("sampled"),
        solver_of("pruned"),
    ]
    assert len({repr(run.identity) for run in runs}) == len(runs)
    assert solver_of(reach=np.ones((2, 1, 169))).identity == runs[0].identity


def test_a_solved_pot_leaves_the_work_while_others_go_on() -> None:
    """Each of them is solved as if it were alone."""
    pots = small_pot(), small_pot(0.25)
    together = solver_of(targets=FlopTargets(0.01, check_interval=10), pots=pots, flops=TWO)
    seen: list[int] = []

    def note(_: int) -> bool:
        seen.append(int(together.solved.sum()))
        return False

    together.train_batch(400, note)
    assert together.solved.all()
    assert seen == sorted(seen)
    assert len({*together.trained_for.reshape(-1).tolist()}) > 1
    assert together.iterations == together.trained_for.max() < 400
    results = iter(together.results())
    for place in range(2):
        for pot in pots:
            flops = replace(TWO, flops=TWO.flops[place : place + 1], weights=np.ones(1))
            alone = solver_of(
                targets=FlopTargets(0.01, check_interval=10), pots=(pot,), flops=flops
            )
            alone.train_batch(400)
            (expected, kept), (row, arrays) = alone.results()[0], next(results)
            assert arrays.keys() == kept.keys()
            for name, array in kept.items():
                np.testing.assert_array_equal(arrays[name], array)
            assert row == expected


def test_checks_of_a_run() -> None:
    solver = solver_of(targets=FlopTargets(0.0, check_interval=25))
    seen: dict[int, float] = {}

    def note(iteration: int) -> bool:
        seen[iteration] = float(solver.exploitability_by_flop[0, 0])
        return iteration == 75

    solver.train_batch(60, note)
    assert list(seen) == sorted(seen)
    assert seen.keys() >= {25, 50, 60}  # and others in between, as fast as it goes
    assert seen[50] == seen[60] < seen[25]
    assert solver.metrics().exploitability == 100 * seen[50]
    solver.train_batch(100, note)
    assert solver.iterations == 75  # the callback stops it
    assert solver.exploitability_by_flop[0, 0] < seen[50]


def test_metrics_are_means_over_pots_and_flops() -> None:
    pots = small_pot(), small_pot(0.5)
    solver = solver_of(pots=pots, flops=TWO, targets=FlopTargets(0.0, check_interval=10))
    first = solver.metrics()
    solver.train_batch(10)
    metrics, found = solver.metrics(), solver.exploitability_by_flop
    by_flop = found @ TWO.weights / TWO.weights.sum()
    assert metrics.exploitability == pytest.approx(100 * by_flop.mean())
    assert first.exploitability is not None
    assert metrics.exploitability is not None
    assert first.exploitability > metrics.exploitability
    np.testing.assert_allclose(solver.mean_exploitability(), by_flop, rtol=1e-6)
    assert solver.metrics(exploitability=False).exploitability is None
    # Before the first check the mean is computed, by the same weights.
    again = solver_of(pots=pots, flops=TWO)
    again.train_batch(10)
    assert again.metrics().exploitability == pytest.approx(metrics.exploitability)


def test_average_positive_regret_is_a_stop_rule_of_its_own() -> None:
    long, stopped = solver_of(), solver_of(targets=FlopTargets(0.0, regret=0.002))
    for solver in (long, stopped):
        solver.train_batch(200)
    assert stopped.solved.all()
    assert stopped.iterations < 200
    assert long.positive_regrets()[0, 0] < stopped.positive_regrets()[0, 0] <= 0.002
    assert stopped.avg_positive_regret == pytest.approx(100 * stopped.positive_regrets()[0, 0])


@pytest.mark.parametrize("schedule", ["vanilla", "dcfr"])
def test_average_positive_regret_by_its_definition(schedule: str) -> None:
    """Regrets of the slow game, by hand: in pots, divided by actions and by what weights sum to."""
    iterations = 4
    small, plan = small_pot(), parse_schedule(schedule)
    solver = solver_of(schedule=plan)
    solver.train_batch(iterations)
    slow = NaiveGame(small.tree, small.payoffs, naive_stages("classes"))
    weight = 0.0
    for number in range(1, iterations + 1):
        now = plan.at(number)
        for player in Player:
            slow.step(player, np.ones(169), (now.positive, now.negative, now.average, now.weight))
        weight = weight * now.positive + 1
    positive = sum(float(np.maximum(part, 0).sum()) for part in slow.regrets.values())
    actions = sum(len(part) for part in slow.regrets.values())
    expected = positive / slow.stages[0].pairs.sum() / CHIPS_PER_POT / actions / weight
    assert solver.positive_regrets()[0, 0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("ends", [0, 3, 4, 11])
def test_sums_of_outer_products(ends: int) -> None:
    """Four ends at a time, and what is left."""
    generator = np.random.default_rng(2)
    own, other = generator.random((ends, 5)), generator.random((ends, 9))
    own[own < 0.3] = 0.0
    factors, sums = generator.normal(size=ends), generator.random((5, 9))
    expected = sums + np.einsum("t,tr,tc->rc", factors, own, other)
    add_outer_products(own, other, factors, sums)
    np.testing.assert_allclose(sums, expected)


@pytest.mark.parametrize(("iterations", "numbers"), [(50, ONE_BYTE), (2000, TWO_BYTES)])
def test_strategies_are_kept_as_finely_as_they_were_trained(
    iterations: int, numbers: Numbers
) -> None:
    solver = solver_of(targets=FlopTargets(0.0, check_interval=iterations))
    solver.train_batch(iterations)
    trained = float(solver.exploitability_by_flop[0, 0])
    ((row, arrays),) = solver.results()
    assert arrays["strategy.0.0"].dtype == numbers
    assert row["exploitability"] == pytest.approx(trained, rel=0.05)


def test_strategies_stand_where_they_are_looked_for() -> None:
    """Other streets, other numbers of hands: every decision finds its own rows."""
    tree = small_pot().tree
    streets = ((Street.FLOP,), (Street.TURN, Street.RIVER))
    generator = np.random.default_rng(1)
    averages = []
    for node in tree.decisions():
        hands = 4 if tree.street[node] == Street.FLOP else 7
        averages.append(generator.dirichlet(np.ones(int(tree.child_count[node])), hands).T)
    packed = PackedStrategies.pack(tree, streets, averages)
    for node, average in zip(tree.decisions(), averages, strict=True):
        np.testing.assert_allclose(packed.at(node), average, atol=1e-4)


def test_bet_frequencies_by_hand() -> None:
    (row, arrays), pairs = solved("classes"), hand_pairs(FLOP.cards)
    tree, kept = small_pot().tree, strategies("classes", arrays)
    opening, answer = kept.at(0), kept.at(int(tree.children_of(0)[0]))
    bets = [0.0, 0.0]
    total = [0.0, 0.0]
    for own in range(169):
        for other in range(169):
            bets[0] += pairs[own, other] * (1 - opening[0, own])
            total[0] += pairs[own, other]
            bets[1] += pairs[own, other] * opening[0, own] * (1 - answer[0, other])
            total[1] += pairs[own, other] * opening[0, own]
    expected = bets[0] / total[0], bets[1] / total[1]
    assert (row["bet_oop"], row["bet_ip"]) == pytest.approx(expected)


def test_the_sound_rule_of_pruning_is_refused_with_advice() -> None:
    with pytest.raises(InputError, match="prune_threshold"):
        FlopsSolver([small_pot()], ONE, solver_of().engine, dcfr(), pruning=Pruning(5))
    games, clipping = solver_of().engine, parse_schedule("cfr+")
    with pytest.raises(InputError, match="clips regrets at 0, so there are no negative"):
        FlopsSolver([small_pot()], ONE, games, clipping, pruning=Pruning(5, -100.0))


def test_stacks_that_cannot_be_played() -> None:
    for spr in (0.0, -1.0, 0.0001, 5000.0):
        with pytest.raises(InputError, match="SPR"):
            pot_at(spr)


# What a player would say of a solution.


@cache
def real_pot() -> PotGame:
    return pot_at(1.0, same_sizes(Street.FLOP, "50%,a", "a"), 1)


@cache
def real() -> PackedStrategies:
    solver = solver_of(targets=FlopTargets(0.0005), pots=(real_pot(),))
    solver.train_batch(1000)
    ((_, arrays),) = solver.results()
    return strategies("classes", arrays, real_pot())


def folds(node: int) -> bool:
    actions = real_pot().tree.actions_at(node)
    return bool(actions[0].kind == ActionKind.FOLD)


def test_nobody_folds_the_nuts() -> None:
    kings = parse_hand("KK")
    for node in real_pot().tree.decisions():
        if folds(node):
            assert real().at(node)[0, kings] < 0.01


def test_sets_and_better_never_fold_on_the_flop() -> None:
    strong = [hand for hand in range(169) if set_or_better(FLOP.cards, hand)]
    assert [HAND_NAMES[hand] for hand in strong] == ["KK", "77", "22"]
    tree = real_pot().tree
    nodes = [node for node in tree.decisions() if folds(node) and tree.street[node] == Street.FLOP]
    assert nodes
    for node in nodes:
        assert real().at(node)[0, strong].max() < 0.01


def reaches(node: int) -> list[NDArray[np.float64]]:
    """[169] of both players: the product of their own actions on the way."""
    tree = real_pot().tree
    found = [np.ones(169), np.ones(169)]
    path = tree.path_to(node)
    for here, below in pairwise(path):
        if tree.kind[here] == NodeKind.DECISION:
            action = list(tree.children_of(here)).index(below)
            found[tree.player_at(here)] *= real().at(here)[action]
    return found


def test_a_river_all_in_is_called_by_the_odds() -> None:
    tree, stage = real_pot().tree, naive_stages("classes")[0]
    line = "x x | * | x x | * | a"
    node = parse_line(tree, line, any_card=True).node
    bettor, caller = reaches(node)
    price = int(tree.invested[node].max())
    pot = CHIPS_PER_POT + price
    shares = (stage.pairs + stage.margin) / 2  # row's pairs times equity
    met = stage.pairs @ bettor
    equity = np.divide(shares @ bettor, met, out=np.zeros(169), where=met > 0)
    odds = price / (pot + price)
    call = real().at(node)[1]
    assert bettor @ stage.pairs @ caller / stage.pairs.sum() > 1e-3  # the node matters
    held = (caller > 0.05) & (met > 0)
    clear_folds, clear_calls = held & (equity < odds - 0.05), held & (equity > odds + 0.05)
    assert clear_folds.sum() > 10
    assert clear_calls.sum() > 3
    assert call[clear_folds].max() < 0.05
    assert call[clear_calls].min() > 0.95


def test_betting_ranges_hold_bluffs() -> None:
    pairs, stage = hand_pairs(FLOP.cards), naive_stages("classes")[0]
    equity = 0.5 + stage.margin.sum(axis=1) / np.maximum(pairs.sum(axis=1), 1) / 2
    held = hand_combos(FLOP.cards) > 0
    weakest = held & (equity <= np.quantile(equity[held], 0.25))
    tree = real_pot().tree
    for line in ("", "x x | * | x x | * | x"):
        node = parse_line(tree, line, any_card=True).node
        bets = 1 - real().at(node)[0]
        assert bets[weakest].max() > 0.1
        assert bets[held & ~weakest].min() < 0.1  # and not everything bets
