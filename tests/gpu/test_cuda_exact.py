"""Exact subgames by CUDA kernels: the same play as on CPUs."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from builders.host_device import tried_device
from builders.locked_trees import with_locks

from allstreets.base import InputError
from allstreets.betting import BettingTree, Player, Street
from allstreets.cards import HAND_OF_COMBO
from allstreets.cfr import parse_schedule
from allstreets.engines.cuda.exact import CudaSubgame
from allstreets.engines.exact.buckets import suit_street_buckets
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.games.locks import Lock
from allstreets.games.spot import Spot, spot_root
from allstreets.solvers.spot import SpotSolver, _impose

RIVER = Spot("Ks8h5d2c9c", "AA,KQs,87s,T9o,55:0.4", "QQ-JJ,A5s,98s,KTo", 20, 60, bets=("50%", "a"))
TURN = Spot("Ks8s5d2c", "AA,KQs,87s", "QQ,A5s,98s:0.7", 10, 25, bets=("100%",), raises=("a",))
FLOP = Spot("7s7h7d", "AA,KQs", "QQ,98s", 10, 12, bets=("100%",), raises=("a",))
ALL_IN = Spot("7s7h7d", "AA,KQs", "QQ,98s", 10, 3, bets=("a",), raises=("a",))
RAKED = Spot(
    "Ks8s5d2c", "AA,KQs,55", "QQ,A5s", 10, 25, bets=("60%",), raises=(), rake=0.05, rake_cap=2
)
LOCKED = replace(TURN, lock=(Lock("x", hands={"QQ": {"b10": 1.0}}),))
WIDE = Spot("Ks8s5d2c9h", "22+,A2s+", "22+,K2s+", 10, 95, bets=("50%", "100%"), raises=("60%",))


def on_host(
    spot: Spot,
    precision: str = "float32",
    like: CudaSubgame | None = None,
    tremble: float = 0.0,
    shared: bool = False,
    tree: BettingTree | None = None,
) -> CudaSubgame:
    weights = spot.ranges[0].weights, spot.ranges[1].weights
    combos = np.flatnonzero(weights[0]), np.flatnonzero(weights[1])
    root, device = spot_root(spot), tried_device()
    buckets = partial(suit_street_buckets, weights=weights) if shared else None
    tree = spot.tree if tree is None else tree
    return CudaSubgame(
        tree, spot.payoffs, root, combos, device, 1, precision, like, buckets, tremble
    )


def values(game: ExactSubgame, solver: SpotSolver) -> list[Any]:
    found = []
    for player in Player:
        other = solver.reach[player.opponent]
        found += [game.best_response(player, other), game.evaluate(player, other)]
    return found


@pytest.mark.parametrize(
    ("spot", "precision"),
    [
        *((spot, "float32") for spot in (RIVER, TURN, FLOP, ALL_IN, RAKED, WIDE)),
        *((spot, "float16") for spot in (RIVER, TURN, RAKED, WIDE)),
        # Long: for the other side a whole flop is compiled in this precision.
        *(pytest.param(spot, "float16", marks=pytest.mark.long) for spot in (FLOP, ALL_IN)),
    ],
)
def test_an_iteration_agrees(spot: Spot, precision: str) -> None:
    solver = SpotSolver(spot, threads=1, precision=precision)
    there = on_host(spot, precision)
    every = parse_schedule("ahead").run(1, 1)
    solver.subgame.iterate(solver.reach, every)
    there.iterate(solver.reach, every)
    tolerance = 1e-3 if precision == "float16" else 1e-5
    for mine, other in zip(values(solver.subgame, solver), values(there, solver), strict=True):
        np.testing.assert_allclose(mine, other, atol=tolerance * np.abs(mine).max())


@pytest.mark.parametrize("spot", [RIVER, TURN])
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_trembles_agree(spot: Spot, precision: str) -> None:
    """Uniform reach hides them, so the second iteration shows the difference."""
    solver = SpotSolver(spot, threads=1, precision=precision, tremble=0.05)
    there, plain = on_host(spot, precision, tremble=0.05), on_host(spot, precision)
    every = parse_schedule("ahead").run(1, 2)
    for game in (solver.subgame, there, plain):
        game.iterate(solver.reach, every)
    tolerance = 1e-3 if precision == "float16" else 1e-5
    differ = 0.0
    for mine, other, without in zip(
        *(values(game, solver) for game in (solver.subgame, there, plain)), strict=True
    ):
        np.testing.assert_allclose(mine, other, atol=tolerance * np.abs(mine).max())
        differ = max(differ, float(np.abs(mine - without).max() / np.abs(mine).max()))
    assert differ > 10 * tolerance


def test_equal_fractions_are_rounded_by_a_dither_for_each_hand() -> None:
    """Every hand starts with even chances, so that halves of 32767 are up to the dither alone."""
    solver, there = SpotSolver(TURN, threads=1, precision="float16"), on_host(TURN, "float16")
    for game in (solver.subgame, there):
        game.iterate(solver.reach, parse_schedule("ahead").run(1, 1))
    here, found = solver.subgame.state(), there.state()
    for name in (name for name in here if name.startswith("average")):
        np.testing.assert_array_equal(found[name], here[name], err_msg=name)
        assert {16383, 16384} <= set(here[name].tolist()), name


@pytest.mark.parametrize("spot", [RIVER, TURN])
def test_both_converge_alike(spot: Spot) -> None:
    here, there = (SpotSolver(spot, threads=1) for _ in range(2))
    there.learner = on_host(spot)
    for solver in (here, there):
        solver.train_batch(60)
    assert 0 < there.exploitability() < 0.01 * spot.pot
    # Where hands are indifferent, rounding decides: strategies differ, and what they lose a little.
    near = pytest.approx(here.exploitability(), rel=0.1, abs=1e-5 * spot.pot)
    assert there.exploitability() == near
    for mine, other in zip(here.expected_values(), there.expected_values(), strict=True):
        assert mine == pytest.approx(other, abs=1e-3 * spot.pot)


def test_boards_may_be_worked_on_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    solver, every = SpotSolver(TURN, threads=1), parse_schedule("tuned").run(1, 2)
    whole = on_host(TURN)
    whole.iterate(solver.reach, every)
    expected = values(whole, solver)
    monkeypatch.setattr("allstreets.engines.cuda.exact.CHUNK_BYTES", 20_000)
    parts = on_host(TURN)
    parts.iterate(solver.reach, every)
    assert len(parts._launches[Player.OOP, 0]) > len(whole._launches[Player.OOP, 0])
    for mine, other in zip(values(parts, solver), expected, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_pots_of_a_flop_share_what_depends_on_the_cards() -> None:
    """The first pot has no all-in before the river, and the second one has."""
    every = parse_schedule("ahead").run(1, 2)
    same = replace(FLOP, oop="AA,KQs,98s", ip="AA,KQs,98s")
    first = on_host(replace(same, stack=200, bets=("10%",), raises=()))
    solver = SpotSolver(same, threads=1)
    for game in (alone := on_host(same), beside := on_host(same, like=first)):
        first.iterate(solver.reach, every)
        game.iterate(solver.reach, every)
    assert beside._cards is first._cards is not alone._cards
    for mine, other in zip(values(alone, solver), values(beside, solver), strict=True):
        np.testing.assert_array_equal(mine, other)
    solver.subgame.iterate(solver.reach, every)
    for mine, other in zip(values(solver.subgame, solver), values(beside, solver), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-5 * np.abs(mine).max())


def test_steps_are_iterations() -> None:
    solver, every = SpotSolver(TURN, threads=1), parse_schedule("ahead").run(1, 3)
    whole, halves = on_host(TURN), on_host(TURN)
    whole.iterate(solver.reach, every)
    for now in every:
        for player in Player:
            halves.step(player, solver.reach[player], solver.reach[player.opponent], now)
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, halves.state()[name])


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_run_goes_on_where_it_is_restored(precision: str) -> None:
    solver, every = SpotSolver(TURN, threads=1), parse_schedule("ahead").run(1, 5)
    whole, first, second = (on_host(TURN, precision) for _ in range(3))
    whole.iterate(solver.reach, every)
    first.iterate(solver.reach, every[:2])
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.iterate(solver.reach, every[2:])
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, second.state()[name])


def test_a_run_of_a_processor_goes_on_there_and_back() -> None:
    solver, every = SpotSolver(TURN, threads=1), parse_schedule("ahead").run(1, 40)
    solver.subgame.iterate(solver.reach, every[:20])
    there = on_host(TURN)
    there.restore({name: array.copy() for name, array in solver.subgame.state().items()})
    before = values(solver.subgame, solver)
    for mine, other in zip(before, values(there, solver), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-4 * np.abs(mine).max())
    there.iterate(solver.reach, every[20:])
    solver.subgame.restore({name: array.copy() for name, array in there.state().items()})
    assert 0 <= solver.exploitability() < 0.1


def test_what_is_locked_stays() -> None:
    solver = SpotSolver(LOCKED, threads=1)
    there = on_host(LOCKED)
    _impose(there, LOCKED.locked_nodes)
    every = parse_schedule("ahead").run(1, 1)
    solver.subgame.iterate(solver.reach, every)
    there.iterate(solver.reach, every)
    for mine, other in zip(values(solver.subgame, solver), values(there, solver), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-4 * np.abs(mine).max())


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("shared", [False, True])
def test_locked_trees_agree(precision: str, shared: bool) -> None:
    """Locks of all hands on every board, and of some hands on the first street."""
    tree = with_locks(TURN.tree, 3)
    (node, *_) = [node for node in tree.decisions(Street.TURN) if node not in tree.locks]
    chances = tuple(np.eye(int(tree.child_count[node]))[-1].tolist())
    tree = replace(tree, hand_locks={node: {int(HAND_OF_COMBO[-1]): chances, 0: chances}})
    there, solver = on_host(TURN, precision, shared=shared, tree=tree), SpotSolver(TURN, threads=1)
    weights = TURN.ranges[0].weights, TURN.ranges[1].weights
    combos = np.flatnonzero(weights[0]), np.flatnonzero(weights[1])
    buckets = partial(suit_street_buckets, weights=weights) if shared else None
    root = spot_root(TURN)
    here = ExactSubgame(tree, TURN.payoffs, root, combos, 1, precision, buckets=buckets)
    every = parse_schedule("ahead").run(1, 2)
    for game in (here, there):
        game.iterate(solver.reach, every)
    tolerance = 2e-3 if precision == "float16" else 1e-5
    for mine, other in zip(values(here, solver), values(there, solver), strict=True):
        np.testing.assert_allclose(mine, other, atol=tolerance * np.abs(mine).max())
    assert there.regret_sums() == pytest.approx(here.regret_sums(), rel=10 * tolerance)
    everything = on_host(TURN, precision, shared=shared, tree=with_locks(TURN.tree, 1))
    everything.iterate(solver.reach, every)
    assert everything.regret_sums() == (0.0, 0.0, 0)
    locked = np.array(next(iter(tree.locks.values())))
    first = next(iter(tree.locks))
    there.put_strategy(0, 0, first, locked[None, ::-1, None])
    here.put_strategy(0, 0, first, locked[None, ::-1, None])
    for game in (here, there):
        game.iterate(solver.reach, parse_schedule("ahead").run(3, 1))
    for mine, other in zip(values(here, solver), values(there, solver), strict=True):
        np.testing.assert_allclose(mine, other, atol=2 * tolerance * np.abs(mine).max())


@pytest.mark.parametrize("spot", [WIDE, replace(RAKED, oop="22+,A2s+", ip="22+,K2s+")])
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_hands_that_share_a_strategy_on_the_river(spot: Spot, precision: str) -> None:
    solver = SpotSolver(spot, threads=1, precision=precision, river_groups="suits", tremble=0.01)
    there = on_host(spot, precision, shared=True, tremble=0.01)
    assert there.memory_bytes == solver.memory_bytes < on_host(spot, precision).memory_bytes
    every = parse_schedule("ahead").run(1, 2)
    solver.subgame.iterate(solver.reach, every)
    there.iterate(solver.reach, every)
    tolerance = 1e-3 if precision == "float16" else 1e-5
    for mine, other in zip(values(solver.subgame, solver), values(there, solver), strict=True):
        np.testing.assert_allclose(mine, other, atol=tolerance * np.abs(mine).max())
    assert there.regret_sums() == pytest.approx(solver.subgame.regret_sums(), rel=10 * tolerance)
    solver.subgame.restore({name: array.copy() for name, array in there.state().items()})
    for mine, other in zip(values(solver.subgame, solver), values(there, solver), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-5 * np.abs(mine).max())


def test_what_a_gpu_cannot_do_is_said() -> None:
    with pytest.raises(InputError, match="float32 or float16"):
        on_host(TURN, "int16")


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_regrets_are_added_up_there(precision: str) -> None:
    solver, there = SpotSolver(TURN, threads=1, precision=precision), on_host(TURN, precision)
    every = parse_schedule("ahead").run(1, 3)
    there.iterate(solver.reach, every)
    solver.subgame.restore(there.state())
    total, largest, entries = solver.subgame.regret_sums()
    assert there.regret_sums() == pytest.approx((total, largest, entries), rel=1e-5)
    assert there.memory_bytes == solver.memory_bytes
