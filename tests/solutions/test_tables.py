"""A node in figures: rows agree with each other and with the node."""

import json
import math

import pytest
from builders.small_spots import RIVER, spot

from allstreets.solutions import SpotSolution, action_rows, node_report, player_rows, solve
from allstreets.solutions.format import action_symbols
from allstreets.solutions.tables import reached_rows


@pytest.fixture(scope="module")
def result() -> SpotSolution:
    return solve(spot(RIVER), 0.005)


@pytest.mark.parametrize("line", ["", "x", "x b50%", "b50% r60%"])
def test_totals(result: SpotSolution, line: str) -> None:
    node = result.at(line).decision
    actions, players = action_rows(node), player_rows(node)
    assert sum(row["frequency"] for row in actions) == pytest.approx(1)
    assert sum(row["combos"] for row in actions) == pytest.approx(node.reach.sum())
    worth = sum(row["frequency"] * row["ev"] for row in actions if row["frequency"] > 0)
    assert worth == pytest.approx(players[node.player]["ev"], abs=1e-4)
    assert sum(row["ev"] for row in players) == pytest.approx(node.pot, abs=0.01)
    assert sum(row["equity"] for row in players) == pytest.approx(1)
    for row in players:
        assert row["eqr"] == pytest.approx(row["ev"] / (row["equity"] * node.pot))


def test_combos_stand_in_the_order_of_hands(result: SpotSolution) -> None:
    rows = reached_rows(result.at("").decision)
    assert [row["hand"] for row in rows[:6]] == ["AA"] * 6
    assert len({row["combo"] for row in rows}) == len(rows)
    assert all(row["reach"] > 0 for row in rows)


def test_the_report_is_json(result: SpotSolution) -> None:
    node = result.at("x b50%").decision
    found = json.loads(json.dumps(node_report(node), allow_nan=False))
    assert (found["player"], found["street"]) == ("OOP", "river")
    assert found["stacks"] == {"OOP": 300, "IP": 250}
    assert found["share"] == pytest.approx(
        result.at("").decision.taken[0] * result.at("x").decision.taken[1]
    )


def test_an_action_that_nobody_takes_has_no_ev() -> None:
    locked = spot(RIVER, lock=[{"line": "", "strategy": {"check": 1}}])
    rows = action_rows(solve(locked, max_iterations=5).at("").decision)
    assert [row["frequency"] for row in rows] == [1, 0, 0]
    assert math.isnan(rows[1]["ev"])


def test_symbols(result: SpotSolution) -> None:
    assert action_symbols(result.at("").decision) == ("x", "b", "a")
    more = solve(spot(RIVER, bets=["33%", "75%", "a"]), max_iterations=1)
    assert action_symbols(more.at("").decision) == ("x", "1", "2", "a")
    assert action_symbols(more.at("a").decision) == ("f", "c")
