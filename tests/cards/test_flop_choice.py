"""Flops that stand for all: chosen, shipped, and better than a spread."""

import json

import numpy as np
import pytest

from allstreets.base import InputError
from allstreets.cards import (
    all_flops,
    build_flop_table,
    choose_flops,
    every_flop,
    fitting_subset,
    flop_set_error,
    hand_pairs,
    parse_flop_set,
    read_subset,
    reweighted,
    spread_flops,
    subset_counts,
    subset_flops,
    subset_path,
    subset_text,
)

DEALT = 22_100


@pytest.fixture(scope="module")
def tables() -> None:
    """The margins of all flops: a quarter of a minute, once on a machine."""
    build_flop_table()  # kept in the cache folder


def test_which_subsets_there_are() -> None:
    assert subset_counts() == (15, 25, 49, 95, 184, 352)
    assert [fitting_subset(count) for count in (14, 15, 48, 1000)] == [None, 15, 25, 352]


@pytest.mark.parametrize("count", [15, 25, 49, 95, 184, 352])
def test_shipped_subsets(count: int) -> None:
    subset = subset_flops(count)
    assert subset.name == f"subset_{count}"
    assert len({flop.number for flop in subset.flops}) == count
    assert list(read_subset(count)["flops"]) == [flop.text for flop in subset.flops]  # canonical
    assert subset.weights.min() > 0
    assert subset.weights.sum() == pytest.approx(DEALT, rel=1e-12)
    assert parse_flop_set(f" Subset-{count}").flops == subset.flops


@pytest.mark.long
@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("count", [15, 25, 49, 95, 184, 352])
def test_shipped_subsets_are_as_near_as_they_say(count: int) -> None:
    """Long: all flops are compared."""
    subset = subset_flops(count)
    error = flop_set_error(subset)
    assert error == pytest.approx(read_subset(count)["error"], abs=1e-6)
    assert error < flop_set_error(spread_flops(count)) / 2


@pytest.mark.thorough
@pytest.mark.usefixtures("tables")
def test_weights_help_and_choosing_helps_more() -> None:
    spread = spread_flops(25)
    weighted = reweighted(spread)
    assert set(weighted.flops) <= set(spread.flops)
    errors = [flop_set_error(flops) for flops in (subset_flops(25), weighted, spread)]
    assert errors == sorted(errors)


def test_cards_are_dealt_nearly_as_from_the_whole_deck() -> None:
    """Σ weight · W is near 17,296 · W before the flop, hand by hand."""
    for count, within in ((25, 0.06), (95, 0.02)):
        subset = subset_flops(count)
        dealt = np.array([hand_pairs(flop.cards).sum(axis=1) for flop in subset.flops])
        found = subset.weights @ dealt / (17_296 * hand_pairs().sum(axis=1))
        assert np.abs(found - 1).max() < within


@pytest.mark.long
@pytest.mark.usefixtures("tables")
def test_choosing_again_gives_the_same() -> None:
    """Long: all flops are compared."""
    found = choose_flops(15)
    assert found.name == "chosen_15"
    assert found.weights.sum() == pytest.approx(DEALT, rel=1e-12)
    np.testing.assert_array_equal(found.weights, np.round(found.weights, 2))
    again = choose_flops(15, name="mine")
    assert (again.name, again.flops) == ("mine", found.flops)
    assert again.weights.tolist() == found.weights.tolist()


@pytest.mark.long
@pytest.mark.usefixtures("tables")
def test_what_a_solution_says_counts() -> None:
    """A feature that general ones do not see is matched better when it is given.

    Long: all flops are compared.
    """
    rng = np.random.default_rng(1)
    leaves = rng.normal(size=(len(all_flops()), 3))

    def missed(
        flops: tuple[int, ...], weights: np.ndarray[tuple[int], np.dtype[np.float64]]
    ) -> float:
        apart = weights @ leaves[list(flops)] - every_flop().weights @ leaves
        return float(np.abs(apart).sum())

    without, with_it = choose_flops(25), choose_flops(25, [leaves])
    found = [missed(tuple(f.number for f in one.flops), one.weights) for one in (without, with_it)]
    assert found[1] < found[0] / 3


def test_text_is_read_back() -> None:
    for count in subset_counts():
        kept = read_subset(count)
        text = subset_text(kept["flops"], kept["error"], kept["made"], kept["judged"])
        assert text == subset_path(count).read_text(encoding="utf-8")
        assert json.loads(text) == kept


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "subset_33",
            "there are subset_15, subset_25, subset_49, subset_95, subset_184 and subset_352",
        ),
        ("fitted_95", "name its folder with fitted_from"),
        ("fitted_1755", "choose between 1 and 1754"),
    ],
)
def test_what_is_refused(given: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_flop_set(given)


@pytest.mark.parametrize("count", [0, 1755])
def test_how_many_can_be_chosen(count: int) -> None:
    with pytest.raises(InputError, match="choose between 1 and 1754"):
        choose_flops(count)
