"""Speed, and time to go."""

import math

import numpy as np
import pytest

from allstreets.jobs import job


def power_curve(slope: float, *iterations: int) -> list[tuple[int, float]]:
    return [(x, 5.0 * x**slope) for x in iterations]


def test_speed_looks_back_a_few_checks_only() -> None:
    slow_start = [(0, 0.0), (1, 60.0)]  # compilation, say
    then = [(1 + 100 * i, 60.0 + i) for i in range(1, 12)]
    assert job.speed([*slow_start, *then]) == pytest.approx(100)
    assert job.speed(slow_start) == pytest.approx(1 / 60)
    assert job.speed([(0, 0.0)]) is None
    assert job.speed([(5, 1.0), (5, 2.0)]) is None
    assert job.speed([(5, 1.0), (9, 1.0)]) is None


def test_time_to_a_number_of_iterations() -> None:
    assert job.time_to_total(100, 500, 4.0) == 100.0
    assert job.time_to_total(600, 500, 4.0) == 0.0
    assert job.time_to_total(100, None, 4.0) is None
    assert job.time_to_total(100, 500, None) is None


@pytest.mark.parametrize("slope", [-0.5, -1.0, -2.0])
def test_a_power_law_is_followed_to_the_target(slope: float) -> None:
    curve = power_curve(slope, 100, 200, 300, 400)
    target = 5.0 * 1000.0**slope
    assert job.time_to_target(curve, target, 10.0) == pytest.approx((1000 - 400) / 10)


def test_only_the_latest_checks_count() -> None:
    start = [(x, 100.0) for x in range(1, 50)]
    curve = start + power_curve(-1.0, *range(100, 1100, 100))
    assert job.time_to_target(curve, 5.0 / 2000, 1.0) == pytest.approx(1000)


def test_a_noisy_curve_gives_the_right_order() -> None:
    noise = np.random.default_rng(1).normal(scale=0.1, size=10)
    curve = [
        (x, y * math.exp(e))
        for (x, y), e in zip(power_curve(-1, *range(100, 1100, 100)), noise, strict=True)
    ]
    found = job.time_to_target(curve, 5.0 / 10_000, 1.0)
    assert found is not None
    assert 3_000 < found < 30_000


@pytest.mark.parametrize(
    ("curve", "target", "rate"),
    [
        (power_curve(-1, 100, 200, 300), None, 1.0),
        (power_curve(-1, 100, 200, 300), 0.01, None),
        (power_curve(-1, 100, 200), 0.01, 1.0),
        ([], 0.01, 1.0),
        (power_curve(0.0, 100, 200, 300), 0.01, 1.0),
        (power_curve(0.3, 100, 200, 300), 0.01, 1.0),
        (power_curve(-0.001, 100, 200, 300), 1e-9, 1.0),
        (power_curve(-0.1, 100, 200, 300), 1e-300, 1.0),
        ([(0, 1.0), (100, 0.5), (200, 0.0), (300, 0.2)], 0.01, 1.0),
    ],
    ids=["no target", "no rate", "two", "none", "flat", "rising", "ages", "huge", "zeros"],
)
def test_unknown(curve: list[tuple[int, float]], target: float | None, rate: float | None) -> None:
    assert job.time_to_target(curve, target, rate) is None


def test_a_target_that_is_reached() -> None:
    assert job.time_to_target(power_curve(-1, 100, 200, 300), 1.0, 1.0) == 0.0
