"""A spot is checked when it is made, and weights count by their ratios."""

from typing import Any

import numpy as np
import pytest
from builders.small_spots import RIVER, spot

from allstreets.base import InputError
from allstreets.cards import Range, equity
from allstreets.games import Spot, spot_mapping
from allstreets.solutions import SpotSolution, solve
from allstreets.solvers import SpotSolver

GOOD: dict[str, Any] = {"board": "Ks7d4c9h2s", "oop": "TT+", "ip": "AQs+", "pot": 10, "stack": 20}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"oop": "TTx"}, r"oop: range, character 1: 'TTx' is not a hand"),
        ({"ip": ""}, "ip: the range is empty"),
        ({"ip": "KsKh"}, "ip: the range 'KsKh' is blocked"),
        ({"oop": 5}, "oop: 5 is not a range"),
        ({"oop": "AcAd", "ip": "AcAh"}, "the two ranges block each other"),
        ({"board": "KsKs2c"}, "board: .*contains the card Ks twice"),
        ({"board": "Ks7d"}, "board: "),
        ({"board": 7}, "board: 7 is not a text"),
        ({"pot": 0}, "pot 0 "),
        ({"stack": -1}, "stack -1 "),
        ({"pot": "ten"}, "pot 'ten'"),
        ({"bets": "x%"}, "bet sizes"),
        ({"raises": ["-5%"]}, "raise sizes"),
        ({"rake": 5}, "rake 5 "),
        ({"rake": float("nan")}, "rake nan "),
        ({"force_allin_threshold": -1}, "force_allin_threshold -1 "),
        ({"lock": ({"line": ""},)}, "lock: .* is not a Lock"),
    ],
)
def test_what_is_wrong_is_said_at_once(changed: dict[str, Any], message: str) -> None:
    Spot(**GOOD)
    with pytest.raises(InputError, match=message):
        Spot(**{**GOOD, **changed})


def test_keys_of_a_mapping() -> None:
    with pytest.raises(InputError, match="unknown key 'stak': did you mean 'stack'"):
        Spot.from_mapping({**GOOD, "stak": 5})
    with pytest.raises(InputError, match="oop and stack missing: a spot needs board, oop, ip"):
        Spot.from_mapping({"board": "Ks7d4c9h2s", "ip": "AA", "pot": 10})
    assert Spot.from_mapping({**GOOD, "max_raises_per_street": 2}).max_raises == 2


def bets(given: Spot) -> list[float]:
    return [action.amount for action in given.tree.actions_at(0) if action.is_aggressive]


def test_sizes_are_what_was_asked() -> None:
    """A pot of few chips is bet in hundredths; one that whole chips serve stays in whole chips."""
    assert bets(Spot(**{**GOOD, "pot": 6, "stack": 94}, bets="33%,75%")) == [1.98, 4.5]
    for pot in range(1, 120, 7):
        small = Spot(**{**GOOD, "pot": pot, "stack": 10 * pot}, bets="33%,75%", raises="2.5x")
        for size, amount in zip((0.33, 0.75), bets(small), strict=True):
            assert amount == pytest.approx(size * pot, rel=0.01)
        assert small.rounding is None
        assert bets(Spot.from_mapping(spot_mapping(small))) == bets(small)
    whole = Spot(**{**GOOD, "pot": 100, "stack": 500}, bets="33%,75%,a")
    assert "grains" not in spot_mapping(whole)
    assert bets(whole) == [33, 75, 500]


def test_a_pot_too_small_to_count_is_warned_of() -> None:
    tiny = Spot(**{**GOOD, "pot": 0.5, "stack": 1}, bets="33%", raises="a")
    assert bets(tiny) == [0.17]
    with pytest.warns(UserWarning, match=r"rounded to 0.01 chips.*count in a smaller unit"):
        solve(tiny, max_iterations=1, target=0)


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_multiple_of_a_range_is_the_same_game(precision: str) -> None:
    """Strategies, EVs and exploitability, whatever both ranges are multiplied by."""

    def solved(first: float, second: float) -> tuple[SpotSolver, list[float]]:
        given = spot(RIVER, oop_range="22+:0.5,ATs+,KTs+,QJs:0.25,87s")
        changed = {
            name: Range(one.weights * factor)
            for name, one, factor in zip(("oop", "ip"), given.ranges, (first, second), strict=True)
        }
        keys = {key: value for key, value in RIVER.items() if not key.endswith("_range")}
        solver = SpotSolver(Spot.from_mapping({**keys, **changed}), precision=precision, threads=1)
        solver.train_batch(60)
        return solver, [*solver.expected_values(), solver.exploitability()]

    plain, figures = solved(1.0, 1.0)
    assert sum(figures[:2]) == pytest.approx(100, abs=1e-4)
    for factors in ((1e-300, 1e-300), (0.003, 1.0), (1.0, 1e-30)):
        scaled, found = solved(*factors)
        assert found == pytest.approx(figures, abs=2e-3)
        first, second = (
            SpotSolution.of(plain).at("x b50%").decision,
            SpotSolution.of(scaled).at("x b50%").decision,
        )
        np.testing.assert_allclose(second.reach, first.reach, atol=1e-2)
        assert second.taken == pytest.approx(first.taken, abs=1e-2)


def test_equities_of_tiny_weights() -> None:
    first, second, board = Range.parse("AA:0.5,KK"), Range.parse("QQ,AKs:0.25"), (3, 20, 40)
    plain = equity(first, second, board)
    tiny = equity(Range(first.weights * 1e-200), Range(second.weights * 1e-200), board)
    assert (tiny.win, tiny.tie) == pytest.approx((plain.win, plain.tie), rel=1e-12)
    np.testing.assert_allclose(tiny.by_combo[0], plain.by_combo[0])
