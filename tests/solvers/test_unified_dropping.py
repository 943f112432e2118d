"""Sparse storage in the unified solver: the same solution, truly evaluated, in less memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_games import BUCKETS, small_config

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import parse_hand
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.engines.quantised import TWO_BYTES
from allstreets.solvers.leaves import VisitPlan
from allstreets.solvers.precision import quantise_solution
from allstreets.solvers.whole_game import WholeGameSolver

KEYS: dict[str, Any] = {"stack_depth": 12, "raise_cap": 2}
AFTER = 10


def make(drop_unplayed_every: int = AFTER, threads: int = 1, **others: Any) -> WholeGameSolver:
    game = small_config(**KEYS).game()
    games = game.build(game.engine(threads=threads))
    schedule = parse_schedule("dcfr(1.2,0.5,4)")
    return WholeGameSolver(game, games, schedule, drop_unplayed_every=drop_unplayed_every, **others)


def bits(solver: WholeGameSolver) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in solver.state().items()}


def gap(solver: WholeGameSolver) -> float:
    found = solver.exploitability()
    assert found is not None
    return found


def dense_copy(solver: WholeGameSolver) -> WholeGameSolver:
    """The same average strategies in a solver that stores all hands, zeros for the others."""
    copy = make(0)
    games, target = solver.engine, copy.engine
    assert isinstance(games, MatrixEngine)
    assert isinstance(target, MatrixEngine)
    for node, sums in solver.preflop.sums.items():
        copy.preflop.sums[node][...] = sums
    for sparse, dense in zip(games.games, target.games, strict=True):
        for node in sparse.tree.decisions():
            for flop in range(games.flops):
                dense.set_average(flop, node, sparse.numbers_at(sparse.averages, flop, node))
    return copy


def test_before_anything_is_closed_nothing_changes() -> None:
    plain, closing = make(0), make(15)
    plain.train_batch(15)
    closing.train_batch(15)
    found = bits(closing)
    assert {name: found[name] for name in bits(plain)} == bits(plain)
    assert closing.saved_bytes == 0


def test_the_solution_is_evaluated_as_if_all_hands_were_stored() -> None:
    solver = make()
    solver.train_batch(60)
    copy = dense_copy(solver)
    assert solver.saved_bytes > 0.2 * solver.memory_bytes
    assert copy.memory_bytes == solver.memory_bytes + solver.saved_bytes
    assert gap(solver) == gap(copy)
    sparse, dense = solver.figures(), copy.figures()
    assert sparse.exploitability == dense.exploitability
    assert sparse.preflop_exploitability == dense.preflop_exploitability
    assert sparse.values == dense.values
    assert sparse.flop_exploitability is not None
    assert dense.flop_exploitability is not None
    np.testing.assert_array_equal(sparse.flop_exploitability, dense.flop_exploitability)
    np.testing.assert_array_equal(sparse.flop_shares, dense.flop_shares)
    rounded = quantise_solution(solver).figures, quantise_solution(copy).figures
    assert rounded[0].exploitability == rounded[1].exploitability != sparse.exploitability


def test_what_is_kept_of_a_solution_does_not_depend_on_storage() -> None:
    """Hands that do not get there are written as playing evenly."""
    solver = make()
    solver.train_batch(60)
    copy = dense_copy(solver)
    reach = solver.preflop.pot_reach(solver.preflop.average())
    for flop in range(solver.engine.flops):
        kept = [TWO_BYTES] * solver.engine.pots
        found = solver.engine.pack(flop, reach, kept)
        expected = copy.engine.pack(flop, reach, kept)
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)


def test_closed_hands_do_not_get_there_at_all() -> None:
    solver = make()
    solver.train_batch(60)
    assert solver.dropping is not None
    games = solver.engine
    assert isinstance(games, MatrixEngine)
    opened = solver.dropping.actions.open_hands()
    for strategies in (solver.preflop.current(), solver.preflop.average()):
        reach = solver.preflop.pot_reach(strategies)
        assert not reach[~opened].any()
    for player in Player:
        for pot, game in enumerate(games.games):
            expected = np.flatnonzero(opened[player, pot])
            kept = game.kept[player]
            np.testing.assert_array_equal(kept[kept < 169], expected)


def test_it_converges_as_without() -> None:
    plain, closing = make(0), make(threads=2)
    memory = []
    for _ in range(8):
        plain.train_batch(20)
        closing.train_batch(20)
        memory.append(closing.memory_bytes)
    assert gap(closing) <= 1.15 * gap(plain)
    assert gap(closing) < 5
    assert memory[-1] < 0.75 * plain.memory_bytes
    assert memory[-1] < memory[1]
    assert closing.dropping is not None
    review = closing.dropping.last_review
    assert review is not None
    assert review.closed > 500
    assert review.moved < 3e-3


def test_what_was_closed_wrongly_comes_back() -> None:
    """Aces that may only fold: a best response finds it, and the next review opens what it took."""
    solver = make()
    solver.train_batch(60)
    good = gap(solver)
    aces, root = parse_hand("AA"), 0
    fold = [action.kind.name for action in solver.game.tree.actions_at(root)].index("FOLD")
    assert solver.dropping is not None
    state = {name: array.copy() for name, array in solver.dropping.actions.state().items()}
    state["closing.closed.0000"][:, aces] = np.arange(len(solver.preflop.sums[root])) != fold
    solver.preflop.sums[root][:, aces] = np.eye(len(solver.preflop.sums[root]))[fold]
    solver.dropping.actions.restore(state)
    solver.dropping.store_open_hands()
    assert solver.preflop.current()[root][fold, aces] == 1
    assert not solver.dropping.actions.open_hands()[Player.IP, :, aces].any()
    bad = gap(solver)
    assert bad > good + 1
    solver.train_batch(1)
    assert solver.dropping.last_review is not None
    assert solver.dropping.last_review.reopened > 0
    assert not solver.preflop.closed[root][:, aces].all()
    solver.train_batch(139)
    assert solver.preflop.average()[root][fold, aces] < 0.05
    assert gap(solver) < 0.5 * good


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"pruning": Pruning(5, -1e5, 4, 1e10)},
        {"batches": VisitPlan(1, 2)},
    ],
    ids=["alone", "pruned", "batches"],
)
def test_a_restored_run_goes_on_bit_for_bit(others: dict[str, Any]) -> None:
    whole, begun = make(**others), make(**others)
    whole.train_batch(47)
    begun.train_batch(30)  # a review is due
    for first in (0, 5):
        begun.train_batch(first)
        resumed = make(threads=2, **others)
        resumed.restore({name: array.copy() for name, array in begun.state().items()})
        assert resumed.memory_bytes == begun.memory_bytes
        resumed.train_batch(47 - resumed.iterations)
        assert bits(resumed) == bits(whole)
    assert whole.saved_bytes > 0
    assert whole.identity != make(AFTER + 1, **others).identity
    assert "close_after" not in make(0).identity


def test_on_disk_as_in_memory(tmp_path: Path) -> None:
    resident = make()
    game = resident.game
    games = game.build(game.engine(memory="memmap", folder=tmp_path))
    mapped = WholeGameSolver(game, games, resident.schedule, drop_unplayed_every=AFTER)
    resident.train_batch(35)
    mapped.train_batch(35)
    assert bits(mapped) == bits(resident)
    assert mapped.memory_bytes < 0.9 * make(0).memory_bytes


@pytest.mark.parametrize(
    ("keys", "memory"),
    [(BUCKETS, "resident"), ({"flop_batch_size": 1}, "per_batch")],
)
def test_models_that_store_all_hands_say_so(keys: dict[str, Any], memory: Any) -> None:
    config = small_config(**keys)
    game = config.game()
    games = game.build(game.engine(config.card_model(), memory))
    with pytest.raises(InputError, match="stores all hands"):
        WholeGameSolver(game, games, config.schedule(), drop_unplayed_every=5)
