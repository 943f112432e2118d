"""The promises of every engine, with any cards and any owner of its arrays.

Exact, boards, matrix (classes and buckets), sampled; the CUDA sources compiled as C++; a cluster
whose workers are in this process. That the numbers are right is said by their slow twins, engine by
engine; here they are held to what must be true of any of them.
"""

import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from builders.engines import (
    EVERY,
    FLOPS,
    KINDS,
    POTS,
    Pool,
    any_reach,
    evaluated,
    evaluations,
    raked,
    train,
    trained,
    weights,
)
from builders.host_device import compiler

from allstreets.base import Floats, InputError
from allstreets.betting import Player, PostflopRules, build_postflop_tree
from allstreets.cards import HAND_COUNT, HAND_NAMES
from allstreets.engines.card_model import ON_GPUS, ON_PROCESSORS
from allstreets.engines.device import CPU
from allstreets.engines.protocol import Engine, EvaluatesPairs, ShardedEngine, quantised_values
from allstreets.engines.quantised import ONE_BYTE, TWO_BYTES, PackedStrategies

SHAPE = len(POTS), len(FLOPS), HAND_COUNT
IN_SIXTEEN_BITS = ("boards", "cuda boards", "cluster of boards")
SAMPLED = ("sampled",)
TURNED = np.array([1, 0])


LONG = ("suits", "cuda exact", "cuda suits", "cuda boards", "cluster of boards")
"""A tenth to half a second an evaluation; `gpu` and `cluster` always compare some of them."""
POOL = Pool()


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in KINDS]
)
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every engine."""
    name: str = request.param
    if KINDS[name].device != CPU and compiler() is None:
        pytest.skip("no C++ compiler on this machine")
    yield name
    POOL.give_back()


def fresh(kind: str, threads: int = 1) -> Engine:
    """An engine that has learned nothing."""
    return POOL.fresh(kind, threads)


def seen(engine: Engine) -> dict[str, bytes]:
    """Everything that the next step depends on: the state where it is here, else what it gives."""
    found = {"regrets": engine.regret_sums(EVERY).total.tobytes()}
    if isinstance(engine, ShardedEngine):
        return found | {"values": evaluations(engine, any_reach(7)).tobytes()}
    return found | {name: array.tobytes() for name, array in engine.state().items()}


def close(found: Any, expected: Any, tolerance: float) -> None:
    """Equal within a share of the largest number."""
    size = float(np.abs(np.asarray(expected)).max())
    np.testing.assert_allclose(found, expected, atol=tolerance * max(size, 1e-9), rtol=0)


def rounding(kind: str) -> float:
    """Of values, as a share of the largest."""
    return 1e-4 if kind in IN_SIXTEEN_BITS else 3e-5


def of_ranges(reach: Floats, values: Floats) -> Floats:
    """[2, P, F]: both players' values [2, P, F, 169], by their own reach."""
    return np.asarray(np.einsum("xph,xpfh->xpf", reach, values))


# Reach in, values out.


def test_values_have_a_row_for_each_pot_and_flop(kind: str) -> None:
    engine, reach = fresh(kind), any_reach()
    assert (engine.pots, engine.flops) == SHAPE[:2]
    for flops in (EVERY, EVERY[1:], TURNED):
        now = weights(1) * len(flops)
        for player in Player:
            own, other = reach[player], reach[player.opponent]
            values = np.asarray(engine.step(player, own, other, flops, now))
            assert values.shape == (len(POTS), len(flops), HAND_COUNT)
            for run in (engine.best_response, engine.evaluate):
                found = run(player, other, flops)
                assert found.shape == (len(POTS), len(flops), HAND_COUNT)
                assert found.dtype == np.float64
            assert np.isfinite(values).all()


def test_values_can_be_kept_and_summed(kind: str) -> None:
    """The next step does not write over them; sums by weight are those of the values."""
    engine, reach = fresh(kind), any_reach()
    first = engine.step(Player.OOP, reach[0], reach[1], EVERY, weights(1) * 2)
    before = np.array(first)
    engine.step(Player.IP, reach[1], reach[0], EVERY, weights(1) * 2)
    engine.step(Player.OOP, reach[0], reach[1], EVERY, weights(1, 2) * 2)
    np.testing.assert_array_equal(np.asarray(first), before)
    if not isinstance(first, np.ndarray):
        shares = np.array([3.0, 0.5])
        close(first.weighted(shares), np.einsum("f,pfh->ph", shares, before), 1e-9)


def test_hands_that_the_flop_blocks_are_worth_nothing(kind: str) -> None:
    engine = trained(kind)
    sevens = HAND_NAMES.index("77")
    assert engine.dealt.combos[0, sevens] == 0
    values = evaluated(kind)
    assert not values[:, :, :, 0, sevens].any()
    assert values[:, :, :, 1, sevens].any()


def test_against_nobody_nothing_is_won(kind: str) -> None:
    engine, reach = fresh(kind), any_reach()
    nobody = np.zeros_like(reach[0])
    for player in Player:
        values = engine.step(player, reach[player], nobody, EVERY, weights(1) * 2)
        assert not np.asarray(values).any()
        assert not engine.best_response(player, nobody, EVERY).any()
        assert not engine.evaluate(player, nobody, EVERY).any()
    assert not engine.regret_sums(EVERY).total.any()


def test_a_pot_that_nobody_gets_to_is_worth_nothing_and_others_do_not_notice(kind: str) -> None:
    engine, reach = trained(kind), any_reach()
    alone = reach.copy()
    alone[:, 0] = 0.0
    values, expected = evaluations(engine, alone), evaluated(kind)
    assert not values[:, :, 0].any()
    np.testing.assert_array_equal(values[:, :, 1], expected[:, :, 1])


def test_what_one_player_wins_the_other_loses(kind: str) -> None:
    engine, reach = trained(kind), any_reach()
    _, kept = evaluated(kind)
    won = of_ranges(reach, kept)
    pairs = np.stack([engine.dealt.reached(*reach[:, pot]) for pot in range(len(POTS))])
    chips = np.array([pot.pot for pot in POTS])[:, None]
    assert (np.abs(won.sum(axis=0)) < 1e-4 * chips * pairs).all()


def test_rake_comes_out_of_what_both_win(kind: str) -> None:
    """At most its share of the pot and of both stacks, at least of the pot."""
    rake, reach = 0.05, any_reach()
    engine = raked(kind, rake)
    train(engine, reach, 1)
    won = of_ranges(reach, evaluations(engine, reach)[1]).sum(axis=0)
    pairs = np.stack([engine.dealt.reached(*reach[:, pot]) for pot in range(len(POTS))])
    for place, pot in enumerate(POTS):
        lost = -won[place] / pairs[place]
        assert (lost > 0.5 * rake * pot.pot).all()
        assert (lost < rake * (pot.pot + 2 * pot.stack)).all()


def test_values_are_linear_in_the_opponents_reach(kind: str) -> None:
    engine, (one, other) = trained(kind), any_reach(3)
    for player in Player:
        parts = [engine.evaluate(player, reach, EVERY) for reach in (one, other)]
        mixed = engine.evaluate(player, 0.25 * one + 2.0 * other, EVERY)
        close(mixed, 0.25 * parts[0] + 2.0 * parts[1], rounding(kind))


def test_best_responses_grow_with_the_opponents_reach(kind: str) -> None:
    """In proportion; and who may answer each of two ranges wins no less than against both."""
    engine, (one, other) = trained(kind), any_reach(4)
    for player in Player:
        best = [engine.best_response(player, reach, EVERY) for reach in (one, other, one + other)]
        close(engine.best_response(player, 0.5 * one, EVERY), 0.5 * best[0], rounding(kind))
        apart = best[0] + best[1]
        assert (best[2] <= apart + rounding(kind) * np.abs(apart).max()).all()


def test_a_best_response_wins_no_less_than_the_average_strategy(kind: str) -> None:
    reach, (best, kept) = any_reach(), evaluated(kind)
    assert (best - kept >= -rounding(kind) * np.abs(kept).max()).all()  # hand by hand
    assert (of_ranges(reach, best - kept) > 0).all()


def test_the_first_step_is_worth_what_even_chances_are(kind: str) -> None:
    engine, reach = fresh(kind), any_reach()
    even = engine.evaluate(Player.OOP, reach[1], EVERY)
    values = engine.step(Player.OOP, reach[0], reach[1], EVERY, weights(1) * 2)
    if kind in SAMPLED:  # an estimate: right on average over all hands
        total, expected = (np.einsum("ph,pfh->pf", reach[0], one) for one in (values, even))
        np.testing.assert_allclose(total, expected, atol=0.2 * np.abs(np.asarray(values)).sum())
        return
    close(np.asarray(values), even, 3e-4 if kind in IN_SIXTEEN_BITS else 3e-5)


# Learning.


def test_exploitability_falls(kind: str) -> None:
    engine, reach = fresh(kind), any_reach()
    gains, done = [], 0
    for count in (1, 2, 4):
        train(engine, reach, count, done + 1)
        done += count
        best, kept = evaluations(engine, reach)
        gains.append(float(of_ranges(reach, best - kept).sum()))
    assert 0 < gains[2] < gains[1] < gains[0]
    assert gains[2] < (0.8 if kind in SAMPLED else 0.25) * gains[0]


def test_iterating_is_one_step_after_the_other(kind: str) -> None:
    """And what is left out of it stays as it was."""
    stepped, iterated, reach = fresh(kind), fresh(kind), any_reach()
    some = np.array([[True, True], [True, False]])
    untouched = evaluations(iterated, reach)
    train(stepped, reach, 3)
    iterated.iterate(reach, some, weights(3))
    between = evaluations(iterated, reach)
    np.testing.assert_array_equal(between[:, :, 1, 1], untouched[:, :, 1, 1])
    assert not np.array_equal(between[:, :, 1, 0], untouched[:, :, 1, 0])
    iterated.iterate(reach, ~some, weights(3))
    assert seen(iterated) == seen(stepped)


def test_hands_that_matter_are_worth_what_they_are_among_all(kind: str) -> None:
    engine, some, reach = fresh(kind), fresh(kind), any_reach()
    mask = np.random.default_rng(2).random((len(POTS), HAND_COUNT)) < 0.3
    arguments = Player.IP, reach[1], reach[0], EVERY, weights(1) * 2
    values, found = np.asarray(engine.step(*arguments)), np.asarray(some.step(*arguments, mask))
    for pot in range(len(POTS)):
        close(found[pot][:, mask[pot]], values[pot][:, mask[pot]], 1e-6)


def test_flops_that_are_not_visited_stay_as_they_were(kind: str) -> None:
    engine, reach = fresh(kind), any_reach()
    train(engine, reach, 1)
    before = evaluations(engine, reach)
    for player in Player:
        own, other = reach[player], reach[player.opponent]
        engine.step(player, own, other, EVERY[1:], weights(1, 2))
    after = evaluations(engine, reach)
    np.testing.assert_array_equal(before[:, :, :, 0], after[:, :, :, 0])
    assert not np.array_equal(before[:, :, :, 1], after[:, :, :, 1])


def test_every_flop_has_weights_of_its_own(kind: str) -> None:
    """Together each is discounted as it would be alone."""
    together, apart, reach = fresh(kind), fresh(kind), any_reach()
    train(together, reach, 2)
    train(apart, reach, 2)
    mixed = [*weights(1, 3), *weights(1, 9)]
    for player in Player:
        own, other = reach[player], reach[player.opponent]
        both = np.asarray(together.step(player, own, other, EVERY, mixed))
        for flop in (1, 0):
            alone = apart.step(player, own, other, np.array([flop]), mixed[flop : flop + 1])
            np.testing.assert_array_equal(np.asarray(alone)[:, 0], both[:, flop])
    assert seen(together) == seen(apart)


def test_the_order_of_flops_does_not_matter(kind: str) -> None:
    engine, reach = trained(kind), any_reach()
    for player in Player:
        other = reach[player.opponent]
        for place, run in enumerate((engine.best_response, engine.evaluate)):
            whole = evaluated(kind)[place, player]
            np.testing.assert_array_equal(run(player, other, TURNED)[:, ::-1], whole)
            np.testing.assert_array_equal(run(player, other, EVERY[1:]), whole[:, 1:])


def test_evaluating_changes_nothing(kind: str) -> None:
    engine, reach = trained(kind), any_reach()
    before = seen(engine)
    evaluations(engine, any_reach(9))
    engine.regret_sums(EVERY)
    quantised_values(engine, reach, ONE_BYTE)
    engine.pack(1, reach, [ONE_BYTE] * engine.pots)
    assert seen(engine) == before


def test_threads_change_no_bit(kind: str) -> None:
    alone, together, reach = fresh(kind), fresh(kind, threads=2), any_reach()
    for one, other in zip(train(alone, reach, 2), train(together, reach, 2), strict=True):
        np.testing.assert_array_equal(one, other)
    assert seen(alone) == seen(together)


def test_a_description_that_was_sent_elsewhere_builds_the_same(kind: str) -> None:
    spec = KINDS[kind].spec()
    sent = pickle.loads(pickle.dumps(spec))
    assert sent == spec
    assert len(pickle.dumps(spec)) < 5000
    assert sent.dealt().flops == trained(kind).flops
    assert trained(kind).model == sent.model


def test_some_flops_alone_play_as_among_all(kind: str) -> None:
    if KINDS[kind].workers:
        pytest.skip("its workers own some flops each")
    reach = any_reach()
    alone, now = replace(KINDS[kind], flops=FLOPS[1:]).build(), weights(4)
    for each in now:
        for player in Player:
            alone.step(player, reach[player], reach[player.opponent], np.arange(1), [each])
    whole = evaluated(kind)
    for row, run in zip(whole, (alone.best_response, alone.evaluate), strict=True):
        for player in Player:
            found = run(player, reach[player.opponent], np.arange(1))
            np.testing.assert_array_equal(found[:, 0], row[player][:, 1])


def test_a_restored_run_goes_on_bit_for_bit(kind: str) -> None:
    if KINDS[kind].workers:
        pytest.skip("its state is in files: `cluster/test_flops`")
    first, second, reach = fresh(kind), fresh(kind, threads=2), any_reach()
    train(first, reach, 2)
    train(second, any_reach(5), 1)  # what it held before is gone
    second.restore({name: array.copy() for name, array in first.state().items()})
    assert seen(first) == seen(second)
    for one, other in zip(train(first, reach, 1, 3), train(second, reach, 1, 3), strict=True):
        np.testing.assert_array_equal(one, other)
    assert seen(first) == seen(second)


def test_regrets_are_summed(kind: str) -> None:
    engine = fresh(kind)
    before, after = engine.regret_sums(EVERY), trained(kind).regret_sums(EVERY)
    for part in (*before, *after):
        assert part.shape == SHAPE[:2]
    assert not before.total.any()
    assert not before.largest.any()
    assert (after.total >= after.largest).all()
    assert (after.largest > 0).all()
    np.testing.assert_array_equal(before.entries, after.entries)
    assert (after.entries > 0).all()
    np.testing.assert_array_equal(trained(kind).regret_sums(EVERY[1:]).total, after.total[:, 1:])


# Strategies.


def decisions(kind: str) -> Iterator[tuple[int, int, int]]:
    """The pot, the node and the number of actions of every decision that can be asked for."""
    first_street_only = KINDS[kind].spec().model.plays_combos
    for pot, (tree, _) in enumerate(KINDS[kind].spec().trees()):
        for node in tree.decisions():
            if not first_street_only or tree.street[node] == tree.street[0]:
                yield pot, node, int(tree.child_count[node])


def test_averages_are_probabilities(kind: str) -> None:
    learned = 0.0
    for pot, node, actions in decisions(kind):
        for flop in range(len(FLOPS)):
            average = trained(kind).average(pot, flop, node)
            assert len(average) == actions
            assert (average >= 0).all()
            np.testing.assert_allclose(average.sum(axis=0), 1.0, atol=1e-4)
            learned = max(learned, float(np.abs(average - 1 / actions).max()))
    assert learned > 0.3


def test_a_strategy_that_was_set_is_played(kind: str) -> None:
    """By the player whose decision it is; regrets stay, and other flops."""
    engine, reach = fresh(kind), any_reach()
    train(engine, reach, 2)
    before, sums = evaluations(engine, reach), engine.regret_sums(EVERY).total
    turned = engine.average(0, 1, 0)[::-1]
    engine.set_average(0, 1, 0, turned)
    np.testing.assert_allclose(engine.average(0, 1, 0), turned, atol=1e-4)
    after = evaluations(engine, reach)
    np.testing.assert_array_equal(engine.regret_sums(EVERY).total, sums)
    np.testing.assert_array_equal(before[:, :, 1], after[:, :, 1])
    np.testing.assert_array_equal(before[:, :, 0, 0], after[:, :, 0, 0])
    assert not np.array_equal(before[1, Player.OOP, 0, 1], after[1, Player.OOP, 0, 1])
    # His own best response does not depend on what he has played so far.
    np.testing.assert_array_equal(before[0, Player.OOP], after[0, Player.OOP])


def test_what_is_packed_is_what_is_played_as_if_it_were_stored(kind: str) -> None:
    engine, reach = trained(kind), any_reach()
    if KINDS[kind].spec().model.plays_combos:
        pytest.skip("they are stored by combo: `test_packing`, `storage/test_unified_bundle`")
    streets, before = engine.model.streets, seen(engine)
    for numbers in (ONE_BYTE, TWO_BYTES):
        packed = engine.pack(1, reach, [numbers] * engine.pots)
        with engine.quantised(range(1, 2), numbers):
            for pot, (tree, _) in enumerate(KINDS[kind].spec().trees()):
                stored = tuple(packed[f"strategy.{pot}.{place}"] for place in range(len(streets)))
                assert {array.dtype for array in stored} == {numbers}
                kept = PackedStrategies(tree, streets, stored)
                for node in tree.decisions():
                    np.testing.assert_array_equal(engine.average(pot, 1, node), kept.at(node))
        step = 1 / np.iinfo(numbers).max
        for pot, node, _ in decisions(kind):
            with engine.quantised(range(1, 2), numbers):
                rounded = engine.average(pot, 1, node)
            np.testing.assert_allclose(rounded, engine.average(pot, 1, node), atol=step)
    assert seen(engine) == before


def test_values_as_they_are_stored_are_near_those_that_were_trained(kind: str) -> None:
    engine, reach = trained(kind), any_reach()
    close(quantised_values(engine, reach, TWO_BYTES), evaluated(kind), 3e-3)


def test_pairs_of_hands_win_what_they_win_from_single_hands(kind: str) -> None:
    engine = trained(kind)
    if not isinstance(engine, EvaluatesPairs) or not engine.model.removes_cards:
        pytest.skip("hands do not meet as they are")
    if KINDS[kind].model == "boards":
        pytest.skip("it evaluates ranges")
    table, pairs = engine.pair_values(0, EVERY[:1])[0], engine.dealt.matrix(0)
    assert not table[pairs == 0].any()
    for hand in (0, 60):
        alone = np.zeros((len(POTS), HAND_COUNT))
        alone[:, hand] = 1.0
        for player, won, met in (
            (Player.OOP, table[:, hand], pairs[:, hand]),
            (Player.IP, -table[hand], pairs[hand]),
        ):
            values = engine.evaluate(player, alone, EVERY[:1])[0, 0]
            there = met > 0
            np.testing.assert_allclose(won[there], values[there] / met[there], atol=0.02)


# Locks.

MIXES = {1: (1.0,), 2: (0.25, 0.75)}
"""By the number of actions."""


def locked_pots(kind: str, player: Player) -> tuple[PostflopRules, ...]:
    """The pots with all decisions of a player locked to one mix."""
    pots = []
    for pot in KINDS[kind].pots:
        tree = build_postflop_tree(pot)
        own = [node for node in tree.decisions() if tree.player_at(node) == player]
        locks = tuple((node, MIXES[int(tree.child_count[node])]) for node in own)
        pots.append(replace(pot, locks=locks))
    return tuple(pots)


def test_locks_are_played_or_refused(kind: str) -> None:
    """Who is locked everywhere has no better response; the other's play is free."""
    spec = KINDS[kind].spec()
    can = (ON_PROCESSORS if spec.device == CPU else ON_GPUS)[spec.model.kind]
    if not can.locks:
        with pytest.raises(InputError, match="lock: "):
            KINDS[kind].build(locked_pots(kind, Player.OOP))
        return
    reach = any_reach()
    for player in Player:
        engine = KINDS[kind].build(locked_pots(kind, player))
        train(engine, reach, 2)
        best, kept = evaluations(engine, reach)
        close(best[player], kept[player], rounding(kind))
        gained = of_ranges(reach, best - kept)
        assert (gained[player.opponent] > 1e-3 * np.abs(of_ranges(reach, kept)[player])).all()
        for pot, node, actions in decisions(kind):
            if build_postflop_tree(KINDS[kind].pots[pot]).player_at(node) == player:
                average = engine.average(pot, 0, node)
                np.testing.assert_allclose(average[-1], MIXES[actions][-1], atol=1e-4)


# Memory, and what cannot be.


def test_memory_is_counted(kind: str) -> None:
    engine = trained(kind)
    assert engine.memory_bytes > 0
    assert KINDS[kind].build(KINDS[kind].pots[:1]).memory_bytes < engine.memory_bytes
    if not isinstance(engine, ShardedEngine):
        stored = sum(array.nbytes for array in engine.state().values())
        assert 0.4 * stored < engine.memory_bytes < 2 * stored
