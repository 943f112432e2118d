"""The exact subgame against loops over combos, cards and showdowns."""

from dataclasses import replace

import numpy as np
import pytest
from builders.small_spots import RIVER as SMALL_RIVER
from builders.small_spots import spot as small_spot
from reference.spot import NaiveSpot

from allstreets.betting import NodeKind, Player
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_MASKS,
    COMBO_PERMUTATIONS,
    make_card,
    matchups,
    parse_cards,
    runouts,
)
from allstreets.cfr import parse_schedule
from allstreets.engines.exact import subgame as exact
from allstreets.engines.exact.cards import first_street, kernel_boards
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.games import Spot
from allstreets.solvers import SpotSolver

RIVER = Spot(
    board="Ks7d4c9h2s",
    oop="AA,KQs,76s:0.5,AsQs,5h3h,K9o",
    ip="KK,99:0.25,A7s,QJs,76s,KQo",
    pot=100,
    stack=170,
    bets="50%,a",
    raises="60%,a",
)
RAKED = replace(RIVER, rake=0.05, rake_cap=7.0)
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
# Three suits that change places, in orbits of one to six combos, the same ones for both players.
MONOTONE = Spot(
    board="QsJs2s7s",
    oop="AA,T9s,54s",
    ip="KK,AA,88,AKo:0.5",
    pot=100,
    stack=150,
    bets="75%",
    raises="100%",
)


def slow_twin(spot: Spot, algorithm: str, tremble: float = 0.0) -> NaiveSpot:
    ranges = [
        {int(c): float(one.weights[c]) for c in np.flatnonzero(one.weights)} for one in spot.ranges
    ]
    schedule = parse_schedule(algorithm)
    return NaiveSpot(spot.tree, spot.payoffs, spot.cards, (ranges[0], ranges[1]), schedule, tremble)


def compare(
    solver: SpotSolver,
    player: Player,
    ours: np.ndarray,
    slow: dict[int, float],
    tolerance: float = 1e-5,
) -> None:
    combos = solver.subgame.streets[0].combos(player, 0)
    expected = np.array([slow[combo] for combo in combos.tolist()])
    scale = solver.spot.pot * float(solver.reach[player.opponent].sum())
    assert np.abs(ours - expected).max() < tolerance * scale


@pytest.mark.parametrize(
    ("spot", "algorithm", "iterations", "tremble"),
    [
        (RIVER, "tuned", 24, 0.0),
        (RIVER, "dcfr+", 6, 0.0),
        (RIVER, "cfr+", 6, 0.0),
        (RIVER, "linear", 6, 0.0),
        (RAKED, "tuned", 6, 0.0),
        (TURN, "tuned", 4, 0.0),
        (TURN, "vanilla", 3, 0.0),
        (SYMMETRIC, "tuned", 4, 0.0),
        (RIVER, "ahead", 24, 0.0),
        (RAKED, "ahead", 6, 0.0),
        (TURN, "ahead", 2, 0.0),
        (MONOTONE, "ahead", 3, 0.0),
        (RIVER, "ahead", 6, 0.01),
        (TURN, "ahead", 2, 0.1),
        pytest.param(FLOP, "ahead", 2, 0.0, marks=pytest.mark.long),
    ],
)
def test_iterations_agree_with_loops(
    monkeypatch: pytest.MonkeyPatch, spot: Spot, algorithm: str, iterations: int, tremble: float
) -> None:
    solver = SpotSolver(spot, algorithm, threads=1, tremble=tremble)
    twin = slow_twin(spot, algorithm, tremble)
    monkeypatch.setattr(exact, "EVERY_STRATEGY", 16)  # so that some are left out
    twin.every = 16
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


@pytest.mark.parametrize(
    ("spot", "precision"), [(RIVER, "float16"), (RIVER, "int16"), (TURN, "float16")]
)
def test_sixteen_bits_solve_the_same_spot(spot: Spot, precision: str) -> None:
    exact, half = SpotSolver(spot, threads=1), SpotSolver(spot, threads=1, precision=precision)
    assert half.memory_bytes * 2 == exact.memory_bytes
    for solver in (exact, half):
        solver.train_batch(200)
    assert half.exploitability() / spot.pot < 0.005
    assert half.expected_values() == pytest.approx(exact.expected_values(), abs=0.005 * spot.pot)
    # Padding is no part of the figures, and the scale is put back.
    assert half.avg_positive_regret == pytest.approx(exact.avg_positive_regret, rel=0.5)


@pytest.mark.parametrize(
    ("spot", "precision", "early", "late"),
    [
        (small_spot(SMALL_RIVER), "float16", 1000, 10_000),
        (small_spot(SMALL_RIVER), "int16", 1000, 10_000),
        pytest.param(TURN, "float16", 400, 2000, marks=pytest.mark.long),
    ],
)
def test_sixteen_bits_do_not_get_worse_with_iterations(
    spot: Spot, precision: str, early: int, late: int
) -> None:
    """A mean that is rounded to the nearest number stops moving, and then drifts."""
    exact, half = SpotSolver(spot, threads=1), SpotSolver(spot, threads=1, precision=precision)
    for solver in (exact, half):
        solver.train_batch(early)
    before, bound = half.exploitability(), 2 * exact.exploitability()
    half.train_batch(late - early)
    assert half.exploitability() <= min(before, bound)


@pytest.mark.parametrize("precision", ["float16", "int16"])
def test_sixteen_bits_round_alike_when_a_run_is_taken_up_again(precision: str) -> None:
    whole, first, second = (SpotSolver(RIVER, threads=1, precision=precision) for _ in range(3))
    whole.train_batch(60)
    first.train_batch(25)
    second.restore({name: array.copy() for name, array in first.state().items()})
    second.train_batch(35)
    for name, array in whole.state().items():
        assert np.array_equal(array, second.state()[name]), name


@pytest.mark.long
def test_folded_suits_stay_alike_however_long_it_runs() -> None:
    """Isomorphic combos play the same strategy, so the folded game is zero-sum.

    Long: thousands of iterations.
    """
    solver, tree = SpotSolver(MONOTONE, "linear", threads=1), MONOTONE.tree
    solver.train_batch(1500)
    before = solver.exploitability()
    solver.train_batch(4500)
    assert solver.exploitability() < 0.6 * before
    assert sum(solver.expected_values()) == pytest.approx(MONOTONE.pot, rel=1e-6)
    for cards in ((), (make_card(3, 3),), (make_card(3, 0),)):  # 5s leaves all suits, 5c two
        view, street = solver.view(cards), tree.first_street + len(cards)
        for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street)):
            strategy, combos = view.strategy(int(node)), view.combos[tree.player[node]]
            fixed = [
                p for p in solver.subgame.streets[0].runouts[0].symmetries
                if all(CARD_PERMUTATIONS[p, card] == card for card in cards)
            ]  # fmt: skip
            place = {int(combo): at for at, combo in enumerate(combos)}
            for renaming in fixed:
                moved = [place[int(COMBO_PERMUTATIONS[renaming, combo])] for combo in combos]
                assert np.array_equal(strategy, strategy[:, moved])


def test_a_hand_is_stored_once_for_all_combos_that_suits_do_not_tell_apart() -> None:
    street = SpotSolver(MONOTONE, threads=1).subgame.streets[0]
    hands = street.hands[Player.OOP][0]
    # AA: with the spade or without; T9 and 54: in spades or not.
    assert len(hands.combos) == 14
    assert sorted(hands.sizes.tolist()) == [1, 1, 3, 3, 3, 3]


def unfolded(spot: Spot) -> SpotSolver:
    """A solver for which every suit is a suit of its own."""
    solver = SpotSolver(spot, threads=1)
    root = solver.subgame.streets[0].runouts[0].with_symmetries((0,))
    oop, ip = (np.flatnonzero(one.weights) for one in spot.ranges)
    solver.learner = ExactSubgame(spot.tree, spot.payoffs, root, (oop, ip), threads=1)
    return solver


@pytest.mark.parametrize("board", ["Ks8s3s", "7d7h7c", "QsJh2h7s"])
def test_all_in_matrices_sum_the_equities_of_combos(board: str) -> None:
    cards = tuple(parse_cards(board))
    chance = np.random.default_rng(4)
    ranges = np.flatnonzero(chance.random(1326) < 0.4), np.arange(1326)
    weights = [np.isin(np.arange(1326), combos).astype(float) for combos in ranges]
    street = first_street(runouts(cards, weights), ranges)
    for threads in (1, 3):
        for player in Player:
            boards = kernel_boards(street, None, player, all_ins=True, threads=threads)
            mine, his = street.hands[player][0], street.hands[player.opponent][0]
            found = boards.equity.reshape(int(boards.own_start[1]), -1)
            equity = matchups(cards, mine.first, his.combos).equity
            fits = (COMBO_MASKS[mine.first][:, None] & COMBO_MASKS[his.combos]) == 0
            nets = np.where(fits, 2 * equity - 1, 0.0)
            for hand in range(len(his.first)):
                whole = nets[:, his.hand == hand].sum(axis=1)
                assert found[: len(mine.first), hand] == pytest.approx(whole, abs=1e-6)
            assert not found[len(mine.first) :].any()
            assert not found[:, len(his.first) :].any()


def test_runouts_folded_together_give_what_all_cards_give() -> None:
    solver, plain = SpotSolver(SYMMETRIC, threads=1), unfolded(SYMMETRIC)
    assert len(solver.subgame.streets[1].runouts) < 48
    assert len(plain.subgame.streets[1].runouts) == 48
    for one in (solver, plain):
        one.train_batch(50)
    assert solver.exploitability() == pytest.approx(plain.exploitability(), rel=1e-3, abs=1e-6)
    assert solver.expected_values() == pytest.approx(plain.expected_values(), abs=1e-4)
