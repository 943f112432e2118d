"""Off-path lines, solved separately: the same as a solution in which all hands take them."""

import numpy as np
import pytest
from builders.small_spots import RIVER, TURN, spot

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.solutions import SpotSolution, solve_behind
from allstreets.solvers import SpotSolver

ALWAYS = 1.0


def solved(keys: dict[str, object], iterations: int, *locks: tuple[str, str]) -> SpotSolution:
    """A spot in which locks (line, action) are held."""
    given = [{"line": line, "strategy": {action: ALWAYS}} for line, action in locks]
    solver = SpotSolver(spot(keys, lock=given), threads=1)
    solver.train_batch(iterations)
    return SpotSolution.of(solver)


def alike(one: SpotSolution, line: str, forced: SpotSolution) -> None:
    """The values after a line are those of the game in which the line is forced."""
    behind = solve_behind(one, line, target=0.001, threads=1)
    assert behind.exploitability <= 0.001
    node, twin = behind.node(line), forced.at(line).decision
    assert not one.at(line).decision.reached
    assert node.reached == twin.reached
    assert "as if" in node.notes[0]
    assert (node.board, node.pot, node.to_call, node.actions) == (
        twin.board,
        twin.pot,
        twin.to_call,
        twin.actions,
    )
    np.testing.assert_array_equal(node.combos, twin.combos)
    for player in Player:
        assert node.ev(player) == pytest.approx(twin.ev(player), abs=0.005 * twin.pot)
    both = sum(node.ev(player) for player in Player)
    assert both == pytest.approx(node.pot, abs=0.01)


def test_a_check_that_is_locked_away_on_the_river() -> None:
    bets, checks = solved(RIVER, 30, ("", "bet")), solved(RIVER, 400, ("", "check"))
    for line in ("x", "x b50%"):
        alike(bets, line, checks)
    assert solve_behind(bets, "x").node("x").hands[0].size == pytest.approx(94)


def test_a_bet_before_the_last_card() -> None:
    """The river is solved along; locks below hold there, too."""
    river = ("b75 c | * |", "check")
    checks, bets = solved(TURN, 30, ("", "x"), river), solved(TURN, 400, ("", "bet"), river)
    alike(checks, "b75", bets)
    node = solve_behind(checks, "b75", 0.01).node("b75 c | 2h |")
    assert node.locked.all()
    assert (node.strategy[0] == 1).all()
    both = sum(node.ev(player) for player in Player)
    assert both == pytest.approx(250, abs=0.01)


def test_a_street_that_nobody_gets_to() -> None:
    """The action ends the street: one board of the next one is all that is solved."""
    first = ("", "check")  # so that the ranges are the same in both
    bets, checks = solved(TURN, 30, first, ("x", "bet")), solved(TURN, 400, first, ("x", "x"))
    alike(bets, "x x | 2h | x", checks)
    behind = solve_behind(bets, "x x | 2h |", 0.01)
    assert behind.line == "x x | 2h"
    assert behind.solved.spot.tree.node_count < spot(TURN).tree.node_count
    with pytest.raises(InputError, match=r"'x x \| 3h \|' does not follow 'x x \| 2h'"):
        behind.node("x x | 3h |")


def test_what_is_reached_needs_no_solving() -> None:
    with pytest.raises(InputError, match="'x' is reached: it needs no separate solving"):
        solve_behind(solved(RIVER, 3), "x")
    with pytest.raises(InputError, match="a card is dealt there"):
        solve_behind(solved(TURN, 3), "x x")
