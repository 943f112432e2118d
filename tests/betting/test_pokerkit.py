"""Random lines of random trees, played in PokerKit: the same amounts are legal, and the same
chips change hands.

PokerKit starts every hand before the flop. Antes of half the pot, no blinds, and checks down to
the first street of the tree give the same situation, with the smallest bet of the rules or a chip.
"""

from dataclasses import replace

from betting.random_games import games
from hypothesis import given, settings
from hypothesis import strategies as st
from pokerkit import Automation, NoLimitTexasHoldem, State

from allstreets.betting import (
    IP,
    OOP,
    ActionKind,
    BettingTree,
    NodeKind,
    PostflopRules,
    Street,
    build_postflop_tree,
    payoffs,
    same_sizes,
)
from allstreets.betting.menu import Situation


def table(rules: PostflopRules) -> State:
    """A PokerKit hand at the root of the tree; OOP is its first player."""
    half, stack = int(rules.pot) // 2, int(rules.stack)
    state = NoLimitTexasHoldem.create_state(
        tuple(Automation), True, half, (0, 0), max(int(rules.min_bet), 1), (half + stack,) * 2, 2
    )
    for _ in range(2 * rules.street):
        state.check_or_call()
    assert state.street_index == rules.street
    return state


def check_what_is_legal(tree: BettingTree, node: int, state: State) -> None:
    """At a decision both know the same player, the same call and the same bounds of a raise."""
    player = tree.player_at(node)
    assert state.actor_index == player
    to_call = int(tree.invested[node, player.opponent] - tree.invested[node, player])
    assert state.checking_or_calling_amount == to_call
    actions = tree.actions_at(node)
    assert (actions[0].kind == ActionKind.FOLD) == (to_call > 0)
    for action in actions:
        if action.is_aggressive:
            assert state.can_complete_bet_or_raise_to(int(action.amount))
            is_most = action.amount == state.max_completion_betting_or_raising_to_amount
            assert (action.kind == ActionKind.ALL_IN) == is_most


@settings(max_examples=60)
@given(games(), st.data())
def test_a_line_played_in_pokerkit(
    game: tuple[PostflopRules, BettingTree], data: st.DataObject
) -> None:
    rules, tree = game
    if rules.stack == 0:
        return
    if rules.pot % 2 or rules.rake:
        # Antes are whole chips, and PokerKit's rake is not under test here.
        rules = replace(rules, pot=rules.pot + rules.pot % 2, rake=0.0)
        tree = build_postflop_tree(rules)
    state = table(rules)
    node = 0
    while not tree.is_terminal[node]:
        children = tree.children_of(node).tolist()
        if tree.kind[node] == NodeKind.CHANCE:
            (node,) = children
            assert state.street_index == tree.street[node]
            continue
        check_what_is_legal(tree, node, state)
        node = data.draw(st.sampled_from(children))
        action = tree.actions[node]
        assert action is not None
        if action.kind == ActionKind.FOLD:
            state.fold()
        elif action.is_aggressive:
            state.complete_bet_or_raise_to(int(action.amount))
        else:
            state.check_or_call()
    assert not state.status
    begun_with = rules.pot // 2 + rules.stack
    theirs = [stack - begun_with for stack in state.stacks]
    ours = payoffs(tree, rules)[node]
    # Win against lose, tie against tie, lose against win; after a fold all three are the same.
    assert theirs in [[ours[OOP, k], ours[IP, 2 - k]] for k in range(3)]


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 400), st.integers(0, 80))
def test_the_smallest_bet_and_raise_are_pokerkit_s(
    bet: int, increment: int, stack: int, min_bet: int
) -> None:
    """A bet, a raise, and the smallest second raise, with stacks that may be too short for it."""
    stack += bet + increment
    rules = PostflopRules(
        Street.FLOP, 100, stack, same_sizes(Street.FLOP, "1c", "1c"), min_bet=min_bet
    )
    state = table(rules)
    tree = build_postflop_tree(replace(rules, street=Street.RIVER, sizes=rules.sizes[:1]))
    (smallest,) = (action.amount for action in tree.actions_at(0) if action.is_aggressive)
    assert state.min_completion_betting_or_raising_to_amount == smallest
    bet = max(bet, min_bet)
    if bet >= stack:
        return
    state.complete_bet_or_raise_to(bet)
    raise_to = max(bet + increment, 2 * bet)
    if raise_to >= stack:
        return
    state.complete_bet_or_raise_to(raise_to)
    situation = Situation(100 + 2 * raise_to, raise_to, bet, stack, 3, 1)
    ours = min(situation.smallest, situation.all_in)
    assert state.min_completion_betting_or_raising_to_amount == ours
