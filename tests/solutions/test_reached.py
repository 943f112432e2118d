"""Lines that are not reached: learned numbers, and those that were not learned."""

import json
from typing import Any

import numpy as np
import pytest
from builders.small_spots import RIVER, TURN, spot
from builders.whole_solution import whole_game

from allstreets.betting import BIG_BLINDS, Player, parse_line
from allstreets.cards.hands import COMBO_MASKS
from allstreets.games import Lock
from allstreets.solutions import SpotSolution, action_rows, node_report
from allstreets.solutions.reached import LEAST_SHARE, LineReach, settled_actions
from allstreets.solutions.resolve import TrimmedSolution
from allstreets.solvers import SpotSolver

SEATS = ("oop", "ip")
ALWAYS_BETS = [{"line": "", "strategy": {"b50": 1}}]


@pytest.fixture(scope="module")
def locked() -> SpotSolution:
    """OOP always bets half the pot."""
    solver = SpotSolver(spot(RIVER, lock=ALWAYS_BETS), threads=1)
    solver.train_batch(60)
    return SpotSolution.of(solver)


def test_what_is_settled() -> None:
    river, turn = spot(RIVER).tree, spot(TURN).tree
    assert settled_actions(river, 0).tolist() == [False, False, False]
    facing = parse_line(river, "x a").node
    assert settled_actions(river, facing).tolist() == [True, True]
    # A call on the turn leads to the river, unless everything is in.
    assert settled_actions(turn, parse_line(turn, "b75").node).tolist() == [True, False, False]
    assert settled_actions(turn, parse_line(turn, "b75 a").node).tolist() == [True, True]
    before = whole_game().tree
    limp = parse_line(before, "c", notation=BIG_BLINDS).node
    assert settled_actions(before, limp).tolist() == [False, False, False]  # a check sees the flop


def test_one_action_is_no_choice() -> None:
    """Where nothing may be bet, checks follow from the rules."""
    none: dict[str, Any] = {
        f"{street}_{player}": {"bet": []} for street in ("turn", "river") for player in SEATS
    }
    keys = {key: TURN[key] for key in TURN if key not in ("bets", "raises")}
    tree = spot(keys, bet_sizes={**none, "turn_ip": {"bet": ["75%"]}}).tree
    assert settled_actions(tree, parse_line(tree, "x").node).tolist() == [True, False]


def test_what_is_known() -> None:
    settled = np.array([True, False, False])
    taken = np.array([0.0, LEAST_SHARE, LEAST_SHARE / 2])
    assert LineReach((1.0, 0.5), taken, settled).known.tolist() == [True, True, False]
    away = LineReach((1.0, LEAST_SHARE / 2), taken, settled)
    assert away.known.tolist() == [False, False, False]
    assert away.why_not(("OOP", "IP")).startswith("not reached: IP gets here with 0.05 % of his")


def test_an_action_that_is_locked_away_has_no_ev(locked: SpotSolution) -> None:
    root = locked.at("").decision
    assert root.reached
    assert root.known_actions.tolist() == [False, True, False]
    assert np.isnan(root.action_evs[[0, 2]]).all()
    assert np.isfinite(root.action_evs[1]).all()
    assert np.isfinite(root.evs()).all()
    for line in ("x", "x b50%", "a"):
        node = locked.at(line).decision
        assert not node.reached
        assert np.isnan(node.action_evs).all()
        assert all(np.isnan(node.evs(player)).all() for player in Player)
        told = json.loads(json.dumps(node_report(node), allow_nan=False))
        assert told["reached"] is False
        assert {row["ev"] for row in (*told["actions"], *told["players"])} == {None}
        assert {row["ev_range"] for row in told["actions"]} == {None}


def test_a_call_that_ends_the_hand_needs_no_answer() -> None:
    """Its EV against the range that bets is exact, even if no hand ever calls."""
    folds = Lock("b50", strategy={"f": 1})
    solver = SpotSolver(spot(RIVER, lock=[{"line": folds.line, "strategy": folds.strategy}]))
    solver.train_batch(40)
    node = SpotSolution.of(solver).at("b50").decision
    assert node.known_actions.tolist() == [True, True, False, False]
    oop, ip = node.hands
    fits = (COMBO_MASKS[ip.combos][:, None] & COMBO_MASKS[oop.combos]) == 0
    met = fits @ oop.reach
    equity = node.equity()
    slow = [equity[i] * (node.pot + 50) - 50 for i in range(len(equity)) if met[i] > 0]
    np.testing.assert_allclose(node.action_evs[1][met > 0], slow, atol=1e-3)
    assert np.isnan(node.taken_evs()[1])
    # The whole range, hand by hand.
    weights = ip.reach * met
    mean = sum(w * ev for w, ev in zip(weights[met > 0], slow, strict=True)) / weights.sum()
    assert node.range_evs()[1] == pytest.approx(mean, abs=1e-3)


def test_means_over_takers_need_some(locked: SpotSolution) -> None:
    node = locked.at("b50").decision
    taken, takers = node.taken, node.taken_evs()
    assert np.isnan(takers[taken < LEAST_SHARE]).all()
    often = taken >= LEAST_SHARE
    slow = [
        np.average(evs, weights=node.own.weights * chances)
        for evs, chances in zip(node.action_evs[often], node.strategy[often], strict=True)
    ]
    np.testing.assert_allclose(takers[often], slow)
    fold = action_rows(node)[0]
    assert (fold["ev"], fold["ev_range"]) == pytest.approx((0, 0), abs=1e-4)


def test_streets_that_are_solved_again_count_from_the_start() -> None:
    """A river that the turn hardly ever leads to is not reached, however it was solved again."""
    rare = {"x": 1 - LEAST_SHARE / 4, "b75": LEAST_SHARE / 4}
    solver = SpotSolver(spot(TURN, lock=[{"line": "", "strategy": rare}]), threads=1)
    solver.train_batch(10)
    again = TrimmedSolution(solver.spot, solver.view, 1, 0.05, threads=1)
    for result in (SpotSolution.of(solver), again):
        assert result.at("x x | 2h |").decision.reached
        river = result.at("b75% c | 2h |").decision
        assert not river.reached
        assert river.line_reach.shares[0] == pytest.approx(LEAST_SHARE / 4, rel=0.1)
