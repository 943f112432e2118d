"""Lines of play before the flop as text."""

import pytest
from betting.random_preflop import Game, preflop_games
from hypothesis import given

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    BettingTree,
    PreflopRules,
    action_label,
    build_preflop_tree,
    line_text,
    parse_line,
)


def find(tree: BettingTree, text: str) -> int:
    """The node that a line leads to."""
    return parse_line(tree, text, notation=BIG_BLINDS).node


def text_of(tree: BettingTree, node: int) -> str:
    """Its canonical line."""
    return line_text(tree, node, notation=BIG_BLINDS)


def label_of(tree: BettingTree, node: int) -> str:
    """The label of the action that leads there."""
    return action_label(tree, node, BIG_BLINDS)


@pytest.fixture(scope="module")
def tree() -> BettingTree:
    """20 bb, raises to 2.5 times the last bet."""
    return build_preflop_tree(PreflopRules.parse(20))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("  ", ""),
        ("f", "f"),
        ("c x", "c x"),
        ("r2.5 c", "r2.5 c"),
        ("R2.5BB r6.250 C", "r2.5 r6.25 c"),
        ("r2.5 r6.25 r15.63 a f", "r2.5 r6.25 r15.63 a f"),
        ("r2.5 r20 c", "r2.5 a c"),
        ("a", "a"),
    ],
)
def test_lines_and_their_canonical_text(tree: BettingTree, text: str, canonical: str) -> None:
    node = find(tree, text)
    assert text_of(tree, node) == canonical
    assert find(tree, canonical) == node


@given(preflop_games())
def test_every_node_reads_back(game: Game) -> None:
    tree = game.tree
    lines = [text_of(tree, node) for node in range(tree.node_count)]
    assert len(set(lines)) == len(lines)
    for node in range(0, tree.node_count, 1 + tree.node_count // 100):
        assert find(tree, lines[node]) == node


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("r3", "line 'r3': 'r3' is not offered: SB may f, c, r2.5, a (20 bb)"),
        ("x", "'x' is not offered: SB may f, c, r2.5, a (20 bb)"),
        ("c c", "'c' is not offered: BB may x, r2.5, a (20 bb)"),
        ("c f", "'f' is not offered: BB may x, r2.5, a (20 bb)"),
        ("r2.5 b6.25", "'b6.25': the blinds are a bet to raise, write r6.25: BB may f, c, r6.25"),
        ("r2.5 r6.2", "'r6.2' is not offered: BB may f, c, r6.25, a (20 bb)"),
        ("a a", "'a' is not offered: BB may f, c"),
        ("r250c", "'r250c' is not an action: SB may f,"),
        ("r", "'r' is not an action: SB may f,"),
        ("limp", "'limp' is not an action: SB may f,"),
        ("c x x", "'x': the flop is dealt after 'c x'"),
        ("f c", "'c': the hand is over after 'f'"),
        ("a c x", "'x': the hand is over after 'a c'"),
    ],
)
def test_bad_lines_name_the_word_and_what_is_offered(
    tree: BettingTree, text: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        find(tree, text)
    assert message in str(caught.value)


def test_a_hand_that_the_blinds_decide_has_no_lines() -> None:
    tree = build_preflop_tree(PreflopRules.parse(0.5))
    assert find(tree, "") == 0
    with pytest.raises(InputError, match="'f': the hand is over with the blinds: all-in"):
        find(tree, "f")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("", "root"),
        ("f", "fold"),
        ("c", "limp"),
        ("c x", "check"),
        ("c r2.5", "raise to 2.5 bb"),
        ("c r2.5 c", "call"),
        ("r2.5 r6.25", "raise to 6.25 bb"),
        ("r2.5 c", "call"),
        ("a", "all-in 20 bb"),
        ("a c", "call"),
    ],
)
def test_labels_for_people(tree: BettingTree, text: str, label: str) -> None:
    assert label_of(tree, find(tree, text)) == label


def test_calling_a_big_blind_that_is_all_in_is_no_limp() -> None:
    tree = build_preflop_tree(PreflopRules.parse(1))
    assert label_of(tree, find(tree, "c")) == "call"


def test_amounts_do_not_count_the_ante() -> None:
    tree = build_preflop_tree(PreflopRules.parse(20, ante=0.1))
    assert label_of(tree, find(tree, "r2.5")) == "raise to 2.5 bb"
    assert label_of(tree, find(tree, "a")) == "all-in 19.9 bb"
    assert find(tree, "r19.9") == find(tree, "a")
