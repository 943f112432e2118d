"""From sizes to legal amounts: worked examples, and laws that hold for all."""

from fractions import Fraction
from itertools import pairwise

import pytest
from betting.random_games import raise_sizes
from hypothesis import given
from hypothesis import strategies as st

from allstreets.betting import BetSize, parse_sizes
from allstreets.betting.menu import Situation, Thresholds, amounts_offered

# Pot 100, 500 behind, on the flop: no bet yet.
FLOP_BET = Situation(pot=100, last_bet=0, own_bet=0, all_in=500, streets_left=3)
# The same after a bet of 40: calling makes the pot 180.
FLOP_RAISE = Situation(pot=180, last_bet=40, own_bet=0, all_in=500, streets_left=3)
# And after a raise to 120: calling makes it 340, and the next raise is by at least 80.
FLOP_RERAISE = Situation(pot=340, last_bet=120, own_bet=40, all_in=500, streets_left=3, raises=1)
RIVER_BET = Situation(pot=100, last_bet=0, own_bet=0, all_in=500, streets_left=1)


def offered(sizes: str, situation: Situation, **thresholds: str) -> list[int]:
    exact = Thresholds(**{name: Fraction(value) for name, value in thresholds.items()})
    return amounts_offered(parse_sizes(sizes, raises=True), situation, exact, chips_per_bb=10)


@pytest.mark.parametrize(
    ("size", "bet", "first_raise", "second_raise"),
    [
        ("50%", 50, 40 + 90, 120 + 170),
        ("100%", 100, 40 + 180, 120 + 340),
        ("33.5%", 34, 40 + 60, 120 + 114),  # 33.5 and 60.3 and 113.9; a half goes up
        ("3bb", 30, 80, 200),  # too little for a raise: the minimum
        ("15bb", 150, 150, 200),
        ("250c", 250, 250, 250),
        ("a", 500, 500, 500),
        # (1 + 2r)³ = 1 + 2·500/100 gives r = 0.61199; after the bet of 40, (1 + 2r)³ =
        # 1 + 2·460/180 gives r = 0.41413; the second raise has 2 steps left, and (1 + 2r)² =
        # 1 + 2·380/340 gives r = 0.39935.
        ("e", 61, 40 + 75, 120 + 136),
        ("3e", 61, 40 + 75, 120 + 136),
        # With one step less: 1.15831 and 0.73603 pots, and then everything.
        ("2e", 116, 40 + 132, 500),
        ("1e", 500, 500, 500),
        ("e50%", 50, 40 + 75, 120 + 136),
        ("e40%", 40, 40 + 72, 120 + 136),
    ],
)
def test_amounts_worked_out_by_hand(
    size: str, bet: int, first_raise: int, second_raise: int
) -> None:
    assert offered(size, FLOP_BET) == [bet]
    assert offered(size, FLOP_RAISE) == [first_raise]
    assert offered(size, FLOP_RERAISE) == [second_raise]


def test_times_the_last_bet() -> None:
    assert offered("2.5x", FLOP_RAISE) == [100]
    assert offered("1.5x", FLOP_RAISE) == [80]  # the legal minimum
    assert offered("2.5x", FLOP_RERAISE) == [300]
    assert offered("1.5x", FLOP_RERAISE) == [200]


def test_a_geometric_bet_is_all_in_on_the_last_street() -> None:
    assert offered("e", RIVER_BET) == [500]
    pot, stack = 100, 500
    for streets_left in (3, 2, 1):
        (bet,) = offered("e", Situation(pot, 0, 0, stack, streets_left))
        pot, stack = pot + 2 * bet, stack - bet
    assert stack == 0


def test_a_size_at_or_above_the_stack_is_the_all_in_once() -> None:
    assert offered("500%,600%,9999c,a", FLOP_BET) == [500]
    assert offered("499%,a", FLOP_BET) == [499, 500]


def test_equal_amounts_are_offered_once_and_rise() -> None:
    assert offered("a,75%,50%,50c,5bb", FLOP_BET) == [50, 75, 500]


def test_a_bet_is_at_least_a_chip() -> None:
    assert offered("1%", Situation(10, 0, 0, 95, 3)) == [1]


def test_a_raise_is_legal_all_in_below_the_minimum() -> None:
    short = Situation(pot=180, last_bet=40, own_bet=0, all_in=60, streets_left=1)
    assert offered("10%", short) == [60]


def test_no_sizes_mean_no_bet() -> None:
    assert offered("", FLOP_BET) == []
    assert offered("", FLOP_BET, add_allin="10") == []


@pytest.mark.parametrize(("threshold", "amounts"), [("4.99", [50]), ("5", [50, 500])])
def test_add_all_in_to_bets(threshold: str, amounts: list[int]) -> None:
    assert offered("50%", FLOP_BET, add_allin=threshold) == amounts


@pytest.mark.parametrize(("threshold", "amounts"), [("2.55", [130]), ("2.56", [130, 500])])
def test_add_all_in_to_raises(threshold: str, amounts: list[int]) -> None:
    """On top of the call 460 are left, 2.556 pots of 180; 2.55 pots are 459 chips, 2.56 are 461."""
    assert offered("50%", FLOP_RAISE, add_allin=threshold) == amounts


def test_thresholds_are_counted_in_whole_chips() -> None:
    """0.1 of the pot of 916 that a call of 275 makes is 91.6 chips, so 92 are still all-in."""
    situation = Situation(pot=366, last_bet=0, own_bet=0, all_in=367, streets_left=1)
    assert offered("75%", situation, force_allin="0.1") == [367]
    assert offered("75%", situation, force_allin="0.0999") == [367]
    assert offered("75%", situation, force_allin="0.0998") == [275]


@pytest.mark.parametrize(("threshold", "amounts"), [("0.28", [200]), ("0.6", [500])])
def test_force_all_in(threshold: str, amounts: list[int]) -> None:
    """A bet of 200 that is called leaves 300 and makes the pot 500: 0.6 of it."""
    assert offered("200%", FLOP_BET, force_allin=threshold) == amounts


def test_force_all_in_looks_at_the_pot_after_the_call_of_a_raise() -> None:
    """A raise to 300 that is called leaves 200 and makes the pot 180 + 2·260 = 700."""
    assert offered("300c", FLOP_RAISE, force_allin="0.285") == [500]
    assert offered("300c", FLOP_RAISE, force_allin="0.28") == [300]


def test_merging_walks_down_from_the_largest() -> None:
    """From 100 %, 2/1.75 and 2/1.9 are below 1.2; from the next kept, 60 %, 1.6/1.5 is too."""
    assert offered("50%,60%,75%,90%,100%", FLOP_BET, merging="0.2") == [60, 100]
    assert offered("50%,60%,75%,90%,100%", FLOP_BET) == [50, 60, 75, 90, 100]


def test_merging_keeps_a_bet_exactly_at_the_threshold() -> None:
    """(1 + 0.65) / (1 + 0.5) = 1.1 is not below 1 + 0.1."""
    assert offered("50%,65%", FLOP_BET, merging="0.1") == [50, 65]
    assert offered("50%,65%", FLOP_BET, merging="0.11") == [65]


def test_merging_counts_raises_on_top_of_the_call() -> None:
    """To 130 and to 148 are 0.5 and 0.6 pots of 180: 1.6/1.5 = 1.067."""
    assert offered("50%,60%", FLOP_RAISE, merging="0.06") == [130, 148]
    assert offered("50%,60%", FLOP_RAISE, merging="0.07") == [148]


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    own = draw(st.integers(0, 300))
    last = own + draw(st.integers(1, 300)) if draw(st.booleans()) else 0
    own = own if last else 0
    return Situation(
        pot=draw(st.integers(1, 300)) + 2 * last,
        last_bet=last,
        own_bet=own,
        all_in=last + draw(st.integers(1, 2000)),
        streets_left=draw(st.integers(1, 3)),
    )


fractions = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(2)])


@given(
    st.lists(raise_sizes, min_size=1, max_size=5).map(tuple),
    situations(),
    st.builds(Thresholds, fractions, fractions, fractions),
)
def test_what_is_offered_keeps_the_rules(
    sizes: tuple[BetSize, ...], situation: Situation, thresholds: Thresholds
) -> None:
    amounts = amounts_offered(sizes, situation, thresholds, chips_per_bb=10)
    assert amounts
    assert amounts == sorted(set(amounts))
    for amount in amounts:
        left = situation.all_in - amount
        assert left >= 0
        if left:
            assert amount - situation.last_bet >= max(situation.last_bet - situation.own_bet, 1)
            pot_if_called = situation.pot + 2 * (amount - situation.last_bet)
            assert left > thresholds.force_allin * pot_if_called + Fraction(1, 2)
    in_pots = [Fraction(amount - situation.last_bet, situation.pot) for amount in amounts]
    for smaller, larger in pairwise(in_pots):
        assert (1 + larger) / (1 + smaller) >= 1 + thresholds.merging
    most = situation.all_in - situation.last_bet
    if most <= thresholds.add_allin * situation.pot + Fraction(1, 2):
        assert amounts[-1] == situation.all_in


@given(st.lists(raise_sizes, min_size=1, max_size=5).map(tuple), situations())
def test_without_thresholds_each_size_is_offered_as_if_alone(
    sizes: tuple[BetSize, ...], situation: Situation
) -> None:
    none = Thresholds()
    together = amounts_offered(sizes, situation, none, 10)
    alone = {amount for size in sizes for amount in amounts_offered((size,), situation, none, 10)}
    assert together == sorted(alone)
