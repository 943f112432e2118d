"""The boards below a spot's root as pieces: all of them, in an order that ends, in any order."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets.engines.exact import work_queue as exact_queue
from allstreets.engines.exact.kernels.work_queue import BACKWARD, FORWARD, RIVERS
from allstreets.engines.exact.work_queue import flop_pieces, turn_pieces, turn_waves, useful_threads
from allstreets.games import Spot
from allstreets.solvers import SpotSolver

TURN = Spot(
    board="AhTd6s3c",
    oop="AsKs,9h8h,TcTs:0.5,5d4d,QhJh",
    ip="AdQd,KdJd,6c6h,8s7s:0.75,AcKc",
    pot=60,
    stack=90,
    bets="75%",
    raises="a",
)
FLOP = replace(TURN, board="QsTh2h", oop="AsKs,9h7h:0.5", ip="AhJh,8c8d", stack=70, bets="50%,a")


@pytest.mark.parametrize("spot", [TURN, FLOP])
def test_results_are_those_of_one_thread_to_the_bit(
    spot: Spot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_queue, "LEAST_SLOTS", 1)
    solvers = [SpotSolver(spot, threads=threads) for threads in (1, 2, 5)]
    assert [len(solver.subgame.spaces) for solver in solvers] == [1, 2, 5]
    for solver in solvers:
        solver.train_batch(8)
    first = solvers[0].state()
    for solver in solvers[1:]:
        for name, array in solver.state().items():
            assert np.array_equal(array, first[name], equal_nan=True), name
        assert solver.exploitability() == solvers[0].exploitability()


def river_marks(pieces: NDArray[np.int64], rivers: int, groups: int) -> NDArray[np.int64]:
    """How often each river board and group is visited; every board after the one before it."""
    done = np.zeros((rivers, groups), np.int64)
    parent = np.full(rivers, -1)
    for kind, above, first, last, begin, end in pieces.tolist():
        if kind == RIVERS:
            for board in range(begin, end):
                if board and parent[board - 1] == above:
                    assert done[board - 1, first:last].all()
                done[board, first:last] += 1
                parent[board] = above
    return done


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("groups", [1, 2, 23])
def test_every_river_of_a_turn_is_visited_once(groups: int, threads: int) -> None:
    assert (river_marks(turn_pieces(48, groups, threads), 48, groups) == 1).all()


@pytest.mark.parametrize("threads", [1, 2, 7, 16, 64])
@pytest.mark.parametrize(("turns", "groups"), [(1, 1), (12, 1), (36, 2), (49, 3)])
def test_every_board_of_a_flop_is_visited_once_and_waits_for_earlier_pieces(
    turns: int, groups: int, threads: int
) -> None:
    children = np.concatenate([[0], np.cumsum(5 + np.arange(turns) % 4)])
    waves = turn_waves(turns, groups, threads)
    assert [turn for wave in waves for turn in wave] == list(range(turns))
    pieces = flop_pieces(children, waves, groups, threads)
    assert (river_marks(pieces, int(children[-1]), groups) == 1).all()
    slots = min(turns, 2 * max(len(wave) for wave in waves)) if threads > 1 else 1
    down, up = list[int](), list[int]()
    left = {turn: groups * int(children[turn + 1] - children[turn]) for turn in range(turns)}
    for kind, turn, first, last, begin, end in pieces.tolist():
        if kind == FORWARD:
            assert turn < slots or turn - slots in up
            down.append(turn)
        elif kind == RIVERS:
            assert turn in down
            left[turn] -= (last - first) * (end - begin)
        elif kind == BACKWARD:
            assert left[turn] == 0
            assert up == list(range(turn))
            up.append(turn)
    assert down == up == list(range(turns))


def test_small_spots_do_not_use_more_threads_than_are_worth_calling() -> None:
    assert useful_threads(16, 10) == 1
    assert useful_threads(16, 1_000_000) == 5
    assert useful_threads(2, 10**9) == 2
