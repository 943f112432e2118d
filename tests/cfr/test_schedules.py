"""Schedules against the formulas of the design, written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.games import naive_multipliers

from allstreets.base import InputError
from allstreets.cfr import (
    SCHEDULES,
    Pruning,
    Schedule,
    cfr_plus,
    dcfr,
    linear,
    parse_schedule,
    vanilla,
)

NAMES = [*SCHEDULES, "dcfr(1.5,0,2)", "cfr+(1)"]


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_those_of_the_design(name: str) -> None:
    schedule = parse_schedule(name)
    for t in (1, 2, 3, 10, 999, 100_000):
        ours = schedule.at(t)
        positive, negative, average, weight, clip = naive_multipliers(name, t)
        assert ours.positive == pytest.approx(positive, rel=1e-14)
        assert ours.negative == pytest.approx(negative, rel=1e-14)
        assert ours.average == pytest.approx(average, rel=1e-14)
        assert ours.weight == pytest.approx(weight, rel=1e-14)
        assert ours.floor == (0 if clip else -np.inf)
        assert ours.threshold == -np.inf
        assert ours.ahead == (0.5 if name == "ahead" else 0)


def test_pruning_sets_the_lowest_regret_and_the_threshold() -> None:
    plain, pruning = parse_schedule("linear"), Pruning(2, "-10*sqrt(t)", 5, 700)
    out = -np.inf
    found = plain.run(1, 5, pruning)
    assert [(now.floor, now.threshold) for now in found] == [
        (out, out),
        (out, out),
        (-700, pytest.approx(-10 * 3**0.5)),
        (-700, -20),
        (-700, out),
    ]
    assert plain.at(9, pruning)[2::3] == (-700, -30)
    # Nothing else changes, and where pruning is off nothing does.
    assert [now[:2] + now[3:5] for now in found] == [now[:2] + now[3:5] for now in plain.run(1, 5)]
    assert plain.run(1, 5, Pruning(0, -10.0, 5, 700)) == plain.run(1, 5)


@given(st.sampled_from(NAMES), st.integers(1, 5000), st.integers(1, 300))
def test_a_table_does_not_depend_on_where_it_is_cut(name: str, first: int, count: int) -> None:
    schedule = parse_schedule(name)
    whole = schedule.table(1, 5300)
    assert np.array_equal(schedule.table(first, count), whole[first - 1 : first - 1 + count])
    assert schedule.at(first) == tuple(whole[first - 1])


def test_linear_discounts_are_linear_weights() -> None:
    total = 0.0
    for t in range(1, 51):
        total = total * linear().at(t).positive + 1
    assert total == pytest.approx(sum(range(1, 51)) / 50)


def test_either_weights_or_discounts() -> None:
    for name in NAMES:
        schedule = parse_schedule(name)
        for t in (2, 7):
            weights = schedule.at(t)
            assert weights.weight == 1 or weights.average == 1
    with pytest.raises(InputError, match="not both"):
        Schedule("mixed", gamma=2, averaging=2)
    with pytest.raises(InputError, match="either clipped or discounted"):
        Schedule("mixed", beta=0.5, clip=True)


@pytest.mark.parametrize(("offset", "ahead"), [(0, 0), (-1, 0), (1, -0.1), (1, 1.1)])
def test_offsets_and_how_far_values_look_ahead_are_limited(offset: float, ahead: float) -> None:
    with pytest.raises(InputError, match="the first must be positive"):
        Schedule("mixed", beta=1, negative_offset=offset, ahead=ahead)


def test_only_equal_weights_bound_exploitability() -> None:
    assert [name for name in NAMES if parse_schedule(name).weighs_alike] == ["vanilla", "linear"]
    assert dcfr(1, 1, 1).weighs_alike
    assert not dcfr(1, 1, 2).weighs_alike
    assert not Schedule("mixed", alpha=1, beta=1, gamma=1, negative_offset=2).weighs_alike
    assert not Schedule("mixed", ahead=0.5).weighs_alike


@pytest.mark.parametrize("name", NAMES)
def test_text_reads_back(name: str) -> None:
    schedule = parse_schedule(name)
    assert parse_schedule(str(schedule)) == schedule


def test_parsing() -> None:
    assert parse_schedule(" DCFR( 1.5, 0 ,2 ) ") == dcfr(1.5, 0, 2)
    assert parse_schedule("dcfr") == dcfr(1.5, 0.5, 2)
    assert parse_schedule("cfr+") == cfr_plus(2)
    assert parse_schedule("vanilla") == vanilla()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lienar", "did you mean 'linear'"),
        ("", "choose one of: vanilla"),
        ("dcfr(1,2)", "write dcfr(α, β, γ)"),
        ("dcfr(1,2,x)", "write dcfr(α, β, γ)"),
        ("dcfr(1,2,3", "unknown algorithm"),
        ("tuned(1)", "write tuned without brackets"),
        ("dcfr(-1,0,2)", "α is -1"),
        ("dcfr(1,11,2)", "β is 11"),
        ("dcfr(1,0,nan)", "γ is nan"),
        ("cfr+(-2)", "averaging exponent is -2"),
    ],
)
def test_bad_text_is_refused_with_advice(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        parse_schedule(text)
    assert words in str(error.value)
