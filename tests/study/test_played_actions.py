"""Bets that are not in the tree: the two nearest sizes, as often as the formula says."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.betting import (
    OOP,
    ActionKind,
    PostflopRules,
    PreflopRules,
    Street,
    action_text,
    build_postflop_tree,
    build_preflop_tree,
    same_sizes,
)
from allstreets.betting.words import BIG_BLINDS
from allstreets.interop import Moment, PlayedAction
from allstreets.study import chance_of_smaller, map_action
from allstreets.study.played_actions import Draws

RIVER = build_postflop_tree(
    PostflopRules(Street.RIVER, 1000, 5000, same_sizes(Street.RIVER, "50%,100%,a", "50%"))
)
POT, STACK = Fraction(10), Fraction(50)


def moment(to: float, kind: ActionKind = ActionKind.BET, left: Fraction = STACK) -> Moment:
    """OOP bets first on the river, into 10 bb."""
    action = PlayedAction(Street.RIVER, OOP, kind, Fraction(str(to)))
    return Moment(0, action, POT, (Fraction(0), Fraction(0)), (left, left))


def counted(to: float, draw: float) -> str:
    found = map_action(RIVER, 0, moment(to), draw)
    assert found is not None
    action = RIVER.actions[found.node]
    assert action is not None
    assert RIVER.children_of(0)[found.place] == found.node
    return action_text(action, BIG_BLINDS)


def test_sizes_of_the_tree_are_themselves() -> None:
    for draw in (0.0, 0.999):
        assert [counted(to, draw) for to in (5, 10, 50, 5.009)] == ["b5", "b10", "a", "b5"]
    found = map_action(RIVER, 0, moment(5), 0.5)
    assert found is not None
    assert found.same


def test_a_size_is_a_share_of_the_pot_that_lay_there() -> None:
    """In a pot of 20 bb, 10 bb are half of it: the tree's bet of 5 into 10."""
    big = replace(moment(10), pot=2 * POT)
    for draw in (0.0, 0.999):
        found = map_action(RIVER, 0, big, draw)
        assert found is not None
        assert found.same
        assert RIVER.children_of(0)[found.place] == found.node
        assert found.place == 1
    between = replace(moment(15), pot=2 * POT)
    places = [map_action(RIVER, 0, between, 3 / 7 + off) for off in (-1e-9, 1e-9)]
    assert [None if one is None else one.place for one in places] == [1, 2]


def test_between_two_sizes() -> None:
    # (B − x)(1 + A) / ((B − A)(1 + x)) with A = 1/2, B = 1, x = 3/4
    chance = Fraction(1, 4) * Fraction(3, 2) / (Fraction(1, 2) * Fraction(7, 4))
    assert chance_of_smaller(0.5, 1.0, 0.75) == pytest.approx(float(chance)) == pytest.approx(3 / 7)
    assert counted(7.5, 3 / 7 - 1e-9) == "b5"
    assert counted(7.5, 3 / 7 + 1e-9) == "b10"
    assert counted(30, chance_of_smaller(1.0, 5.0, 3.0) - 1e-9) == "b10"
    assert counted(30, chance_of_smaller(1.0, 5.0, 3.0) + 1e-9) == "a"


def test_outside_all_sizes() -> None:
    for draw in (0.0, 0.999):
        assert counted(1, draw) == "b5"  # never a check
        assert counted(49.995, draw) == "a"


@given(st.floats(0.01, 3), st.floats(0.01, 3), st.floats(0, 1))
def test_the_chance_falls_from_one_to_nothing(smaller: float, more: float, part: float) -> None:
    larger = smaller + more
    sizes = sorted([smaller + part * more, smaller + part * part * more])
    nearer, further = (chance_of_smaller(smaller, larger, size) for size in sizes)
    assert 1 + 1e-9 >= nearer >= further - 1e-9 >= -1e-8


def test_all_in_is_all_in_whatever_the_stacks() -> None:
    found = map_action(RIVER, 0, moment(12, ActionKind.ALL_IN, Fraction(12)), 0.0)
    assert found is not None
    assert found.same
    assert RIVER.actions[found.node].kind == ActionKind.ALL_IN  # type: ignore[union-attr]


def test_a_raise_over_an_all_in_of_the_tree_is_a_call() -> None:
    tree = build_preflop_tree(PreflopRules.parse(10, [], 1))
    shoved = int(tree.children_of(0)[-1])
    action = PlayedAction(Street.PREFLOP, OOP, ActionKind.RAISE, Fraction(9))
    blinds = Fraction(1), Fraction(3)
    left = Fraction(20), Fraction(20)
    found = map_action(tree, shoved, Moment(1, action, Fraction(4), blinds, left), 0.5)
    assert found is not None
    assert not found.same
    assert tree.actions[found.node].kind == ActionKind.CALL  # type: ignore[union-attr]


def test_what_is_not_offered() -> None:
    tree = build_preflop_tree(PreflopRules.parse(10, [2.5], 2, limp=False))
    call = PlayedAction(Street.PREFLOP, OOP.opponent, ActionKind.CALL, Fraction(1))
    blinds = Fraction(1), Fraction(1, 2)
    here = Moment(0, call, Fraction(3, 2), blinds, (Fraction(9), Fraction(19, 2)))
    assert map_action(tree, 0, here, 0.5) is None
    raised = replace(here, action=replace(call, kind=ActionKind.RAISE, to=Fraction(5, 2)))
    assert map_action(tree, 0, raised, 0.5) is not None


def test_draws_are_the_same_in_every_run_and_differ_by_action() -> None:
    draws = [Draws(seed, "hand").at(place) for seed in (1, 2) for place in range(500)]
    assert draws == [Draws(seed, "hand").at(place) for seed in (1, 2) for place in range(500)]
    assert len(set(draws)) == 1000
    assert sum(draws) / 1000 == pytest.approx(0.5, abs=0.05)
