"""Engines of every card model behind one protocol: built anywhere, and each alike."""

import pickle
from dataclasses import replace
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
from allstreets.engines.quantised import ONE_BYTE, Numbers, PackedStrategies
from allstreets.engines.spec import EngineSpec
from allstreets.engines.subgames import flop_key
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


@pytest.mark.parametrize("kind", MODELS)
def test_a_spec_that_was_sent_elsewhere_builds_the_same_engine(kind: str) -> None:
    spec = spec_of(kind)
    sent = pickle.loads(pickle.dumps(spec))
    assert sent == spec
    assert len(pickle.dumps(spec)) < 5000
    here, there = spec.build(), sent.build()
    assert (here.model, here.pots, here.flops) == (spec.model, len(spec.pots), len(spec.flops))
    reach = every_reach(here)
    np.testing.assert_array_equal(
        steps(here, reach, dcfr(), None), steps(there, reach, dcfr(), None)
    )
    assert bits(here) == bits(there)
    weights = np.ones(here.flops)
    np.testing.assert_array_equal(here.dealt.sum(weights), spec.dealt().sum(weights))
    for player in Player:
        one, two = (
            games.evaluate(player, reach[player.opponent], np.arange(games.flops))
            for games in (here, there)
        )
        np.testing.assert_array_equal(one, two)


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


def test_a_part_of_the_flops_is_the_same_spec_with_fewer() -> None:
    spec = spec_of("classes")
    part = spec.of(np.array([1]))
    assert part.flops == (FLOPS[1],)
    whole, alone = spec.build(), part.build()
    reach = every_reach(whole)
    found = steps(whole, reach, dcfr(), None)
    np.testing.assert_array_equal(steps(alone, reach, dcfr(), None)[:, :, 0], found[:, :, 1])


@pytest.mark.parametrize("kind", ["exact", "sampled"])
def test_engines_that_are_resident_say_so(kind: str, tmp_path: Path) -> None:
    elsewhere: tuple[MemoryMode, ...] = "memmap", "per_batch"
    for memory in elsewhere:
        with pytest.raises(InputError, match=f"{kind} games are resident"):
            spec_of(kind, memory=memory, folder=tmp_path).build()
    games = spec_of(kind).build()
    assert not isinstance(games, DropsHands)


CASES = [
    ("classes", dcfr(), None),
    ("classes", dcfr(), Pruning(1, -2e4, 9, 1e9)),
    ("buckets", dcfr(), None),
    ("exact", dcfr(), None),
    ("sampled", linear(), None),
    ("sampled", linear(), Pruning(1, -2e4, 9, 1e9)),
]


@pytest.mark.parametrize(("kind", "schedule", "pruning"), CASES)
def test_iterating_is_one_step_after_the_other(
    kind: str, schedule: Schedule, pruning: Pruning | None
) -> None:
    """And pots on flops that are left out stay as they were."""
    stepped, iterated = (spec_of(kind, threads=2).build() for _ in range(2))
    reach = every_reach(stepped)
    untouched = bits(iterated)
    pairs = np.ones((stepped.pots, stepped.flops), np.bool_)
    pairs[-1, -1] = kind == "exact"  # of which there is one
    steps(stepped, reach, schedule, pruning)
    iterated.iterate(reach, pairs, schedule.run(1, 3, pruning))
    if kind != "exact":
        iterated_state, last = bits(iterated), str(stepped.pots - 1)
        assert iterated_state != bits(stepped)
        rest = np.zeros_like(pairs)
        rest[-1, -1] = True
        if kind == "sampled":
            start = flop_key(stepped.flops - 1, f"{last}.")
            out = [name for name in untouched if name.startswith(start)]
            assert out
            assert all(iterated_state[name] == untouched[name] for name in out)
        iterated.iterate(reach, rest, schedule.run(1, 3, pruning))
    assert bits(iterated) == bits(stepped)
    assert bits(iterated) != untouched


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


def check_pair_values(games: Engine, chips: float) -> None:
    """Against single hands; 0 where hands cannot meet."""
    table, pairs = pair_values(games, 0, np.array([0]))[0], games.dealt.matrix(0)
    assert not table[pairs == 0].any()
    for hand in (0, 14, 60, 168):
        alone = np.zeros((games.pots, HAND_COUNT))
        alone[:, hand] = 1.0
        for player, found, met in (
            (Player.OOP, table[:, hand], pairs[:, hand]),
            (Player.IP, -table[hand], pairs[hand]),
        ):
            values = games.evaluate(player, alone, np.array([0]))[0, 0]
            there = met > 0
            np.testing.assert_allclose(found[there], values[there] / met[there], atol=chips)


@pytest.mark.parametrize("kind", ["classes", "sampled"])
def test_values_of_pairs_are_those_against_single_hands(kind: str) -> None:
    check_pair_values(play_at_random(kind)[0], 0.02)


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


def test_values_of_pairs_of_combos_are_those_against_single_hands() -> None:
    """Where the later streets are checked down, which is quick."""
    sizes = (*same_sizes(Street.FLOP, "a", "")[:1], *same_sizes(Street.TURN, "", ""))
    games = EngineSpec((replace(POTS[0], sizes=sizes),), FLOPS[:1], EXACT).build()
    reach = every_reach(games)
    games.iterate(reach, np.ones((1, 1), np.bool_), dcfr().run(1, 2))
    check_pair_values(games, 0.02)


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


@pytest.mark.parametrize("kind", ["classes", "buckets", "sampled"])
def test_what_is_packed_gives_back_the_rounded_averages(kind: str) -> None:
    games = spec_of(kind).build()
    reach = every_reach(games)
    steps(games, reach, dcfr(), None)
    both: list[Numbers] = [ONE_BYTE] * games.pots
    packed = games.pack(1, reach, both)
    streets, trees = games.model.streets, spec_of(kind).trees()
    for pot, (tree, _) in enumerate(trees):
        stored = tuple(packed[f"strategy.{pot}.{stage}"] for stage in range(len(streets)))
        kept = PackedStrategies(tree, streets, stored)
        before = [games.average(pot, 1, node) for node in tree.decisions()]
        with games.quantised(range(1, 2), ONE_BYTE):
            for node in tree.decisions():
                np.testing.assert_array_equal(games.average(pot, 1, node), kept.at(node))
        after = [games.average(pot, 1, node) for node in tree.decisions()]
        assert all(map(np.array_equal, before, after))
        assert not all(
            np.array_equal(average, kept.at(node))
            for average, node in zip(before, tree.decisions(), strict=True)
        )
