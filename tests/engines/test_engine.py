"""Strategies that were set, evaluated as by slow twins; arrays kept elsewhere, and pruning."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.engine_abilities import keep_hands, pair_values
from reference.flop_model import judged, naive_classes
from reference.matrix import NaiveGame, NaiveStage

from allstreets.base import Floats, InputError
from allstreets.betting import Player, PostflopRules, Street, same_sizes
from allstreets.cards import COMBO_CARDS, HAND_COUNT, HAND_OF_COMBO, card_text, hand_pairs
from allstreets.cards.flop_sets import named_flops
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import Schedule, dcfr, linear
from allstreets.engines.card_model import CLASSES, EXACT, CardModel, MemoryMode, Precision
from allstreets.engines.exact.engine import ExactEngine
from allstreets.engines.exact.strategies import average_strategy, set_average_strategy
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.matrix.buckets import BucketCounts, bucket_stages, build_bucket_model
from allstreets.engines.protocol import DropsHands, Engine
from allstreets.engines.spec import EngineSpec
from allstreets.solutions.pot_evaluation import live

FLOPS = named_flops(["7s7h7d", "9s7s2s"]).flops  # on which most runouts are alike
COUNTS = 5, 9, 7
MODELS = {
    "classes": CLASSES,
    "buckets": CardModel("buckets", COUNTS),
    "exact": EXACT,
    "sampled": CardModel("sampled", sample_pct=0.02),
}
BOTH = np.arange(2)


def rules(pot: int, stack: int) -> PostflopRules:
    """Checked, or all-in with the first bet."""
    return PostflopRules(Street.FLOP, pot, stack, same_sizes(Street.FLOP, "a", ""), max_raises=0)


POTS = rules(200, 100), rules(100, 250)


def spec_of(kind: str, flops: int = 2, **others: Any) -> EngineSpec:
    pots = POTS[:1] if kind == "exact" else POTS
    return EngineSpec(pots, FLOPS[: 1 if kind == "exact" else flops], MODELS[kind], **others)


def every_reach(games: Engine, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).random((2, games.pots, HAND_COUNT))


def steps(games: Engine, reach: Floats, schedule: Schedule, pruning: Pruning | None) -> Floats:
    """Three iterations on all flops; the values of the last one, [2, P, F, 169]."""
    flops = np.arange(games.flops)
    for now in schedule.run(1, 3, pruning):
        last = [
            games.step(player, reach[player], reach[player.opponent], flops, [now] * len(flops))
            for player in Player
        ]
    return np.array(last)


def bits(games: Engine) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in games.state().items()}


@pytest.mark.parametrize("kind", ["classes", "buckets"])
@pytest.mark.parametrize("memory", ["memmap", "per_batch"])
def test_where_arrays_are_kept_changes_no_bit(
    kind: str, memory: MemoryMode, tmp_path: Path
) -> None:
    resident = spec_of(kind).build()
    other = spec_of(kind, memory=memory, folder=tmp_path).build()
    reach = every_reach(resident)
    np.testing.assert_array_equal(
        steps(resident, reach, dcfr(), None), steps(other, reach, dcfr(), None)
    )
    for pot in range(2):
        found = pair_values(resident, pot, np.arange(resident.flops))
        np.testing.assert_array_equal(found, pair_values(other, pot, np.arange(other.flops)))


@pytest.mark.parametrize("kind", ["exact", "sampled"])
def test_engines_that_are_resident_say_so(kind: str, tmp_path: Path) -> None:
    elsewhere: tuple[MemoryMode, ...] = "memmap", "per_batch"
    for memory in elsewhere:
        with pytest.raises(InputError, match=f"{kind} games are resident"):
            spec_of(kind, memory=memory, folder=tmp_path).build()
    games = spec_of(kind).build()
    assert not isinstance(games, DropsHands)


@pytest.mark.parametrize(("kind", "schedule"), [("classes", dcfr()), ("sampled", linear())])
def test_pruned_iterations_are_one_step_after_the_other(kind: str, schedule: Schedule) -> None:
    stepped, iterated = (spec_of(kind, threads=2).build() for _ in range(2))
    reach, pruning = every_reach(stepped), Pruning(1, -2e4, 9, 1e9)
    steps(stepped, reach, schedule, pruning)
    every = np.ones((stepped.pots, stepped.flops), np.bool_)
    iterated.iterate(reach, every, schedule.run(1, 3, pruning))
    assert bits(iterated) == bits(stepped)


def any_strategy(generator: np.random.Generator, actions: int, hands: int) -> Floats:
    numbers = generator.random((actions, hands))
    numbers[numbers < 0.2] = 0.0
    numbers[0] += 1e-3
    return np.asarray(numbers / numbers.sum(axis=0))


@cache
def class_stage() -> NaiveStage:
    return naive_classes(FLOPS[0].cards)


def naive_stages(kind: str) -> list[NaiveStage]:
    if kind != "buckets":
        return [class_stage()]
    stages = bucket_stages(build_bucket_model(FLOPS[0].cards, BucketCounts(*COUNTS), 1))
    return [
        NaiveStage(
            tuple(int(street) for street in stage.streets),
            np.outer(stage.combos, stage.combos),
            stage.margin.astype(np.float64),
            None if stage.down is None else stage.down.astype(np.float64),
        )
        for stage in stages
    ]


def play_at_random(kind: str) -> tuple[Engine, NaiveGame]:
    """The first pot on the first flop with strategies that were set, and its slow twin."""
    spec = spec_of(kind, 1)
    games, (tree, results) = spec.build(), spec.trees()[0]
    generator = np.random.default_rng(5)
    played = {}
    for node in tree.decisions():
        hands = games.average(0, 0, node).shape[1]
        played[node] = any_strategy(generator, int(tree.child_count[node]), hands)
        games.set_average(0, 0, node, played[node])
        np.testing.assert_allclose(games.average(0, 0, node), played[node], atol=1e-6)
    return games, judged(tree, results, naive_stages(kind), played)


@pytest.mark.parametrize("kind", ["classes", "sampled"])
def test_strategies_that_were_set_are_evaluated(kind: str) -> None:
    games, slow = play_at_random(kind)
    generator = np.random.default_rng(6)
    opponent_reach = generator.random((games.pots, HAND_COUNT))
    for player in Player:
        for run, best in ((games.best_response, True), (games.evaluate, False)):
            found = run(player, opponent_reach, np.array([0]))[0, 0]
            expected = slow.judge(player, opponent_reach[0], best=best)
            np.testing.assert_allclose(found, expected, atol=3e-5 * np.abs(expected).max())


def test_strategies_of_buckets_that_were_set_are_evaluated() -> None:
    games, slow = play_at_random("buckets")
    model = build_bucket_model(FLOPS[0].cards, BucketCounts(*COUNTS), 1)
    held = np.zeros((HAND_COUNT, len(slow.stages[0].pairs)))
    for combo, bucket in enumerate(model.flop_buckets.tolist()):
        if bucket >= 0:
            held[HAND_OF_COMBO[combo], bucket] += 1
    root = held / held.sum(axis=0)  # of a bucket, the share of each class
    opponent_reach = np.random.default_rng(6).random((games.pots, HAND_COUNT))
    for player in Player:
        for run, best in ((games.best_response, True), (games.evaluate, False)):
            found = run(player, opponent_reach, np.array([0]))[0, 0]
            expected = root @ slow.judge(player, opponent_reach[0] @ root, best=best)
            np.testing.assert_allclose(found, expected, atol=3e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    "precision", ["float32", pytest.param("int16", marks=pytest.mark.thorough)]
)
def test_strategies_of_combos_that_were_set_are_evaluated(precision: Precision) -> None:
    """Combos of a class play alike, and after the flop evenly: the slow game of classes."""
    spec = EngineSpec(POTS[:1], FLOPS[:1], CardModel("exact", precision=precision))
    games, (tree, results) = spec.build(), spec.trees()[0]
    combos, generator, played = live(FLOPS[0]), np.random.default_rng(5), {}
    hands = HAND_OF_COMBO[combos]
    # On this flop three suits are alike, so combos with the same clubs are one hand.
    names = [[card_text(card) for card in COMBO_CARDS[combo].tolist()] for combo in combos]
    keys = [
        f"{hand} {sorted(name for name in pair if name[1] == 'c')}"
        for hand, pair in zip(hands, names, strict=True)
    ]
    clubs = np.unique(keys, return_inverse=True)[1]
    for node in tree.decisions(Street.FLOP):
        by_class = any_strategy(generator, int(tree.child_count[node]), HAND_COUNT)
        # Every combo finds its own again, whatever order the engine keeps them in.
        apart = any_strategy(generator, len(by_class), int(clubs.max()) + 1)[:, clubs]
        games.set_average(0, 0, node, apart)
        np.testing.assert_allclose(games.average(0, 0, node), apart, atol=1e-4)
        games.set_average(0, 0, node, by_class[:, hands])
        np.testing.assert_allclose(games.average(0, 0, node), by_class[:, hands], atol=1e-4)
        played[node] = by_class
    slow = judged(tree, results, [class_stage()], played)
    opponent_reach = generator.random((1, HAND_COUNT))
    for player in Player:
        found = games.evaluate(player, opponent_reach, np.array([0]))[0, 0]
        expected = slow.judge(player, opponent_reach[0], best=False)
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    assert isinstance(games, ExactEngine)
    check_later_streets(games.subgames[0][0])


def check_later_streets(subgame: ExactSubgame) -> None:
    """Strategies of any board are set and read back, combo by combo."""
    tree, generator = subgame.tree, np.random.default_rng(7)
    for level, street in enumerate(subgame.streets):
        for number in (0, len(street.boards) - 1):
            for node in tree.decisions(subgame.levels[level])[:2]:
                hands = HAND_OF_COMBO[street.combos(tree.player_at(node), number)]
                strategy = any_strategy(generator, int(tree.child_count[node]), HAND_COUNT)
                set_average_strategy(subgame, level, number, node, strategy[:, hands])
                found = average_strategy(subgame, level, number, node)
                np.testing.assert_allclose(found, strategy[:, hands], atol=1e-4)


def test_values_of_pairs_where_hands_are_left_out() -> None:
    """Such hands play evenly."""
    games, _ = play_at_random("classes")
    kept = np.ones((2, games.pots, HAND_COUNT), np.bool_)
    kept[Player.OOP, 0, [14, 20, 168]] = False
    keep_hands(games, kept)
    (table,), pairs = pair_values(games, 0, np.array([0])), games.dealt.matrix(0)
    alone = np.zeros((games.pots, HAND_COUNT))
    alone[:, 60] = 1.0
    values = games.evaluate(Player.OOP, alone, np.array([0]))[0, 0]
    there = pairs[:, 60] > 0
    np.testing.assert_allclose(table[there, 60], (values[there] / pairs[there, 60]), atol=0.02)


def test_values_of_pairs_of_buckets_are_those_against_single_hands() -> None:
    """Of classes that lie in one bucket each; card removal counts between the others' combos."""
    games, _ = play_at_random("buckets")
    buckets = build_bucket_model(FLOPS[0].cards, BucketCounts(*COUNTS), 1).flop_buckets
    combos = np.bincount(HAND_OF_COMBO[buckets >= 0], minlength=HAND_COUNT)
    pure = [
        hand
        for hand in range(HAND_COUNT)
        if len({*buckets[np.equal(HAND_OF_COMBO, hand) & (buckets >= 0)].tolist()}) == 1
    ]
    assert len(pure) > 50
    (table,), met = pair_values(games, 0, np.array([0])), hand_pairs(FLOPS[0].cards)
    for hand in pure[::10]:
        alone = np.zeros((games.pots, HAND_COUNT))
        alone[:, hand] = 1.0
        values = games.evaluate(Player.OOP, alone, np.array([0]))[0, 0]
        own = [other for other in pure if met[other, hand] > 0]
        expected = values[own] / combos[own] / combos[hand]
        np.testing.assert_allclose(table[own, hand], expected, atol=0.01)
