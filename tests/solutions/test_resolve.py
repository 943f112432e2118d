"""Solving a later street again: the same tree, ranges of the line, and nearly the same values."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from builders.small_spots import FLOP, TURN, spot

from allstreets.base import InputError
from allstreets.betting import NodeKind, line_text, parse_line
from allstreets.games import Lock
from allstreets.solutions import SpotSolution, solve
from allstreets.solutions.resolve import TrimmedSolution, rest_of_line, spot_below
from allstreets.solvers import SpotSolver

SIZES = {
    "turn_oop": {"bet": ["50%"], "raise": ["a"]},
    "turn_ip": {"bet": ["75%"], "raise": ["a"]},
    "river_oop": {"bet": ["60%"], "raise": [], "donk": ["20%"]},
    "river_ip": {"bet": ["e"], "raise": ["a"]},
}
BY_STREET = {key: TURN[key] for key in TURN if key not in ("bets", "raises")} | {"bet_sizes": SIZES}


@pytest.mark.parametrize(
    "amounts",
    [
        {},
        # After a bet of half the pot both amounts are whole, and bets are by the hundredth still.
        {"pot": 5, "stack": 20.5, "chips_per_bb": 1, "max_raises": 1},
        {"edit": [{"line": "x x | * | x", "add": "120%"}, {"line": "b50", "remove": "a"}]},
    ],
)
def test_every_street_below_is_the_same_tree(amounts: dict[str, Any]) -> None:
    """Donk sizes, geometric sizes and thresholds included, after every line to the river."""
    result = solve(spot(BY_STREET, **amounts), max_iterations=3)
    tree = result.spot.tree
    chances = np.flatnonzero(tree.kind == NodeKind.CHANCE).tolist()
    assert len(chances) >= 3
    for chance in chances:
        text = f"{line_text(tree, chance)} | 2h |"
        line = parse_line(tree, text, board=result.spot.cards)
        below, _ = spot_below(result, line, 1)
        root = int(tree.children_of(chance)[0])
        last = root + below.tree.node_count
        assert tree.actions[root + 1 : last] == below.tree.actions[1:]
        np.testing.assert_array_equal(tree.kind[root:last], below.tree.kind)
        gap = tree.invested[root:last] - below.tree.invested
        np.testing.assert_allclose(gap - tree.invested[root], 0, atol=1e-9)
        assert below.pot == tree.pot_at(root)


def test_values_and_reach_are_those_of_the_full_solution() -> None:
    solver = SpotSolver(spot(TURN))
    solver.train_batch(400)
    full = SpotSolution.of(solver)
    told: list[str] = []
    trimmed = TrimmedSolution(
        solver.spot, solver.view, 1, 0.0005, lambda _, line, __: told.append(line)
    )
    for line in ("x x | 2h |", "x x | 2h | x", "b75% c | Kd |", "x b75% c | 8c | x"):
        one, other = full.at(line).decision, trimmed.at(line).decision
        assert (one.pot, one.board, one.actions, one.player) == (
            other.pot,
            other.board,
            other.actions,
            other.player,
        )
        for player in one.player, one.player.opponent:
            assert other.hands[player].size == pytest.approx(
                one.hands[player].size, rel=0.02, abs=1e-3
            )
            assert abs(one.ev(player) - other.ev(player)) < 0.01 * one.pot
    assert told == ["x x | 2h", "b75 c | Kd", "x b75 c | 8c"]


@pytest.mark.long
def test_two_streets_below() -> None:
    """Long: two streets are solved again."""
    solver = SpotSolver(spot(FLOP))
    solver.train_batch(100)
    full, trimmed = SpotSolution.of(solver), TrimmedSolution(solver.spot, solver.view, 1, 0.0005)
    line = "x x | 2h | x x | 3c | x"
    one, other = full.at(line).decision, trimmed.at(line).decision
    assert other.line == line
    assert abs(one.ev() - other.ev()) < 0.01 * one.pot


def test_locks_go_along() -> None:
    locks = (
        Lock("x x | * | x", strategy={"check": 1}),
        Lock("x x | 2h |", hands={"AA": {"b75": 1}}),
        Lock("x x | 3h |", hands={"AA": {"b75": 1}}),
        Lock("b75 c | * |", strategy={"check": 1}),
        Lock("", hands={"AA": {"check": 1}}),
    )
    result = solve(replace(spot(TURN), lock=locks), max_iterations=5)
    line = parse_line(result.spot.tree, "x x | 2h |", board=result.spot.cards)
    below, _ = spot_below(result, line, 1)
    assert [lock.line for lock in below.lock] == ["x", ""]
    solved = TrimmedSolution(result.spot, result.street, 1, 0.01).at("x x | 2h | x").decision
    assert (solved.strategy[0] == 1).all()


def test_hands_that_do_not_get_there_need_no_lock() -> None:
    locks = (
        Lock("", hands={"KTs": {"bet": 1}}),
        Lock("x x | 2h |", hands={"AA,KTs": {"check": 1}}),
        Lock("x x | 2h |", hands={"KTs": {"check": 1}}),
    )
    result = solve(replace(spot(TURN), lock=locks), max_iterations=3, threads=1)
    line = parse_line(result.spot.tree, "x x | 2h |", board=result.spot.cards)
    below, _ = spot_below(result, line, 1)
    assert [lock.hands for lock in below.lock] == [{"AA": {"check": 1}}]
    assert len(below.locked_nodes) == 1


def test_a_line_that_is_never_played_says_so() -> None:
    never = spot(TURN, lock=[{"line": "", "strategy": {"check": 1}}])
    result = solve(never, max_iterations=3)
    trimmed = TrimmedSolution(never, result.street, 1, 0.01)
    with pytest.raises(InputError, match="'b75 c': OOP never plays this"):
        _ = trimmed.at("b75 c | 2h |").decision


def test_rest_of_line() -> None:
    assert rest_of_line("", 0) == ""
    assert rest_of_line("x x | 2h", 1) == ""
    assert rest_of_line("x x | 2h | b75 c | 3h | x", 2) == "x"
