"""Spots with solutions in closed form: a player who has the nuts or nothing bets into one hand."""

from functools import cache
from typing import Any

import pytest

from allstreets.betting import Player
from allstreets.games import Lock, Spot
from allstreets.solutions import SpotSolution, solve

RIVER = "9c7s5h3d2c"
NUTS, AIR, CATCHER = "AsAh", "JsJh", "QcQd"
POT = 100


def river(*locks: Lock) -> SpotSolution:
    """A bet of the pot: the nuts bet, half of the air does, and half is called."""
    sizes: dict[str, Any] = {
        "river_oop": {"bet": ["a"], "raise": []},
        "river_ip": {"bet": [], "raise": []},
    }
    spot = Spot(RIVER, f"{NUTS},{AIR}", CATCHER, POT, POT, lock=locks, bet_sizes=sizes)
    return solve(spot, target=1e-5)


def bets(solution: SpotSolution, line: str, hand: str) -> float:
    play = solution.at(line).decision
    return 1 - play.hand(hand).frequencies["x"]


def test_bluffs_and_calls_of_a_bet_of_the_pot() -> None:
    solution = river()
    assert bets(solution, "", NUTS) == pytest.approx(1, abs=2e-3)
    assert bets(solution, "", AIR) == pytest.approx(1 / 2, abs=5e-3)
    calls = solution.at("a").decision.hand(CATCHER).frequencies["c"]
    assert calls == pytest.approx(1 / 2, abs=5e-3)
    # To call is worth nothing, so a bet wins the pot: 3/4 of the time.
    assert solution.evs == pytest.approx((75, 25), abs=0.05)


@pytest.mark.parametrize(("calls", "bluffs"), [(1.0, 0), (0.65, 0), (0.3, 1)])
def test_the_best_answer_to_a_player_who_calls_too_much_or_too_little(
    calls: float, bluffs: int
) -> None:
    solution = river(Lock("a", {"fold": 1 - calls, "call": calls}))
    assert bets(solution, "", NUTS) == pytest.approx(1, abs=2e-3)
    assert bets(solution, "", AIR) == pytest.approx(bluffs, abs=2e-3)
    nuts = POT + calls * POT
    air = max(POT - calls * 2 * POT, 0)
    assert solution.evs[Player.OOP] == pytest.approx((nuts + air) / 2, abs=0.05)


SHARE = 0.3  # of the pot, three times: that is the stack
RATIO = SHARE / (1 + SHARE)  # bluffs for each hand that bets for value on the river


@cache
def three_streets() -> SpotSolution:
    stack = POT * ((1 + 2 * SHARE) ** 3 - 1) / 2
    sizes: dict[str, Any] = {
        f"{street}_{seat}": {"bet": ["30%"] if seat == "oop" else [], "raise": []}
        for street in ("flop", "turn", "river")
        for seat in ("oop", "ip")
    }
    spot = Spot("AsAhKs", "AcAd,3c2c", "KcKh", POT, round(stack, 6), bet_sizes=sizes)
    return solve(spot, target=0, max_iterations=50)


def test_bluffs_over_three_streets() -> None:
    """A call must win back its price where the air gives up on the next street.

    One of the two cards of the nuts or of the air comes in 2 of 45 deals of the turn and 2 of 44 of
    the river, and says which of them is held.
    """
    solution = three_streets()
    turn = (SHARE + (1 + 2 * SHARE) * 42 / 44 * RATIO) / (1 + SHARE)
    flop = (SHARE + (1 + 2 * SHARE) * 43 / 45 * turn) / (1 + SHARE)
    assert bets(solution, "", "AcAd") == pytest.approx(1, abs=5e-3)
    assert bets(solution, "", "3c2c") == pytest.approx(flop, abs=0.02)
    assert bets(solution, "b30 c | 9d |", "3c2c") == pytest.approx(turn / flop, abs=0.02)
    last = bets(solution, "b30 c | 9d | b48 c | 8d |", "3c2c")
    assert last == pytest.approx(RATIO / turn, abs=0.02)
    calls = solution.at("b30").decision.hand("KcKh").frequencies["c"]
    assert calls == pytest.approx(1 / (1 + SHARE), abs=0.02)
    assert solution.evs[Player.OOP] == pytest.approx(POT * (1 + flop) / 2, abs=0.1)
