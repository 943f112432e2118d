"""Counting a tree without building it, against the tree that is built."""

import numpy as np
import pytest
from betting.random_games import games
from hypothesis import given

from allstreets.base import InputError
from allstreets.betting import (
    BettingTree,
    NodeKind,
    PostflopRules,
    Street,
    TreeSize,
    build_postflop_tree,
    measure_postflop_tree,
    postflop,
    same_sizes,
)
from allstreets.engines.trees import deal_streets

Game = tuple[PostflopRules, BettingTree]
MANY = [f"{10 * step}%" for step in range(1, 15)]


@given(games())
def test_counted_as_built(game: Game) -> None:
    """All counts, and the limit to the node."""
    rules, tree = game
    measured, built = measure_postflop_tree(rules, tree.node_count), TreeSize.of(tree)
    assert np.array_equal(measured.nodes, built.nodes)
    assert np.array_equal(measured.decisions, built.decisions)
    assert np.array_equal(measured.actions, built.actions)
    assert measured.node_count == tree.node_count
    assert measured.decision_counts() == tree.decision_counts()
    assert measured.dealt_streets == deal_streets(tree)
    assert measured.slots == tree.child_count[tree.kind == NodeKind.DECISION].sum()
    with pytest.raises(InputError, match="use fewer sizes"):
        measure_postflop_tree(rules, tree.node_count - 1)


def deep(street: Street, stack: int = 1000) -> PostflopRules:
    return PostflopRules(street=street, pot=100, stack=stack, sizes=same_sizes(street, MANY, MANY))


def test_a_tree_that_is_far_too_large_is_refused_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fourteen sizes: refused after a look at a fraction of the nodes that are allowed."""
    looked_at = 0
    offered = postflop._actions

    def counting(*arguments: object) -> object:
        nonlocal looked_at
        looked_at += 1
        return offered(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(postflop, "_actions", counting)
    with pytest.raises(InputError, match="more than 300,000 nodes"):
        build_postflop_tree(deep(Street.FLOP), 300_000)
    assert looked_at < 300_000 / 20
