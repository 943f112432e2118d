"""The flat tree: its arrays in random games."""

from itertools import pairwise

import numpy as np
import pytest
from betting.random_games import games
from hypothesis import given

from allstreets.betting import (
    Action,
    ActionKind,
    BettingTree,
    NodeKind,
    PostflopRules,
    PreflopRules,
    Street,
    build_postflop_tree,
    build_preflop_tree,
    same_sizes,
)

Game = tuple[PostflopRules, BettingTree]


@given(games())
def test_nodes_stand_in_depth_first_pre_order(game: Game) -> None:
    _, tree = game
    order: list[int] = []
    waiting = [0]
    while waiting:
        order.append(waiting.pop())
        waiting += tree.children_of(order[-1]).tolist()[::-1]
    assert order == list(range(tree.node_count))


@given(games())
def test_parents_and_children_agree(game: Game) -> None:
    _, tree = game
    assert tree.parent[0] == -1
    assert len(tree.children) == tree.node_count - 1
    assert tree.child_count.sum() == tree.node_count - 1
    for node in range(tree.node_count):
        assert (tree.parent[tree.children_of(node)] == node).all()


@given(games())
def test_every_path_ends_in_a_terminal(game: Game) -> None:
    _, tree = game
    assert ((tree.child_count == 0) == tree.is_terminal).all()
    assert (tree.child_count[tree.kind == NodeKind.CHANCE] == 1).all()


@given(games())
def test_players_and_actions_are_where_they_belong(game: Game) -> None:
    _, tree = game
    acts = (tree.kind == NodeKind.DECISION) | (tree.kind == NodeKind.FOLD)
    assert np.isin(tree.player[acts], [0, 1]).all()
    assert (tree.player[~acts] == -1).all()
    for node in range(1, tree.node_count):
        after_chance = tree.kind[tree.parent[node]] == NodeKind.CHANCE
        assert (tree.actions[node] is None) == after_chance
        assert tree.street[node] == tree.street[tree.parent[node]] + after_chance
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        assert len(tree.actions_at(node)) == tree.child_count[node]
    assert tree.actions[0] is None


@given(games())
def test_the_arrays_have_their_types_and_refuse_writing(game: Game) -> None:
    _, tree = game
    types = {
        "kind": np.uint8,
        "street": np.uint8,
        "player": np.int8,
        "parent": np.int32,
        "first_child": np.int32,
        "child_count": np.int32,
        "children": np.int32,
        "invested": np.int64,
    }
    for name, dtype in types.items():
        array = getattr(tree, name)
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        tree.invested[0, 0] = 1


def test_helpers_on_a_small_tree() -> None:
    rules = PostflopRules(Street.RIVER, 100, 500, same_sizes(Street.RIVER, "50%", ""))
    tree = build_postflop_tree(rules)
    check, bet = tree.children_of(0).tolist()
    assert tree.actions_at(0) == (Action(ActionKind.CHECK), Action(ActionKind.BET, 50))
    assert tree.actions_at(bet) == (Action(ActionKind.FOLD), Action(ActionKind.CALL))
    assert [tree.player_at(node) for node in (0, check, bet)] == [0, 1, 1]
    assert (tree.pot_at(0), tree.pot_at(check), tree.pot_at(bet)) == (100, 100, 150)
    fold, call = tree.children_of(bet).tolist()
    assert tree.path_to(call) == (0, bet, call)
    assert tree.kind[[fold, call]].tolist() == [NodeKind.FOLD, NodeKind.SHOWDOWN]
    assert tree.player[fold] == 1
    assert tree.decision_counts() == {Street.RIVER: 4}


@given(games())
def test_the_chips_in_front_of_players(game: Game) -> None:
    _, tree = game
    agrees_with_an_account(tree, [0.0, 0.0])


@pytest.mark.parametrize("ante", [0, 0.25])
def test_blinds_lie_in_front_of_players_and_antes_do_not(ante: float) -> None:
    rules = PreflopRules.parse(8, [2, 3], 2, ante=ante, bb_ante=1)
    agrees_with_an_account(build_preflop_tree(rules), [100.0, 50.0])


def agrees_with_an_account(tree: BettingTree, posted: list[float]) -> None:
    """An account of every action, as a dealer would keep it."""
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        bets, path = list(posted), tree.path_to(node)
        for above, at in pairwise(path):
            if tree.street[at] != tree.street[above]:
                bets = [0.0, 0.0]
            action = tree.actions[at]
            if action is None:
                continue
            by = tree.player_at(above)
            if action.is_aggressive:
                bets[by] = action.amount
            elif action.kind is ActionKind.CALL:
                bets[by] = bets[by.opponent]
        assert tree.bets_at(node) == pytest.approx(tuple(bets))
