"""Lines of one tree found in another."""

import numpy as np
import pytest
from betting.random_games import games
from hypothesis import given, settings
from hypothesis import strategies as st
from separated_play import match_trees, matched_strategy

from allstreets.betting import (
    ActionKind,
    BettingTree,
    NodeKind,
    PostflopRules,
    Street,
    build_postflop_tree,
    line_text,
    parse_line,
    pot_share,
    same_sizes,
)

trees = games().map(lambda game: game[1])
KINDS = {ActionKind.FOLD: "f", ActionKind.CHECK: "x", ActionKind.CALL: "c"}


def tree(stack: int, *sizes: float | str, max_raises: int = 1) -> BettingTree:
    listed = list(sizes) or [1.0]
    rules = PostflopRules(
        Street.FLOP, 100, stack, same_sizes(Street.FLOP, listed, listed), max_raises=max_raises
    )
    return build_postflop_tree(rules)


def at(of: BettingTree, line: str) -> int:
    return parse_line(of, line, any_card=True).node


def decisions(of: BettingTree) -> list[int]:
    return np.flatnonzero(of.kind == NodeKind.DECISION).tolist()


def shape(of: BettingTree, node: int) -> str:
    """The line with every bet, raise and all-in as the same letter."""
    actions = (of.actions[step] for step in of.path_to(node)[1:])
    return "".join("|" if a is None else KINDS.get(a.kind, "b") for a in actions)


def decision_before(of: BettingTree, node: int) -> int | None:
    above = [step for step in of.path_to(node)[:-1] if of.kind[step] == NodeKind.DECISION]
    return above[-1] if above else None


def test_a_tree_stands_for_itself() -> None:
    one = tree(950, 0.5, 1.0, "a")
    matches = match_trees(one, one)
    assert sorted(matches) == decisions(one)
    for node, match in matches.items():
        assert match is not None
        assert match.node == node
        assert match.places == tuple(range(len(one.actions_at(node))))


def test_stacks_that_change_no_line_change_nothing_but_sizes() -> None:
    deep, deeper = tree(5000), tree(6000)
    for node, match in match_trees(deep, deeper).items():
        assert match is not None
        assert line_text(deep, node) == line_text(deeper, match.node)


def test_a_bet_is_an_all_in_where_the_model_has_no_more() -> None:
    deep, model = tree(950), tree(350)
    matches = match_trees(deep, model)
    # 100 into 100 is offered in both; the raise to 400 is the model's all-in of 350.
    facing = matches[at(deep, "b100 r400")]
    assert facing is not None
    assert facing.node == at(model, "b100 a")
    assert facing.places == (0, 1)
    # Then it is over in the model, while here 550 are behind: check and call.
    later = at(deep, "b100 r400 c | * |")
    assert matches[later] is None
    strategy = matched_strategy(deep, later, None, lambda _: np.ones((1, 1)), 3)
    assert strategy.tolist() == [[1.0] * 3, [0.0] * 3]
    facing_bet = at(deep, "b100 r400 c | * | a")
    assert matches[facing_bet] is None
    strategy = matched_strategy(deep, facing_bet, None, lambda _: np.ones((1, 1)), 2)
    assert strategy.tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_actions_that_are_not_offered_are_played_as_the_nearest() -> None:
    short, model = tree(110, 0.5, 1.0, "a"), tree(350, 0.5, 1.0, "a")
    match = match_trees(short, model)[0]
    assert match is not None
    # Check, half the pot, the pot; then 3.5 pots are played as the all-in of 1.1 pots.
    assert match.places == (0, 1, 2, 3)
    fewer = match_trees(tree(350, 1.0), model)[0]
    assert fewer is not None
    assert fewer.places == (0, 1, 1, 1)
    strategy = matched_strategy(
        tree(350, 1.0),
        0,
        fewer,
        lambda _: np.array([[0.4, 0], [0.3, 0], [0.2, 0.5], [0.1, 0.5]]),
        2,
    )
    np.testing.assert_allclose(strategy, [[0.4, 0.0], [0.6, 1.0]])


def test_of_two_sizes_that_are_as_near_the_smaller_stands() -> None:
    middle, model = tree(5000, 1.0, max_raises=0), tree(5000, 0.5, 2.0, max_raises=0)
    match = match_trees(middle, model)[at(middle, "b100")]
    assert match is not None
    assert match.node == at(model, "b50")


def test_near_is_by_ratio_of_shares_of_the_pot() -> None:
    """Not by chips: 100 is twice 50 and 160 is 1.6 times 100, in whatever pot."""
    middle, model = tree(5000, 1.0, max_raises=0), tree(5000, 0.5, 1.6, max_raises=0)
    match = match_trees(middle, model)[at(middle, "b100")]
    assert match is not None
    assert match.node == at(model, "b160")
    sizes = same_sizes(Street.FLOP, [0.5, 1.6], [0.5, 1.6])
    small = build_postflop_tree(PostflopRules(Street.FLOP, 50, 2500, sizes, max_raises=0))
    match = match_trees(middle, small)[at(middle, "b100")]
    assert match is not None
    assert match.node == at(small, "b80")  # 25 and 80 into 50


def test_a_raise_where_there_is_none_is_a_call() -> None:
    no_raise, model = tree(950, max_raises=0), tree(950)
    match = match_trees(no_raise, model)[at(no_raise, "b100")]
    assert match is not None
    assert match.places == (0, 1, 1)
    # The other way round the meaning of a raise is unknown: it is called.
    back = match_trees(model, no_raise)
    assert back[at(model, "b100 r400")] is None
    assert back[at(model, "b100")] is not None


@settings(max_examples=40)
@given(st.data())
def test_any_two_trees(data: st.DataObject) -> None:
    one = data.draw(trees)
    other = data.draw(trees.filter(lambda found: found.first_street == one.first_street))
    matches = match_trees(one, other)
    assert sorted(matches) == decisions(one)
    lines = {(decision_before(other, node), shape(other, node)) for node in decisions(other)}
    for node, match in matches.items():
        children = one.children_of(node).tolist()
        if match is None:
            strategy = matched_strategy(one, node, None, lambda _: np.ones((1, 1)), 2)
            before = decision_before(one, node)
            known = None if before is None else matches[before]
            if known is not None:
                assert (known.node, shape(one, node)) not in lines
        else:
            assert shape(one, node) == shape(other, match.node)
            assert one.player[node] == other.player[match.node]
            actions = int(other.child_count[match.node])
            asked = np.random.default_rng(node).dirichlet(np.ones(actions), 2).T
            strategy = matched_strategy(one, node, match, {match.node: asked}.__getitem__, 2)
            # Nobody bets what he would not bet, nor folds more or less often.
            passive = [a for a, c in enumerate(children) if pot_share(one, c) is None]
            theirs = other.children_of(match.node).tolist()
            bets = [a for a, c in enumerate(theirs) if pot_share(other, c) is not None]
            if len(passive) < len(children):
                assert strategy[passive].sum() == pytest.approx(2 - asked[bets].sum())
        np.testing.assert_allclose(strategy.sum(axis=0), 1.0)
        assert strategy.shape == (len(children), 2)
        # No other bet of the place before is nearer to what was done here.
        parent = int(one.parent[node])
        if match is None or (share := pot_share(one, node)) is None:
            continue
        taken = pot_share(other, match.node)
        assert taken is not None
        for rival in other.children_of(int(other.parent[match.node])).tolist():
            if (size := pot_share(other, rival)) is not None:
                assert abs(np.log(float(taken / share))) <= abs(np.log(float(size / share))) + 1e-9
        assert matches[parent] is not None
