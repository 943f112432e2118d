"""Single sizes that are added or removed at one node."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from allstreets.base import InputError
from allstreets.betting import (
    BettingTree,
    Edit,
    PostflopRules,
    Street,
    TreeSize,
    action_text,
    build_postflop_tree,
    measure_postflop_tree,
    parse_line,
    same_sizes,
)

RULES = PostflopRules(
    Street.TURN,
    100,
    400,
    same_sizes(Street.TURN, "50%", "60%"),
    max_raises=1,
    add_allin_threshold=1,
)


def tree_of(*edits: dict[str, Any], rules: PostflopRules = RULES) -> BettingTree:
    """The edited tree; what is counted without building it is the same size."""
    edited = replace(rules, edits=tuple(Edit.from_mapping(edit) for edit in edits))
    tree, counted = build_postflop_tree(edited), measure_postflop_tree(edited)
    built = TreeSize.of(tree)
    for name in ("nodes", "decisions", "actions"):
        np.testing.assert_array_equal(getattr(counted, name), getattr(built, name))
    return tree


def offered(tree: BettingTree, line: str) -> list[str]:
    node = parse_line(tree, line, any_card=True).node
    return [action_text(action) for action in tree.actions_at(node)]


def test_a_size_is_added_and_one_removed_at_one_node_alone() -> None:
    tree = tree_of({"line": "x", "add": "25%,150%,a"}, {"line": "x x | * |", "remove": "b50%"})
    assert offered(tree, "x") == ["x", "b25", "b50", "b150", "a"]
    assert offered(tree, "") == ["x", "b50"]
    assert offered(tree, "x x | * |") == ["x"]
    assert offered(tree, "x x | * | x") == ["x", "b50"]
    assert offered(tree, "x b150") == ["f", "c", "r390", "a"]  # what the street offers


def test_edits_below_a_size_that_another_one_adds_in_any_order() -> None:
    below, above = {"line": "b80", "add": "2.5x"}, {"line": "", "add": "80c", "remove": "b50"}
    for edits in ((below, above), (above, below)):
        tree = tree_of(*edits)
        assert offered(tree, "") == ["x", "b80"]
        assert "r200" in offered(tree, "b80")


def test_without_edits_nothing_changes_and_removing_what_was_added_leaves_the_tree() -> None:
    plain = build_postflop_tree(RULES)
    edited = tree_of({"line": "x", "add": "25%"}, {"line": "x", "remove": "b25%"})
    assert edited.actions == plain.actions
    np.testing.assert_array_equal(edited.parent, plain.parent)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"line": "x b40", "add": "a"}, "edit 'x b40': 'b40' is not offered: IP may x, b50"),
        ({"line": "x", "remove": "x"}, "remove 'x': only bets and raises can go"),
        ({"line": "x", "remove": "b75"}, "edit 'x': 'b75' is not offered"),
        ({"line": "x", "add": "50%"}, "add '50%': 50 chips are offered there already"),
        ({"line": "x", "add": "2x"}, "add '2x': there is no bet to raise"),
        ({"line": "x", "add": "2bb"}, "the big blind is not defined"),
        ({"line": "x", "add": "often"}, "edit 'x', add, entry 1: 'often' is not a bet size"),
        ({"line": "b50 r170", "add": "a"}, "nothing can be bet or raised there any more"),
        ({"line": "x x", "add": "a"}, r"a card is dealt there: write '\| \* \|'"),
        ({"line": "x x | 2c |", "add": "a"}, "the tree is the same for every card"),
        ({"line": "x | * |", "add": "a"}, "no card is dealt where"),
        ({"line": "b50 f", "add": "a"}, "the hand is over there"),
        ({"line": "x"}, "say what to 'add'"),
        ({"line": "x", "ad": "a"}, "unknown key 'ad'"),
    ],
)
def test_what_the_rules_do_not_allow_is_refused(edit: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tree_of(edit)
