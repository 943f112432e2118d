"""Solving a later street again: the same tree, ranges of the line, and nearly the same values."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from builders.small_spots import FLOP, TURN, spot

from allstreets.base import InputError
from allstreets.betting import NodeKind
from allstreets.cards import parse_card
from allstreets.games import Lock
from allstreets.solutions import SpotSolution, solve
from allstreets.solutions.resolve import SpotPart, TrimmedSolution
from allstreets.solvers import SpotSolver

SIZES = {
    "turn_oop": {"bet": ["50%"], "raise": ["a"]},
    "turn_ip": {"bet": ["75%"], "raise": ["a"]},
    "river_oop": {"bet": ["60%"], "raise": [], "donk": ["20%"]},
    "river_ip": {"bet": ["e"], "raise": ["a"]},
}
BY_STREET = {key: TURN[key] for key in TURN if key not in ("bets", "raises")} | {"bet_sizes": SIZES}


def part_below(result: SpotSolution, root: int) -> SpotPart:
    """The part of a turn spot from a root on the river on, after the deuce of hearts."""
    dealt = (parse_card("2h"),)
    ranges = [held.on((*result.spot.cards, *dealt)) for held in result.spot.ranges]
    return SpotPart.below(result.spot, root, dealt, ranges)


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
        root = int(tree.children_of(chance)[0])
        below = part_below(result, root)
        last = root + below.tree.node_count
        assert tree.actions[root + 1 : last] == below.tree.actions[1:]
        np.testing.assert_array_equal(tree.kind[root:last], below.tree.kind)
        np.testing.assert_array_equal(tree.invested[root:last], below.tree.invested)
        np.testing.assert_array_equal(result.spot.payoffs[root:last], below.payoffs)
        assert below.pot == below.tree.pot_at(0) == tree.pot_at(root)


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
    root = result.at("x x | 2h |").index
    below = part_below(result, root)
    assert [(lock.node, lock.cards) for lock in below.locked_nodes] == [(1, ()), (0, ())]
    solved = TrimmedSolution(result.spot, result.street, 1, 0.01).at("x x | 2h | x").decision
    assert (solved.strategy[0] == 1).all()


def test_hands_that_do_not_get_there_need_no_lock() -> None:
    locks = (
        Lock("", hands={"KTs": {"bet": 1}}),
        Lock("x x | 2h |", hands={"AA,KTs": {"check": 1}}),
        Lock("x x | 2h |", hands={"KTs": {"check": 1}}),
    )
    result = solve(replace(spot(TURN), lock=locks), max_iterations=3, threads=1)
    solved = TrimmedSolution(result.spot, result.street, 1, 0.05).at("x x | 2h |").decision
    assert "AA" in {row["hand"] for row in solved.table()}
    assert solved.hand("AA").frequencies["x"] == 1
    assert solved.hand("QQ").frequencies["x"] < 1
    with pytest.raises(InputError, match="KTs is not in the range that gets here"):
        solved.hand("KTs")


def test_a_line_that_is_never_played_says_so() -> None:
    never = spot(TURN, lock=[{"line": "", "strategy": {"check": 1}}])
    result = solve(never, max_iterations=3)
    trimmed = TrimmedSolution(never, result.street, 1, 0.01)
    with pytest.raises(InputError, match="'b75 c': OOP never plays this"):
        _ = trimmed.at("b75 c | 2h |").decision
