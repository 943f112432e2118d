"""Postflop trees: counts of another solver, and laws that hold in every game."""

import json
from pathlib import Path
from typing import Any

import pytest
from betting.random_games import games
from hypothesis import given

from allstreets.base import InputError
from allstreets.betting import (
    IP,
    OOP,
    Action,
    ActionKind,
    BettingTree,
    NodeKind,
    PlayerSizes,
    PostflopRules,
    Street,
    build_postflop_tree,
    line_text,
    rules_from_spot,
    same_sizes,
)

Game = tuple[PostflopRules, BettingTree]
SPOTS = json.loads((Path(__file__).parents[1] / "data" / "spots.json").read_text())["spots"]


def amounts(actions: tuple[Action, ...]) -> list[float]:
    return [action.amount for action in actions if action.is_aggressive]


def decisions(tree: BettingTree) -> list[int]:
    return [node for node in range(tree.node_count) if tree.kind[node] == NodeKind.DECISION]


@pytest.mark.parametrize("spot", SPOTS, ids=lambda spot: spot["name"])
def test_decisions_by_street_are_those_of_another_solver(spot: dict[str, Any]) -> None:
    counts = build_postflop_tree(rules_from_spot(spot)).decision_counts()
    assert {street.text: count for street, count in counts.items()} == spot["decision_nodes"]


def street_so_far(tree: BettingTree, node: int) -> list[float]:
    """The totals bet on the street of a decision before it, the first of them 0."""
    bets = []
    for step in reversed(tree.path_to(node)):
        action = tree.actions[step]
        if action is None:
            break
        if action.is_aggressive:
            bets.append(action.amount)
    return [0, *reversed(bets)]


@given(games())
def test_investments_rise_by_the_actions_and_never_exceed_the_stack(game: Game) -> None:
    rules, tree = game
    assert (tree.invested <= rules.stack).all()
    assert tree.invested[0].tolist() == [0, 0]
    street_start = 0
    for node in range(1, tree.node_count):
        before = int(tree.parent[node])
        old, new = tree.invested[before].tolist(), tree.invested[node].tolist()
        action = tree.actions[node]
        if action is None or action.kind in (ActionKind.FOLD, ActionKind.CHECK):
            assert new == old
            continue
        player = tree.player_at(before)
        assert new[player.opponent] == old[player.opponent]
        if action.kind == ActionKind.CALL:
            assert new[OOP] == new[IP]
            continue
        bets = street_so_far(tree, before)
        street_start = max(old) - bets[-1]
        assert new[player] == street_start + action.amount


@given(games())
def test_bets_are_legal_and_listed_in_order(game: Game) -> None:
    rules, tree = game
    for node in decisions(tree):
        actions = tree.actions_at(node)
        bets = street_so_far(tree, node)
        facing_bet = len(bets) > 1
        all_in = rules.stack - int(tree.invested[node].max()) + bets[-1]
        passive = [ActionKind.FOLD, ActionKind.CALL] if facing_bet else [ActionKind.CHECK]
        assert [action.kind for action in actions[: len(passive)]] == passive

        aggressive = actions[len(passive) :]
        usual = ActionKind.RAISE if facing_bet else ActionKind.BET
        for action in aggressive:
            is_all_in = action.amount == all_in
            assert action.kind == (ActionKind.ALL_IN if is_all_in else usual)
            assert action.amount > bets[-1]
            if not is_all_in:
                assert action.amount - bets[-1] >= (bets[-1] - bets[-2] if facing_bet else 1)
        offered = [action.amount for action in aggressive]
        assert offered == sorted(set(offered))
        if bets[-1] == all_in:
            assert not aggressive
        if rules.max_raises is not None and len(bets) - 2 >= rules.max_raises:
            assert not aggressive


@given(games())
def test_a_street_ends_when_both_have_put_in_the_same(game: Game) -> None:
    rules, tree = game
    for node in range(tree.node_count):
        kind, street = tree.kind[node], tree.street[node]
        oop, ip = tree.invested[node].tolist()
        if kind == NodeKind.FOLD:
            folded = tree.player[node]
            assert tree.invested[node, folded] < tree.invested[node, 1 - folded]
        elif kind == NodeKind.SHOWDOWN:
            assert oop == ip
            assert street == Street.RIVER or oop == rules.stack
        elif kind == NodeKind.CHANCE:
            assert oop == ip < rules.stack
            assert street < Street.RIVER
            (child,) = tree.children_of(node).tolist()
            assert tree.kind[child] == NodeKind.DECISION
            assert tree.player_at(child) == OOP


def last_aggressor_before(tree: BettingTree, node: int) -> int | None:
    """Who made the last bet or raise of the street before that of a decision."""
    for step in reversed(tree.path_to(node)[1:]):
        action = tree.actions[step]
        if tree.street[step] == tree.street[node] - 1 and action and action.is_aggressive:
            return int(tree.player[tree.parent[step]])
    return None


def test_donk_sizes_apply_where_oop_leads_into_the_last_aggressor() -> None:
    oop = PlayerSizes.parse("30c", "90c", "7c")
    ip = PlayerSizes.parse("20c", "100c")
    first = PlayerSizes.parse("30c", "90c")
    rules = PostflopRules(Street.FLOP, 100, 5000, ((first, ip), (oop, ip), (oop, ip)), max_raises=1)
    tree = build_postflop_tree(rules)
    leads = {7: 0, 30: 0}
    for node in decisions(tree):
        if tree.player_at(node) != OOP or len(street_so_far(tree, node)) > 1:
            continue
        donk = last_aggressor_before(tree, node) == IP
        assert amounts(tree.actions_at(node)) == [7 if donk else 30], line_text(tree, node)
        leads[7 if donk else 30] += 1
    # On each street but the last, 5 ways to go on, 2 of them with IP's bet or raise called.
    assert leads == {7: 2 + 5 * 2, 30: 1 + 3 + 5 * 3}


def test_without_donk_sizes_the_bet_sizes_serve_and_an_empty_list_means_no_donk() -> None:
    def lead_after_ip_bet(donk: str | None) -> list[float]:
        later = (PlayerSizes.parse("30c", "", donk), PlayerSizes.parse("20c", ""))
        first = (PlayerSizes(), PlayerSizes.parse("20c", ""))
        rules = PostflopRules(Street.TURN, 100, 500, (first, later))
        tree = build_postflop_tree(rules)
        (node,) = (n for n in decisions(tree) if line_text(tree, n) == "x b20 c | *")
        return amounts(tree.actions_at(node))

    assert lead_after_ip_bet(None) == [30]
    assert lead_after_ip_bet("7c") == [7]
    assert lead_after_ip_bet("") == []


def test_facing_an_all_in_there_is_only_fold_and_call() -> None:
    rules = PostflopRules(Street.FLOP, 100, 50, same_sizes(Street.FLOP, "a", "a"))
    tree = build_postflop_tree(rules)
    lines = {line_text(tree, node): node for node in range(tree.node_count)}
    assert {"a", "a f", "a c", "x a", "x a f", "x a c"} <= lines.keys()
    assert not any(line.startswith(("a a", "a r", "a c |")) for line in lines)
    assert tree.kind[lines["a c"]] == NodeKind.SHOWDOWN
    assert tree.street[lines["a c"]] == Street.FLOP


def test_without_sizes_the_hand_is_checked_down() -> None:
    tree = build_postflop_tree(PostflopRules(Street.TURN, 10, 95, same_sizes(Street.TURN, "", "")))
    assert [line_text(tree, n) for n in range(6)] == [
        "", "x", "x x", "x x | *", "x x | * | x", "x x | * | x x",
    ]  # fmt: skip
    assert tree.node_count == 6


def test_without_chips_behind_there_is_nothing_to_decide() -> None:
    tree = build_postflop_tree(
        PostflopRules(Street.FLOP, 100, 0, same_sizes(Street.FLOP, "a", "a"))
    )
    assert tree.node_count == 1
    assert tree.kind[0] == NodeKind.SHOWDOWN
    assert tree.street[0] == Street.FLOP
    assert tree.player[0] == -1
    assert tree.decision_counts() == {Street.FLOP: 0, Street.TURN: 0, Street.RIVER: 0}


def test_max_raises_counts_raises_and_not_the_bet() -> None:
    def longest(max_raises: int | None) -> int:
        sizes = same_sizes(Street.RIVER, "10%", "2x")
        tree = build_postflop_tree(
            PostflopRules(Street.RIVER, 100, 5000, sizes, max_raises=max_raises)
        )
        return max(len(street_so_far(tree, node)) - 2 for node in decisions(tree))

    assert [longest(limit) for limit in (0, 1, 3)] == [0, 1, 3]
    assert longest(None) == 9  # 10, 20, 40, …, 2560 and the all-in: the ninth raise


def test_long_lines_of_smallest_raises_are_built() -> None:
    rules = PostflopRules(Street.RIVER, 1000, 3000, same_sizes(Street.RIVER, "1c", "1c"))
    tree = build_postflop_tree(rules)
    assert max(len(street_so_far(tree, node)) for node in decisions(tree)[-10:]) == 3001


def test_a_tree_that_is_too_large_says_what_to_reduce() -> None:
    rules = PostflopRules(
        Street.FLOP, 10, 100000, same_sizes(Street.FLOP, "10%,20%,30%", "2x,3x,4x")
    )
    with pytest.raises(InputError) as caught:
        build_postflop_tree(rules, 10_000)
    assert str(caught.value) == (
        "the betting tree has more than 10,000 nodes: use fewer sizes, larger raises, a smaller "
        "stack, max_raises, or a higher force_allin_threshold or merging_threshold"
    )


@pytest.mark.long
def test_a_hundred_thousand_nodes() -> None:
    """Long: a large tree."""
    rules = PostflopRules(
        Street.FLOP, 100, 10_000, same_sizes(Street.FLOP, "33%,75%,150%", "60%,100%")
    )
    assert build_postflop_tree(rules).node_count > 100_000
