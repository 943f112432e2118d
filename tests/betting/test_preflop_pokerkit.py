"""Every line of several preflop trees, played in PokerKit: the same actions are legal, the same
pots and stacks see a flop, and the same chips change hands, by folds and with known cards.

PokerKit's first player of two posts the big blind, as OOP does. Where the blinds are equal it lets
him act first; here the button does, so these games are left to the slow twin. What a fold wins it
rakes in another way (the winner's own last bet goes back whole, not only what nobody called), so
lines with a rake are compared where cards decide.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from betting.random_preflop import Game, preflop_games
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pokerkit import Automation, NoLimitTexasHoldem, State

from allstreets.betting import (
    IP,
    OOP,
    Action,
    ActionKind,
    BettingTree,
    NodeKind,
    Outcome,
    PreflopRules,
    Street,
    build_postflop_tree,
    build_preflop_tree,
    flop_pots,
    payoffs,
    postflop_rules,
    same_sizes,
)

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)


class Deal(NamedTuple):
    """Both hands, and the board street by street."""

    oop: str
    ip: str
    board: tuple[str, str, str]


# What OOP gets with these cards.
DEALS = {
    Outcome.WIN: Deal("AsAh", "KsKh", ("2c3d7h", "8s", "9d")),
    Outcome.TIE: Deal("As2h", "Ad3h", ("KcKdKh", "Ks", "Qd")),
    Outcome.LOSE: Deal("QsJh", "TsTh", ("2c3d7h", "8s", "9d")),
}
OPPOSITE = {
    Outcome.WIN: Outcome.LOSE,
    Outcome.TIE: Outcome.TIE,
    Outcome.LOSE: Outcome.WIN,
}


def table(rules: PreflopRules, deal: Deal) -> State:
    """A PokerKit hand after antes, blinds and the deal; what it rakes and splits stays exact."""

    def rake(pot: Any, state: State) -> tuple[Any, Any]:
        taken = Fraction(str(rules.rake)) * pot if any(state.board_cards) else Fraction(0)
        if rules.rake_cap is not None:
            taken = min(taken, Fraction(str(rules.rake_cap)))
        return taken, pot - taken

    divide: Callable[[Any, int], Any] = lambda pot, shares: (Fraction(pot) / shares, 0)  # noqa: E731
    amounts: Any = rules  # PokerKit counts in floats as well, though it says whole numbers
    state = NoLimitTexasHoldem.create_state(
        AUTOMATIONS,
        not rules.bb_ante,  # whether what one player posts more than the other goes back
        (amounts.ante, amounts.ante + amounts.bb_ante),
        (amounts.small_blind, amounts.big_blind),
        amounts.big_blind,
        (amounts.stack, amounts.stack),
        2,
        divmod=divide,
        rake=rake,
    )
    state.deal_hole(deal.oop)
    state.deal_hole(deal.ip)
    return state


def play(state: Any, action: Action) -> None:
    if action.kind == ActionKind.FOLD:
        state.fold()
    elif action.kind == ActionKind.ALL_IN:
        state.complete_bet_or_raise_to(state.max_completion_betting_or_raising_to_amount)
    elif action.is_aggressive:
        state.complete_bet_or_raise_to(action.amount)
    else:
        state.check_or_call()


def deal_street(state: State, cards: str) -> None:
    state.burn_card("??")
    state.deal_board(cards)


def lines(tree: BettingTree) -> Iterator[tuple[int, ...]]:
    """The way from the root to every end of a tree."""
    for node in range(tree.node_count):
        if not tree.child_count[node]:
            yield tree.path_to(node)


def check_what_is_legal(tree: BettingTree, node: int, state: Any, rules: PreflopRules) -> None:
    """At a decision both know the same player, pot, stacks, call and bounds of a raise."""
    player = tree.player_at(node)
    assert state.actor_index == player
    # The ante for both comes out of one stack, and what the other has more cannot be called:
    # PokerKit lets him bet it, and gives it back.
    more = rules.bb_ante if tree.invested[node, IP] == rules.playing_stack else 0
    assert state.total_pot_amount == pytest.approx(tree.pot_at(node) + more)
    behind = rules.stack - tree.invested[node] - [rules.bb_ante, more]
    assert state.stacks == pytest.approx(behind.tolist())
    to_call = tree.to_call_at(node)
    assert state.checking_or_calling_amount == pytest.approx(to_call)
    actions = tree.actions_at(node)
    assert (actions[0].kind == ActionKind.FOLD) == (to_call > 0)
    raises = any(action.is_aggressive for action in actions)
    assert raises <= state.can_complete_bet_or_raise_to()
    assert raises or rules.allin_spr is not None or not state.can_complete_bet_or_raise_to()
    for action in actions:
        if action.is_aggressive:
            most = min(own + bet for own, bet in zip(state.stacks, state.bets, strict=True))
            assert (action.kind == ActionKind.ALL_IN) == (action.amount == pytest.approx(most))
            if action.kind == ActionKind.RAISE:
                assert state.can_complete_bet_or_raise_to(action.amount)


def play_line(tree: BettingTree, path: tuple[int, ...], state: State, rules: PreflopRules) -> None:
    for node, after in pairwise(path):
        check_what_is_legal(tree, node, state, rules)
        action = tree.actions[after]
        assert action is not None
        play(state, action)


def check_results(state: State, results: Any, outcome: Outcome) -> None:
    """`results` [2,3]: ours at the end of the line."""
    assert not state.status
    ours = [results[OOP, outcome], results[IP, OPPOSITE[outcome]]]
    assert [float(chips) for chips in state.payoffs] == pytest.approx(ours, abs=1e-7)


def check_end(tree: BettingTree, path: tuple[int, ...], rules: PreflopRules, results: Any) -> None:
    """Play a line to its end, and where cards decide, with cards for every outcome."""
    end = path[-1]
    for outcome, deal in DEALS.items():
        state = table(rules, deal)
        play_line(tree, path, state, rules)
        if tree.kind[end] == NodeKind.CHANCE:
            (pot,) = (pot for pot in flop_pots(tree) if pot.node == end)
            deal_street(state, deal.board[0])
            assert state.street_index == 1
            assert state.actor_index == OOP
            assert state.total_pot_amount == pytest.approx(pot.pot)
            assert state.stacks == pytest.approx([pot.stack, pot.stack + rules.bb_ante])
            return
        if tree.kind[end] == NodeKind.SHOWDOWN:
            for cards in deal.board:
                deal_street(state, cards)
        check_results(state, results[end], outcome)


@pytest.mark.parametrize(
    "keys",
    [
        {"stack_depth": 20},
        {"stack_depth": 20, "ante": 0.1, "rake": 0.05, "rake_cap": 1.5},
        {"stack_depth": 20, "bb_ante": 1, "rake": 0.05},
        {"stack_depth": 12, "ante": 0.125, "bb_ante": 0.5, "limp": False, "allin": 3},
        {"stack_depth": 10, "raise_sizes": [], "limp": False},
        {"stack_depth": 200, "raise_sizes": [2.5, 3], "rake": 0.04},
        {"stack_depth": 100, "raise_sizes": [["1c", "75%"], "e", "12bb"], "raise_cap": 3},
        {"stack_depth": 9.73, "raise_sizes": ["1c"], "raise_cap": None, "ante": 0.25},
        {"stack_depth": 6, "small_blind": 0.99, "raise_sizes": [2, 2.2]},
        {"stack_depth": 8, "small_blind": 0, "big_blind": 2},
        {"stack_depth": 1.5},
        {"stack_depth": 1.01, "rake": 0.05},
        {"stack_depth": 1},
        {"stack_depth": 0.75, "ante": 0.1},
        {"stack_depth": 0.5, "rake": 0.1},
        {"stack_depth": 0.4, "ante": 1},
    ],
    ids=str,
)
def test_every_line_played_in_pokerkit(keys: dict[str, Any]) -> None:
    rules = PreflopRules.parse(**keys)
    tree = build_preflop_tree(rules)
    results = payoffs(tree, rules)
    for path in lines(tree):
        check_end(tree, path, rules, results)


@pytest.mark.parametrize("ante", [0, 0.25])
def test_the_smallest_raise_is_pokerkit_s(ante: float) -> None:
    """A chip is no legal raise, so what is offered for it is the smallest that is."""
    rules = PreflopRules.parse(13.37, ["1c"], None, ante=ante)
    tree = build_preflop_tree(rules)
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        raises = [action.amount for action in tree.actions_at(node) if action.is_aggressive]
        state = table(rules, DEALS[Outcome.WIN])
        play_line(tree, tree.path_to(node), state, rules)
        smallest = state.min_completion_betting_or_raising_to_amount
        assert raises[:1] == ([] if smallest is None else [smallest])


@settings(max_examples=40)
@given(preflop_games(), st.data())
def test_a_line_of_a_random_game_played_in_pokerkit(game: Game, data: st.DataObject) -> None:
    assume(game.rules.small_blind < game.rules.big_blind)
    # Which of his antes goes first where a stack does not reach is no question of the betting.
    assume(not game.rules.bb_ante or game.rules.playing_stack >= game.rules.ante)
    rules = replace(game.rules, no_flop_no_drop=True)
    path = data.draw(st.sampled_from(list(lines(game.tree))))
    check_end(game.tree, path, rules, payoffs(game.tree, rules))


@pytest.mark.parametrize("ante", [0, 0.1])
@pytest.mark.parametrize("rake", [0.0, 0.05])
def test_results_after_the_flop_are_results_of_the_whole_hand(ante: float, rake: float) -> None:
    """A subgame counts from half its pot, PokerKit from the deal: the numbers are the same."""
    rules = PreflopRules.parse(6, 2.5, ante=ante, rake=rake, rake_cap=0.4)
    tree = build_preflop_tree(rules)
    pots = flop_pots(tree)
    assert [pot.name for pot in pots] == ["limped", "raised", "raised"]
    for pot in pots:
        after_flop = postflop_rules(pot, same_sizes(Street.FLOP, "50%", "a"), rules, max_raises=1)
        subtree = build_postflop_tree(after_flop)
        results = payoffs(subtree, after_flop)
        ends = [
            path
            for path in lines(subtree)
            if rake == 0 or subtree.kind[path[-1]] == NodeKind.SHOWDOWN
        ]
        for position, path in enumerate(ends):
            outcome = Outcome(position % 3)
            state = table(rules, DEALS[outcome])
            play_line(tree, tree.path_to(pot.node), state, rules)
            streets = iter(DEALS[outcome].board)
            deal_street(state, next(streets))
            for node in path[1:]:
                action = subtree.actions[node]
                if action is None:
                    deal_street(state, next(streets))
                else:
                    play(state, action)
            if subtree.kind[path[-1]] == NodeKind.SHOWDOWN:
                for cards in streets:
                    deal_street(state, cards)
            check_results(state, results[path[-1]], outcome)
