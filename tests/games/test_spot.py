"""A spot is checked when it is made, and weights count by their ratios."""

from typing import Any

import numpy as np
import pytest
from builders.small_spots import RIVER, spot

from allstreets.base import InputError
from allstreets.cards import Range, equity
from allstreets.games import Spot
from allstreets.solutions import SpotSolution
from allstreets.solvers import SpotSolver

GOOD: dict[str, Any] = {"board": "Ks7d4c9h2s", "oop": "TT+", "ip": "AQs+", "pot": 10, "stack": 20}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"oop": "TTx"}, r"oop: range, character 1: 'TTx' is not a hand"),
        ({"ip": ""}, "ip: the range is empty"),
        ({"ip": "KsKh"}, "ip: the range 'KsKh' is blocked"),
        ({"oop": 5}, "oop: 5 is no range"),
        ({"oop": "AcAd", "ip": "AcAh"}, "the two ranges block each other"),
        ({"board": "KsKs2c"}, "board: .*holds the card Ks twice"),
        ({"board": "Ks7d"}, "board: "),
        ({"board": 7}, "board: 7 is no text"),
        ({"pot": 0}, "pot 0 "),
        ({"stack": -1}, "stack -1 "),
        ({"pot": "ten"}, "pot 'ten'"),
        ({"bets": "x%"}, "bet sizes"),
        ({"raises": ["-5%"]}, "raise sizes"),
        ({"rake": 5}, "rake 5 "),
        ({"rake": float("nan")}, "rake nan "),
        ({"force_allin_threshold": -1}, "force_allin_threshold -1 "),
        ({"lock": ({"line": ""},)}, "lock: .* is no Lock"),
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
