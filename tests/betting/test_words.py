"""Words and labels of actions in every notation."""

import pytest
from betting.random_games import games
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS,
    POT_SHARES,
    ActionKind,
    BettingTree,
    Notation,
    PostflopRules,
    Street,
    action_label,
    action_word,
    build_postflop_tree,
    choices,
    find_action,
    pot_share,
    same_sizes,
)


def river(pot: float, stack: float, bets: str, raises: str = "") -> BettingTree:
    """The betting of a river."""
    sizes = same_sizes(Street.RIVER, bets, raises)
    return build_postflop_tree(PostflopRules(Street.RIVER, pot, stack, sizes))


@pytest.mark.parametrize(
    ("notation", "words", "labels", "offer"),
    [
        (
            CHIPS,
            ["x", "b500", "a"],
            ["check", "bet 500 (50 %)", "all-in 3000 (300 %)"],
            "OOP may x, b500 (50 %), a (300 %)",
        ),
        (
            BIG_BLINDS,
            ["x", "b50%", "a"],
            ["check", "bet 5 bb (50 %)", "all-in 30 bb (300 %)"],
            "on the river BB may x, b50% (5 bb), a (30 bb)",
        ),
        (
            POT_SHARES,
            ["x", "b50%", "a"],
            ["check", "bet 50 %", "all-in 300 %"],
            "on the river OOP may x, b50%, a (300 %)",
        ),
    ],
)
def test_an_action_has_a_word_and_a_label_in_every_notation(
    notation: Notation, words: list[str], labels: list[str], offer: str
) -> None:
    tree = river(1000, 3000, "50%,a")
    children = tree.children_of(0).tolist()
    assert [action_word(tree, child, notation) for child in children] == words
    assert [action_label(tree, child, notation) for child in children] == labels
    assert [find_action(tree, 0, word, notation) for word in words] == children
    with pytest.raises(InputError) as caught:
        find_action(tree, 0, "z", notation)
    assert str(caught.value) == f"'z' is not an action: {offer}"


def test_amounts_are_counted_in_the_unit_of_the_notation() -> None:
    tree = river(1000, 3000, "50%")
    bet = find_action(tree, 0, "b500")
    assert find_action(tree, 0, "b5", BIG_BLINDS) == bet
    assert find_action(tree, 0, "B5BB", BIG_BLINDS) == bet
    assert find_action(tree, 0, "b500", POT_SHARES) == bet
    with pytest.raises(InputError, match="'b5bb' is not an action"):
        find_action(tree, 0, "b5bb")


@given(games(), st.data())
def test_a_bet_is_found_by_its_share_of_the_pot(
    game: tuple[PostflopRules, BettingTree], data: st.DataObject
) -> None:
    _, tree = game
    bets = [action is not None and action.is_aggressive for action in tree.actions]
    if not any(bets):
        return
    node = data.draw(st.sampled_from([n for n, is_bet in enumerate(bets) if is_bet]))
    share = pot_share(tree, node)
    assert share is not None
    before = int(tree.parent[node])
    letter = "r" if tree.actions_at(before)[0].kind == ActionKind.FOLD else "b"
    assert find_action(tree, before, f"{letter}{float(100 * share):.9f}%") == node


def test_bets_that_are_close_have_more_digits_and_large_ones_no_exponent() -> None:
    tree = river(1_000_000, 500_000_000, "33.331%,33.332%,20000%")
    words = {child: action_word(tree, child, BIG_BLINDS) for child, _ in choices(tree, 0)}
    assert list(words.values()) == ["x", "b33.33%", "b33.332%", "b20000%"]
    assert [find_action(tree, 0, word, BIG_BLINDS) for word in words.values()] == list(words)


def test_a_share_in_the_middle_between_two_bets_is_refused() -> None:
    tree = river(100, 500, "50%,51%")
    assert action_word(tree, find_action(tree, 0, "b50.4%")) == "b50"
    with pytest.raises(InputError, match=r"'b50.5%' lies between two actions: OOP may x, b50 \(50"):
        find_action(tree, 0, "b50.5%")


def test_small_pots_forgive_the_rounding_to_chips() -> None:
    """A third of a pot of 10 is 3 chips, which is 30 %."""
    tree = river(10, 95, "33%,100%")
    assert action_word(tree, find_action(tree, 0, "b33%")) == "b3"
