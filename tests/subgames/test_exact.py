"""The exact subgame against loops over combos, cards and showdowns."""

import numpy as np
import pytest
from naive_spot import NaiveSpot

from allstreets.betting import Player
from allstreets.cfr import parse_schedule
from allstreets.solvers import Spot, SpotSolver

RIVER = Spot(
    board="Ks7d4c9h2s",
    oop="AA,KQs,76s:0.5,AsQs,5h3h,K9o",
    ip="KK,99:0.25,A7s,QJs,76s,KQo",
    pot=100,
    stack=170,
    bets="50%,a",
    raises="60%,a",
)
RAKED = Spot(**{**RIVER.__dict__, "rake": 0.05, "rake_cap": 7.0})
TURN = Spot(
    board="AhTd6s3c",
    oop="AsKs,9h8h,TcTs:0.5,5d4d,QhJh",
    ip="AdQd,KdJd,6c6h,8s7s:0.75,AcKc",
    pot=60,
    stack=90,
    bets="75%",
    raises="a",
)
FLOP = Spot(
    board="Qs8h2h",
    oop="AsKs,9h7h:0.5",
    ip="AhJh,8c8d",
    pot=40,
    stack=35,
    bets="a",
    raises="a",
)
# Suits that change places: clubs and diamonds are the same, so runouts are folded together.
SYMMETRIC = Spot(
    board="QsJh2h7s",
    oop="AcKc,AdKd,9s9h",
    ip="QdTd,QcTc,8s8h",
    pot=50,
    stack=60,
    bets="a",
    raises="a",
)


def slow_twin(spot: Spot, algorithm: str) -> NaiveSpot:
    ranges = [
        {int(c): float(one.weights[c]) for c in np.flatnonzero(one.weights)} for one in spot.ranges
    ]
    return NaiveSpot(
        spot.tree, spot.payoffs, spot.cards, (ranges[0], ranges[1]), parse_schedule(algorithm)
    )


def compare(
    solver: SpotSolver,
    player: Player,
    ours: np.ndarray,
    slow: dict[int, float],
    tolerance: float = 1e-5,
) -> None:
    combos = solver.subgame.streets[0].hands[player][0]
    expected = np.array([slow[combo] for combo in combos.tolist()])
    scale = solver.spot.pot * float(solver.reach[player.opponent].sum())
    assert np.abs(ours - expected).max() < tolerance * scale


@pytest.mark.parametrize(
    ("spot", "algorithm", "iterations"),
    [
        (RIVER, "tuned", 24),
        (RIVER, "dcfr+", 6),
        (RIVER, "cfr+", 6),
        (RIVER, "linear", 6),
        (RAKED, "tuned", 6),
        (TURN, "tuned", 4),
        (TURN, "vanilla", 3),
        (SYMMETRIC, "tuned", 4),
        (FLOP, "tuned", 2),
    ],
)
def test_iterations_agree_with_loops(spot: Spot, algorithm: str, iterations: int) -> None:
    solver, twin = SpotSolver(spot, algorithm, threads=1), slow_twin(spot, algorithm)
    for iteration in range(1, iterations + 1):
        for player in Player:
            now = solver.schedule.at(iteration)
            ours = solver.subgame.step(
                player, solver.reach[player], solver.reach[player.opponent], now
            )
            # Single precision drifts from double as iterations feed on each other.
            tolerance = 1e-5 if iteration <= 12 else 1e-4
            compare(solver, player, ours, twin.step(player, iteration), tolerance)
    for player in Player:
        other = solver.reach[player.opponent]
        compare(
            solver, player, solver.subgame.best_response(player, other), twin.best_response(player)
        )
        compare(solver, player, solver.subgame.evaluate(player, other), twin.evaluate(player))


@pytest.mark.parametrize("spot", [TURN, SYMMETRIC])
def test_threads_do_not_change_the_game(spot: Spot) -> None:
    """Sums in another order round differently, so only the solution can be compared."""
    one, two = SpotSolver(spot, threads=1), SpotSolver(spot, threads=2)
    for player in Player:
        values = [
            solver.subgame.step(
                player, solver.reach[player], solver.reach[player.opponent], solver.schedule.at(1)
            )
            for solver in (one, two)
        ]
        assert np.abs(values[0] - values[1]).max() < 1e-4
    for solver in (one, two):
        solver.train_batch(300)
        assert solver.exploitability() < 0.003 * spot.pot
    assert one.expected_values() == pytest.approx(two.expected_values(), abs=0.003 * spot.pot)


def test_many_iterations_at_once_are_the_same_as_one_by_one() -> None:
    batch, single = SpotSolver(RIVER, threads=1), SpotSolver(RIVER, threads=1)
    batch.train_batch(100)
    for _ in range(100):
        single.train_batch(1)
    by_hand = SpotSolver(RIVER, threads=1)
    for iteration in range(1, 101):
        for player in Player:
            by_hand.subgame.step(
                player,
                by_hand.reach[player],
                by_hand.reach[player.opponent],
                by_hand.schedule.at(iteration),
            )
    for name, array in batch.subgame.state().items():
        assert np.array_equal(array, single.subgame.state()[name]), name
        assert np.array_equal(array, by_hand.subgame.state()[name]), name


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_run_twice_is_the_same_to_the_bit(threads: int) -> None:
    runs = []
    for _ in range(2):
        solver = SpotSolver(TURN, threads=threads)
        solver.train_batch(15)
        runs.append(solver.state())
    for name, array in runs[0].items():
        assert np.array_equal(array, runs[1][name], equal_nan=True), name


@pytest.mark.parametrize("precision", ["float16", "int16"])
@pytest.mark.parametrize("spot", [RIVER, TURN])
def test_sixteen_bits_solve_the_same_spot(spot: Spot, precision: str) -> None:
    exact, half = SpotSolver(spot, threads=1), SpotSolver(spot, threads=1, precision=precision)
    assert half.memory_bytes * 2 == exact.memory_bytes
    for solver in (exact, half):
        solver.train_batch(200)
    assert half.exploitability() / spot.pot < 0.005
    assert half.expected_values() == pytest.approx(exact.expected_values(), abs=0.005 * spot.pot)
    # Padding is no part of the figures, and the scale is put back.
    assert half.avg_positive_regret == pytest.approx(exact.avg_positive_regret, rel=0.5)


def test_runouts_folded_together_give_what_all_cards_give() -> None:
    solver = SpotSolver(SYMMETRIC, threads=1)
    assert len(solver.subgame.streets[1].runouts) < 48
    plain = SpotSolver(SYMMETRIC, threads=1)
    root = plain.subgame.streets[0].runouts[0].without_symmetry()
    from allstreets.subgames.exact import ExactSubgame

    combos = tuple(np.flatnonzero(one.weights) for one in SYMMETRIC.ranges)
    plain.subgame = ExactSubgame(
        SYMMETRIC.tree, SYMMETRIC.payoffs, root, (combos[0], combos[1]), threads=1
    )
    assert len(plain.subgame.streets[1].runouts) == 48
    for one in (solver, plain):
        one.train_batch(50)
    assert solver.exploitability() == pytest.approx(plain.exploitability(), rel=1e-3, abs=1e-6)
    assert solver.expected_values() == pytest.approx(plain.expected_values(), abs=1e-4)
