"""Trees before the flop that are listed line by line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import PreflopRules, build_preflop_tree, tree_lines

SIZES = st.lists(st.sampled_from([2.0, 2.5, 3.0, "60%", "4bb"]), max_size=2)


@given(
    stack=st.sampled_from([3.0, 7.25, 20.0, 47.5]),
    sizes=st.lists(SIZES, min_size=1, max_size=2),
    ante=st.sampled_from([0, 0.1, 0.125]),
    cap=st.integers(0, 3),
    limp=st.booleans(),
)
def test_the_lines_of_a_tree_make_it_again(
    stack: float, sizes: list[list[float | str]], ante: float, cap: int, limp: bool
) -> None:
    rules = PreflopRules.parse(stack, sizes, cap, ante=ante, limp=limp)
    tree = build_preflop_tree(rules)
    lines = tree_lines(tree)
    assert len(lines) == len(set(lines))
    again = build_preflop_tree(PreflopRules.parse(stack, [], ante=ante, lines=lines[::-1]))
    assert again.actions == tree.actions
    for name in ("kind", "player", "parent", "children", "invested"):
        np.testing.assert_array_equal(getattr(again, name), getattr(tree, name))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["f", "r3"], "the lines end after 'r3'"),
        (["f", "r3 f", "r3 c", "r3 r2 f"], "'r3 r2': the last raise is not above"),
        (["f", "c x x"], "continues after 'c x'"),
        (["f", "f c"], "continues after 'f'"),
        (["x"], "can only call or raise"),
        (["f", "c c"], "can only check or raise"),
        (["f", "b3 c"], "'b3' is not an action"),
    ],
)
def test_lines_that_make_no_tree_are_refused(lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_preflop_tree(PreflopRules.parse(20, [], lines=lines))
