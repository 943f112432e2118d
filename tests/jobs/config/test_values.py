"""Values with their units: thresholds, shares of the pot, times."""

from typing import Any

import pytest

from allstreets.base import InputError
from allstreets.jobs import parse_target, parse_time
from allstreets.jobs.config.values import GAME_UNIT, MBB_PER_HAND, POT_SHARE, ThresholdUnit


@pytest.mark.parametrize(
    ("unit", "given", "number"),
    [
        (MBB_PER_HAND, "5 mbb", 5.0),
        (MBB_PER_HAND, " 0.5mbb/hand ", 0.5),
        (MBB_PER_HAND, "1e-3", 0.001),
        (POT_SHARE, "0.3 %", 0.003),
        (POT_SHARE, "0.01", 0.01),
        (GAME_UNIT, "0.001", 0.001),
        (GAME_UNIT, 0.001, 0.001),
        (GAME_UNIT, None, None),
    ],
)
def test_thresholds(unit: ThresholdUnit, given: Any, number: float | None) -> None:
    assert unit.read(given) == (number if number is None else pytest.approx(number))


@pytest.mark.parametrize(
    ("unit", "given", "message"),
    [
        (
            MBB_PER_HAND,
            "0.3%",
            "'0.3%' is a share of the pot, but exploitability is a number of mbb",
        ),
        (POT_SHARE, "5 mbb", "'5 mbb' is mbb/hand, but exploitability is a share of the pot here"),
        (GAME_UNIT, "1%", "is a number in the game's own unit here; write 0.001"),
        (POT_SHARE, "mbb", "'mbb' is not a share of the pot; write 0.3% or 0.003"),
        (MBB_PER_HAND, "5 bb", "'5 bb' is not a number of mbb/hand; write 5 mbb or 5"),
        (POT_SHARE, "a" + " " * 100_000 + "b", "is not a share of the pot"),
    ],
)
def test_thresholds_that_are_none(unit: ThresholdUnit, given: str, message: str) -> None:
    with pytest.raises(ValueError, match="write") as error:
        unit.read(given)
    assert message in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("given", "share"), [("0.3%", 0.003), ("0.003", 0.003), (0.01, 0.01), ("5 %", 0.05), (0, 0.0)]
)
def test_targets(given: Any, share: float) -> None:
    assert parse_target(given) == pytest.approx(share)


@pytest.mark.parametrize("given", ["-1%", "x", "", True, "nan", "0.3", "200%", "5 mbb"])
def test_targets_that_are_none(given: Any) -> None:
    with pytest.raises(ValueError, match=r"write|meant"):
        parse_target(given)


def test_times() -> None:
    assert [parse_time(text) for text in ("60s", "5m", "1.5h", "7")] == [60, 300, 5400, 7]
    for text in ("", "0s", "-5", "soon", "5d"):
        with pytest.raises(InputError, match="write 60s"):
            parse_time(text)
