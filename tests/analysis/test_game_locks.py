"""Locks of whole games: their decisions, their strategies, and the effect of frequencies."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_games import BUCKETS, LIMPED, small_config

from allstreets.analysis import (
    LockRequest,
    difference,
    give_orders,
    observed_game_locks,
    with_game_locks,
)
from allstreets.analysis.flop_locks import flop_orders
from allstreets.base import Flags, Floats, InputError
from allstreets.betting import IP, OOP, Street, any_cards
from allstreets.cards import HAND_NAMES, HAND_OF_COMBO
from allstreets.games import Bound, Lock, WholeGame
from allstreets.games.whole_game import game_mapping, game_of
from allstreets.jobs import simplify
from allstreets.jobs.whole_game import plan_unified
from allstreets.solutions import PotView, WholeSolution, flop_spot
from allstreets.solvers import WholeGameSolver
from allstreets.solvers.precision import quantise_solution
from allstreets.storage import compare, load_unified, save_unified

GAME = small_config().game()
LIMPED_GAME = small_config(**LIMPED, flops=["Ks7h2d", "9s8s2h:3"]).game()  # weights 24 and 36
BOARDS: dict[str, Any] = {"cards": "boards", "river_groups": 16, "turn_rows": 32}
HAND = {name: place for place, name in enumerate(HAND_NAMES)}


def solved(game: WholeGame, iterations: int = 30, **keys: object) -> WholeGameSolver:
    """A game that is trained for a moment; locks by flop are asked for before."""
    config = small_config(**keys)
    solver = WholeGameSolver(game, game.build(game.engine(config.card_model())), config.schedule())
    solver.train_batch(iterations)
    return solver


@pytest.fixture(scope="module")
def limped() -> WholeSolution:
    return WholeSolution.of(solved(LIMPED_GAME))


def test_locks_are_found_in_their_trees() -> None:
    locks = (
        Lock("", hands={"AA,72o": {"c": 0.25, "f": 0.75}}),
        Lock("r2.5", strategy={"f": 1}, hands={"22+": {"call": 1}}),
        Lock("c x | * | x", strategy={"x": 0.4, "bet": 0.6}),
        Lock("c x | x b100% c | * | x", strategy={"x": 1}),
    )
    found = replace(GAME, lock=locks).locks
    assert sorted(found.preflop) == [0, GAME.node_at("r2.5", "").node]
    first = found.preflop[0]
    assert [HAND_NAMES[hand] for hand in np.flatnonzero(first.held)] == ["AA", "72o"]
    assert first.strategy[:, HAND["72o"]].tolist() == [0.75, 0.25, 0, 0]
    second = found.preflop[GAME.node_at("r2.5", "").node]
    assert second.held.all()
    assert second.strategy[1, HAND["22"]] == second.strategy[0, HAND["AKs"]] == 1
    ((root, (told, by_hand)),) = found.pots.items()
    assert by_hand == ()
    assert root == GAME.node_at("c x | x", "").root
    assert [chances for _, chances in told] == [(0.4, 0.6), (1.0, 0.0)]
    tree = next(pot.tree for pot in replace(GAME, lock=locks).pots if pot.pot.node == root)
    assert tree.locks == dict(told)


def test_a_game_with_locks_is_written_down_and_read_back() -> None:
    locks = (
        Lock("r2.5", ranges={"f": "22,AKs:0.5", "c": "AKs:0.5"}),
        Lock("c x | * | x", frequencies={"b100%": "<=30%"}, aim={"b100%": "<=28%"}, solution="g"),
    )
    game = replace(GAME, lock=locks)
    flops = [flop.text for flop in game.flops.flops]
    again = game_of(game_mapping(game), flops, game.flops.weights.tolist())
    assert again.lock == locks
    assert "lock" not in game_mapping(GAME)  # as it was before there were any
    free = game_of(game_mapping(GAME), flops, game.flops.weights.tolist())
    assert game_mapping(free) == game_mapping(GAME)


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        (Lock("r3", {"f": 1}), r"lock\[0\].line: line 'r3': 'r3' is not offered"),
        (Lock("c", {"f": 1}), "lock.0..strategy: no action 'f' there"),
        (Lock("c x", {"x": 1}), "no player acts at 'c x', so there is nothing to lock"),
        (Lock("", {"c": 0.5}), "the probabilities sum to 0.5, not to 1"),
        (Lock("", hands={"AhKh": {"c": 1}}), "suits have no meaning: .* of AKs do"),
        (Lock("", hands={"AA": {"c": 1}, "QQ+": {"f": 1}}), "AdAc is locked by .* already"),
        (Lock("c x | Ks7h2d | x", {"x": 1}), "holds on every flop: write '| . |' instead of"),
        (Lock("r2.5 | x", {"x": 1}), "'r2.5' ends before the flop"),
        (Lock("c x | * | b3", {"x": 1}), "lock.0..line: line 'b3' after the flop: 'b3'"),
        (Lock("c x | x", hands={"AhKh": {"x": 1}}), "suits have no meaning: AhKh must play as"),
        (
            Lock("c x | x x | x", hands={"AA": {"x": 1}}),
            "on turn and river all hands are locked alike",
        ),
        (Lock("c x | x"), "give a 'strategy' for all hands, 'hands' for some, or a 'solution'"),
        (Lock("c x | x", frequencies={"x": "30%"}), "'frequencies' need a 'solution'"),
        (Lock("c x | x", aim={"x": "30%"}, solution="g"), "'aim' needs the 'frequencies'"),
        (
            Lock("c x | x", frequencies={"x": "30%", "bet": "80%"}, solution="g"),
            "the frequencies at 'c x | x' add up to 1.1",
        ),
        (Lock("", frequencies={"f": "30%"}, solution="g"), "these are for flops of whole games"),
    ],
)
def test_what_is_wrong_with_a_lock_is_said(lock: Lock, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _ = replace(GAME, lock=(lock,)).locks
    with pytest.raises(InputError, match="is locked already"):
        _ = replace(GAME, lock=(Lock("c x | x", {"x": 1}), Lock("c x | * | x", {"x": 1}))).locks


def test_who_is_made_to_fold_loses_and_the_game_stays_zero_sum() -> None:
    free, locked = solved(GAME, 60), solved(replace(GAME, lock=(Lock("", {"f": 1}),)), 60)
    before, after = free.figures(), locked.figures()
    assert before.values is not None
    assert after.values is not None
    assert after.values[IP] == pytest.approx(-500)  # his blind, every hand
    assert sum(after.values) == pytest.approx(0, abs=1e-3)
    # Nothing is left to gain for either of them.
    assert after.exploitability == pytest.approx(0, abs=1e-6)
    assert before.exploitability is not None
    assert 0 < before.exploitability < 1


@pytest.mark.parametrize("cards", ["classes", pytest.param("boards", marks=pytest.mark.long)])
def test_exploitability_is_that_of_the_game_with_its_locks(cards: str) -> None:
    """It falls towards zero, where what is locked away would be worth much to who may not."""
    keys = {**LIMPED, "flops": ["9s7s2s"], "cards": cards}
    keys |= {"river_groups": 16, "turn_rows": 32} if cards == "boards" else {}
    game = small_config(**keys).game()
    gives_up = (Lock("c", {"x": 1}), Lock("c x | * |", {"x": 1}), Lock("c x | * | x a", {"f": 1}))
    locked, found = replace(game, lock=gives_up), list[float]()
    solver = solved(locked, 2, **keys)
    for more in (10, 60):
        found.append(solver.exploitability() or 0.0)
        solver.train_batch(more)
    found.append(solver.exploitability() or 0.0)
    assert found[0] > found[1] > found[2] >= 0
    assert found[2] < 0.1 * found[0]
    values = solver.figures().values
    usual = solved(game, 72, **keys).figures().values
    assert values is not None
    assert usual is not None
    assert usual[IP] < 100
    assert values[IP] == pytest.approx(1000, abs=10)  # a big blind, every hand


def test_some_hands_are_locked_on_every_flop(tmp_path: Path) -> None:
    """They play their locks, in best responses too; the others learn around them."""
    keys = {**LIMPED, "flops": ["9s7s2s"], "cards": "boards", "river_groups": 16, "turn_rows": 32}
    game = small_config(**keys).game()
    some: dict[str, dict[str, float]] = {"22+": {"x": 1}, "AKs,72o": {"a": 0.25, "x": 0.75}}
    locked = replace(game, lock=(Lock("c x | * | x", hands=some),))
    solver = solved(locked, 40, **keys)
    result = WholeSolution.of(solver)
    node = result.at("c x | x", "9s7s2s").decision
    held = [HAND_NAMES[hand] for hand in np.flatnonzero(node.locked_cells() == 1)]
    assert len(held) == 15
    assert {"AA", "22", "AKs", "72o"} <= set(held)
    assert node.hand("TT").frequencies["x"] == pytest.approx(1, abs=1e-3)
    assert node.hand("72o").frequencies == pytest.approx({"x": 0.75, "a": 0.25}, abs=1e-3)
    assert node.hand("KQs").frequencies["a"] not in (0.25, 0.75)
    # A best response may not bet its pairs: it gains less than one that may.
    opponent_reach = np.ones((1, 169))
    flops = np.zeros(1, np.int64)
    bound = solver.engine.best_response(IP, opponent_reach, flops)[0, 0]
    free = solved(game, 0, **keys).engine
    for one in game.pots[0].tree.decisions(Street.FLOP):
        free.set_average(0, 0, one, solver.engine.average(0, 0, one))
    at_will = free.best_response(IP, opponent_reach, flops)[0, 0]
    pairs = [HAND[name] for name in ("AA", "KK", "QQ")]
    assert (bound[pairs] < at_will[pairs]).all()
    assert (solver.exploitability() or 0) < 0.2 * (solved(locked, 2, **keys).exploitability() or 0)
    save_unified(solver, tmp_path / "some", config={})
    spot = flop_spot(load_unified(tmp_path / "some"), "c x", "9h7h2h").spot
    (lock,) = spot.lock
    assert lock.hands["72o"] == {"x": 0.75, "a": 0.25}
    assert spot.locked_nodes
    with pytest.raises(InputError, match="with classes lock all hands of a decision"):
        locked.build(locked.engine())
    assert locked.roughly.lock == ()
    free_lock = replace(game, lock=(Lock("", {"c": 1}), Lock("c x | x", {"x": 1})))
    assert free_lock.roughly is free_lock


def view_of(result: WholeSolution, flop: int, pot: int = 0) -> PotView:
    """Every decision of a pot on a flop, both by their numbers."""
    game = result.game
    return result.stored.view(game.pots[pot].pot.node, game.flops.flops[flop])


def bounds(*rows: tuple[str, str, str]) -> list[Bound]:
    return [Bound.read(*row, "seen") for row in rows]


def test_frequencies_before_the_flop_are_reached_by_the_cheapest_change() -> None:
    result = WholeSolution.of(solved(GAME))
    rows = [("", "fold", ">=60%"), ("c", "a", "45%"), ("c", "x", "<=50%")]
    locks = observed_game_locks(result, bounds(*rows), "game/")
    assert [lock.line for lock in locks] == ["", "c"]
    game = replace(GAME, lock=locks)
    first, second = (game.locks.preflop[GAME.node_at(line, "").node] for line in ("", "c"))
    assert first.held.all()
    dealt = result.before.pairs.sum(axis=1)
    assert first.strategy[0] @ dealt / dealt.sum() == pytest.approx(0.6, rel=1e-9)
    # The limp comes from what the first lock has left of the small blind's range.
    weights = (result.before.pairs * first.strategy[1]).sum(axis=1)
    taken = second.strategy @ weights / weights.sum()
    assert taken[-1] == pytest.approx(0.45, rel=1e-9)
    assert taken[0] <= 0.5 + 1e-9
    played = result.before.strategies[0]
    assert np.all(first.strategy[0] >= played[0] - 1e-6)  # nobody folds less


def test_a_big_blind_who_folds_to_a_jam_folds_what_loses_least() -> None:
    """Aces call as ever; hands that move lose less by it than those that stay."""
    result = WholeSolution.of(solved(GAME))
    shown = result.at("a").decision
    assert 0.1 < shown.taken[0] < 0.75
    (lock,) = observed_game_locks(result, bounds(("a", "fold", ">=75%")), "game/")
    changed = replace(GAME, lock=(lock,)).locks.preflop[GAME.node_at("a", "").node].strategy
    assert changed[0] @ shown.own.weights / shown.own.weights.sum() == pytest.approx(0.75)
    assert changed[0, HAND_NAMES.index("AA")] == 0
    assert changed[0, HAND_NAMES.index("72o")] == pytest.approx(1, abs=0.01)
    losses = shown.action_evs[1] - shown.action_evs[0]
    moved, stays = changed[0] > shown.strategy[0] + 1e-5, changed[1] > 1e-5
    assert np.maximum(losses[moved], 0).max() <= losses[stays & ~moved].min() + 1e-9


def test_frequencies_on_all_flops_are_reached_over_all_of_them(limped: WholeSolution) -> None:
    """By the weights of the flops and of the hands that get there, and by no hand needlessly."""
    lock = Lock("c x | * | x", frequencies={"a": "65%"}, solution="limped")
    game = replace(LIMPED_GAME, lock=(lock,))
    orders = list(flop_orders(game, limped.cards, lambda name: {"limped": limped}[name]))
    assert [(order.pot, order.flop) for order in orders] == [(0, 0), (0, 1)]
    views = [view_of(limped, place).stage_play(orders[0].node) for place in range(2)]
    weights = [w * v[1] for w, v in zip(LIMPED_GAME.flops.weights, views, strict=True)]
    bets = sum(order.strategy[1] @ w for order, w in zip(orders, weights, strict=True))
    assert bets / sum(w.sum() for w in weights) == pytest.approx(0.65, rel=1e-9)
    before = sum(view[0][1] @ w for view, w in zip(views, weights, strict=True))
    assert abs(before / sum(w.sum() for w in weights) - 0.65) > 0.05
    for order, (played, _) in zip(orders, views, strict=True):
        np.testing.assert_allclose(order.strategy.sum(axis=0), 1, atol=1e-9)
        moves = order.strategy[1] - played[1]
        assert moves.min() >= -1e-4 or moves.max() <= 1e-4  # except for rounding
    losses, moved, stays = list[Floats](), list[Flags](), list[Flags]()
    for place, order in enumerate(orders):
        played, evs = views[place][0], view_of(limped, place).stage_evs(order.node)
        there = (weights[place] > 0) & (played[0] > 0.01)
        losses.append((evs[0] - evs[1])[there])
        moved.append((order.strategy[1] > played[1] + 1e-3)[there])
        stays.append((order.strategy[0] > 1e-3)[there])
    loss, more, kept = (np.concatenate(parts) for parts in (losses, moved, stays))
    assert np.maximum(loss[more], 0).max() <= np.maximum(loss[kept], 0).min() + 1e-6

    solver = WholeGameSolver(game, game.build(game.engine()), small_config().schedule())
    give_orders(solver.engine, game, lambda _: limped)
    solver.train_batch(10)
    for order in orders:
        average = solver.engine.average(order.pot, order.flop, order.node)
        np.testing.assert_allclose(average, order.strategy, atol=1e-5)
    again = WholeSolution.of(solver)
    assert again.at("c x | x", "Ks7h2d").decision.locked.all()
    assert not again.at("c x", "Ks7h2d").decision.locked.any()


@pytest.mark.parametrize(
    "cards",
    ["classes", *(pytest.param(one, marks=pytest.mark.long) for one in ("buckets", "boards"))],
)
def test_what_is_stored_takes_an_action_just_as_often(cards: str) -> None:
    """Whatever numbers engines and bundles have: rounding hands changes no frequency."""
    keys: dict[str, Any] = {**LIMPED, "flops": ["9s7s2s", "KsKhKd", "7s7h2d"]}
    buckets = {**BUCKETS, "num_hand_buckets_flop": 30}
    keys |= {"classes": {}, "buckets": buckets, "boards": BOARDS}[cards]
    game = small_config(**keys).game()
    assert game.flops.weights.tolist() == [4, 4, 12]
    source = WholeSolution.of(solved(game, 10, **keys))
    lock = Lock("c x | * | x", frequencies={"a": "35%"}, solution="source")
    told = replace(game, lock=(lock,))
    config = small_config(**keys)
    solver = WholeGameSolver(told, told.build(told.engine(config.card_model())), config.schedule())
    give_orders(solver.engine, told, lambda _: source)
    solver.train_batch(3)
    result = WholeSolution.of(solver, quantise_solution(solver, solver.exploitability()))
    (_, node), *_ = told.locks.by_flop
    bets = total = 0.0
    for place, weight in enumerate(game.flops.weights):
        mass = weight * view_of(source, place).stage_play(node)[1]
        bets += view_of(result, place).stage_play(node)[0][1] @ mass
        total += mass.sum()
    assert bets / total == pytest.approx(0.35, rel=1e-9)


def test_as_it_is_is_what_the_solution_plays(limped: WholeSolution) -> None:
    (before,) = LockRequest("", as_is=True).of_game(limped, "limped")
    played = replace(LIMPED_GAME, lock=(before,)).locks.preflop[0]
    np.testing.assert_allclose(played.strategy, limped.before.strategies[0], atol=1e-6)
    (after,) = LockRequest("c x | x", as_is=True).of_game(limped, "limped")
    assert after == Lock("c x | * | x", solution="limped")
    game = replace(LIMPED_GAME, lock=(after,))
    for order in flop_orders(game, limped.cards, lambda _: limped):
        told = view_of(limped, order.flop, order.pot).stage_play(order.node)[0]
        np.testing.assert_allclose(order.strategy, told, atol=1e-9)


def test_solutions_that_cannot_be_played_like_are_refused(limped: WholeSolution) -> None:
    lock = Lock("c x | * | x", solution="limped")
    more = small_config(**LIMPED, flops=["Ks7h2d", "As8s7h"]).game()
    with pytest.raises(InputError, match=r"lock.0..solution: it was not solved on As8s7h"):
        list(flop_orders(replace(more, lock=(lock,)), limped.cards, lambda _: limped))
    exact = small_config(cards="exact").card_model()
    game = replace(LIMPED_GAME, lock=(lock,))
    with pytest.raises(InputError, match="it is solved with cards classes, this game with exact"):
        list(flop_orders(game, exact, lambda _: limped))
    other = replace(GAME, flops=LIMPED_GAME.flops, lock=(lock,))
    with pytest.raises(InputError, match="its betting differs"):
        list(flop_orders(other, limped.cards, lambda _: limped))


def test_a_lock_is_replaced_by_another_at_its_decision() -> None:
    game = with_game_locks(GAME, (Lock("c x | x", {"x": 1}), Lock("r2.5", {"f": 1})))
    again = with_game_locks(game, (Lock("c x | * | x", {"bet": 1}),))
    assert [lock.line for lock in again.lock] == ["r2.5", "c x | * | x"]
    assert again.locks.pots


def test_saved_locks_are_kept_and_shown(tmp_path: Path, limped: WholeSolution) -> None:
    """Strategies that were given are marked; flops that are solved from there are locked too."""
    locks = (Lock("", hands={"AA": {"f": 1}}), Lock("c x | * | x", {"x": 0.25, "a": 0.75}))
    game = replace(LIMPED_GAME, lock=locks)
    save_unified(solved(game), tmp_path / "locked", config={})
    found = load_unified(tmp_path / "locked")
    assert found.locks == locks
    root = found.at("").decision
    assert root.locked.sum() == 1
    assert root.hand("AA").frequencies["f"] == 1
    assert "strategies are locked at the first decision, 'c x | * | x'" in str(found)
    assert found.at("c x | x", "9s8s2h").decision.hand("KQs").frequencies == pytest.approx(
        {"x": 0.25, "a": 0.75}, abs=1e-3
    )
    spot = flop_spot(found, "c x", "9h8h2d").spot
    assert [(lock.line, lock.strategy) for lock in spot.lock] == [("x", {"x": 0.25, "a": 0.75})]
    assert spot.locked_nodes
    compared = compare(limped, found, "c x | x", "9s8s2h")
    assert compared.notes == ("locks differ: none and 2 at the first decision, 'c x | * | x'",)


@pytest.mark.parametrize("cards", ["classes", pytest.param("boards", marks=pytest.mark.long)])
def test_simple_strategies_leave_what_is_locked(cards: str, tmp_path: Path) -> None:
    keys = {**LIMPED, "flops": ["9s7s2s"], "cards": cards}
    keys |= {"river_groups": 16, "turn_rows": 32} if cards == "boards" else {}
    locks = (
        Lock("", hands={"22+": {"c": 0.3, "a": 0.7}}),
        Lock("c x | * | x", {"x": 0.3, "a": 0.7}),
        Lock("c x | * | x x | * | x", {"x": 0.3, "a": 0.7}),
    )
    game = replace(small_config(**keys).game(), lock=locks)
    save_unified(solved(game, 10, **keys), tmp_path / "locked", config={})
    simplify(tmp_path / "locked", grid=1.0, output=tmp_path / "simple")
    found = load_unified(tmp_path / "simple")
    assert found.locks == locks
    for line in ("c x | 9s7s2s | x", "c x | 9s7s2s | x x | 4d | x"):
        line = line if cards == "boards" else line.replace(" 4d |", "")
        node = found.at(line).decision
        assert node.locked.all()
        np.testing.assert_allclose(node.strategy[1], 0.7, atol=3e-3)
    root = found.at("").decision
    assert root.hand("AA").frequencies["a"] == pytest.approx(0.7)
    assert root.hand("AKs").frequencies["a"] in (0, 1)


def test_flops_locked_one_by_one_are_solved_so_by_combo(limped: WholeSolution) -> None:
    lock = Lock("c x | * | x", frequencies={"a": "55%"}, solution="limped")
    game = replace(LIMPED_GAME, lock=(lock,))
    solver = WholeGameSolver(game, game.build(game.engine()), small_config().schedule())
    give_orders(solver.engine, game, lambda _: limped)
    solver.train_batch(3)
    result = WholeSolution.of(solver)
    spot = flop_spot(result, "c x", "9h8h2d").spot
    (told,) = spot.locked_nodes
    node = result.at("c x | x", "9h8h2d").decision
    for hand in ("AKs", "T9o", "22"):
        combo = int(np.flatnonzero((HAND[hand] == HAND_OF_COMBO) & (told.weights > 0))[0])
        mix = [node.hand(hand).frequencies[word] for word in node.actions]
        np.testing.assert_allclose(told.strategy[:, combo], mix, atol=1e-5)
    with pytest.raises(InputError, match="'x' is locked flop by flop, and the play of hands on"):
        flop_spot(result, "c x", "AhKd7s")


def test_the_difference_of_two_games_is_in_mbb_and_over_all_flops(limped: WholeSolution) -> None:
    game = replace(LIMPED_GAME, lock=(Lock("c x | * | x", {"a": 1}),))
    after = WholeSolution.of(solved(game))
    found = difference(limped, after, ["", "c x | * | x", "c x | Ks7h2d | x"])
    assert found.unit == "mbb/hand"
    assert limped.values is not None
    assert found.evs[OOP][0] == limped.values[OOP]
    for place in found.places[1:]:
        assert (place.seat, place.unit) == ("SB", "bb")
        assert place.actions[1].frequency[1] == pytest.approx(1)
    report = [limped.at("c x | x", flop.text).decision for flop in LIMPED_GAME.flops.flops]
    mass = [w * n.own.weights.sum() for w, n in zip(LIMPED_GAME.flops.weights, report, strict=True)]
    mean = sum(m * n.taken[1] for m, n in zip(mass, report, strict=True)) / sum(mass)
    assert found.places[1].actions[1].frequency[0] == pytest.approx(mean)
    assert found.doubt == pytest.approx(
        2 * ((limped.exploitability or 0) + (after.exploitability or 0))
    )


def test_a_resumed_run_with_locks_equals_one_that_was_not_stopped(tmp_path: Path) -> None:
    """Also where a lock plays another solution's flops, which may be gone meanwhile."""
    save_unified(solved(LIMPED_GAME), tmp_path / "before", config={})
    lock = [
        {"line": "", "hands": {"AA": {"c": 1}}},
        {
            "line": "c x | * | x",
            "frequencies": {"a": "<=20%"},
            "solution": str(tmp_path / "before"),
        },
    ]
    keys = {**LIMPED, "flops": ["Ks7h2d", "9s8s2h:2"], "lock": lock, "checkpoint_interval": 4}
    whole = plan_unified(small_config(**keys, epochs=8), tmp_path / "whole")
    whole.run()
    part = plan_unified(small_config(**keys, epochs=4), tmp_path / "part")
    part.run()
    (tmp_path / "before").rename(tmp_path / "moved")
    again = plan_unified(small_config(**keys, epochs=8), tmp_path / "part", resume=True)
    again.run()
    one, other = (load_unified(tmp_path / name) for name in ("whole", "part"))
    assert one.exploitability == other.exploitability
    for place in range(2):
        mine, theirs = one.stored.source.arrays(place), other.stored.source.arrays(place)
        for name, array in mine.items():
            np.testing.assert_array_equal(array, theirs[name])


def test_cards_of_a_line_become_any_cards() -> None:
    assert any_cards("r2.5 c | Ah Kd 7s | x x | 5c | b50%") == "r2.5 c | * | x x | * | b50%"
    assert any_cards("r2.5") == "r2.5"
    assert any_cards("c x | x") == "c x | x"


def test_players_are_asked_for_one_thing() -> None:
    for wrong in ({}, {"always": "x", "as_is": True}):
        with pytest.raises(InputError, match="give one way to lock"):
            LockRequest("x", **wrong)  # type: ignore[arg-type]
    often = LockRequest.often("r2.5", {"fold": "55%", "a": "<=5%"})
    assert [bound.text for bound in often.bounds] == ["55%", "<=5%"]
    assert often.lines == ["r2.5"]
