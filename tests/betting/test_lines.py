"""Lines of play as text."""

import pytest
from betting.random_games import games
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import (
    ANY_CARD,
    BIG_BLINDS,
    CHIPS,
    POT_SHARES,
    BettingTree,
    NodeKind,
    PostflopRules,
    Street,
    action_label,
    build_postflop_tree,
    dealt,
    line_text,
    parse_line,
    same_sizes,
)
from allstreets.cards import parse_board, parse_cards

BOARD = parse_board("AhTd6s3c")


@pytest.fixture(scope="module")
def tree() -> BettingTree:
    """Pot 100, 500 behind, on the turn: bets of 33 % and 75 %, raises of 60 %."""
    sizes = same_sizes(Street.TURN, "33%,75%", "60%")
    return build_postflop_tree(PostflopRules(Street.TURN, 100, 500, sizes))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("  ", ""),
        ("x", "x"),
        ("b33%", "b33"),
        ("b33", "b33"),
        ("X B33% C", "x b33 c"),
        ("x b33% c", "x b33 c"),
        ("x b33% c | 7h", "x b33 c | 7h"),
        ("x b33% c|7H|", "x b33 c | 7h"),
        ("x b33% c | 7h | x", "x b33 c | 7h | x"),
        ("b33% r60% f", "b33 r133 f"),
        ("b33 r133 c | 7h | b33% f", "b33 r133 c | 7h | b121 f"),
        ("x b33% c | 7h | b33% r60%", "x b33 c | 7h | b55 r221"),
        ("b75 r60% r500", "b75 r225 a"),
        ("b75 r60% a c", "b75 r225 a c"),
    ],
)
def test_lines_and_their_canonical_text(tree: BettingTree, text: str, canonical: str) -> None:
    line = parse_line(tree, text, BOARD)
    assert line_text(tree, line.node, line.cards) == canonical
    assert parse_line(tree, canonical, BOARD) == line
    assert line.nodes == tree.path_to(line.node)


def test_cards_on_the_way(tree: BettingTree) -> None:
    assert parse_line(tree, "x x | 7h | x", BOARD).cards == parse_cards("7h")
    assert parse_line(tree, "x x", BOARD).cards == ()
    assert parse_line(tree, "x x | * | x", any_card=True).cards == (ANY_CARD,)
    assert tree.kind[parse_line(tree, "x x").node] == NodeKind.CHANCE


@given(games(), st.data())
def test_every_node_reads_back_in_every_notation(
    game: tuple[PostflopRules, BettingTree], data: st.DataObject
) -> None:
    _, tree = game
    node = data.draw(st.integers(0, tree.node_count - 1))
    for notation in (CHIPS, BIG_BLINDS, POT_SHARES):
        text = line_text(tree, node, notation=notation)
        found = parse_line(tree, text, any_card=True, notation=notation).node
        # Where cards are averaged over, a line goes on by itself once it has been dealt.
        assert node in ((found,) if notation.names_cards else (found, dealt(tree, found)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x b40%",
            "line 'x b40%': 'b40%' is not offered: IP may x, b33 (33 %), b75 (75 %)",
        ),
        ("b34", "'b34' is not offered: OOP may x, b33 (33 %), b75 (75 %)"),
        ("z", "'z' is not an action: OOP may x, b33 (33 %), b75 (75 %)"),
        ("b", "'b' is not an action: OOP may"),
        ("f", "'f' is not offered: OOP may x,"),
        ("c", "'c' is not offered: OOP may x,"),
        ("a", "'a' is not offered: OOP may x,"),
        ("b33 b133", "'b133': there is a bet to raise, write r133: IP may f, c, r133 (60 %)"),
        ("r33%", "'r33%': there is no bet yet, write b33%: OOP may x, b33 (33 %), b75 (75 %)"),
        ("x x x", "'x': the river card is missing: write 'x x | 7h | x'"),
        ("x x | x", "the river card is missing, 'x' is not a card: write 'x x | 7h | …'"),
        ("x x |", "the river card is missing, the line ends: write 'x x | 7h | …'"),
        ("x x | * | x", "the river card is missing, '*' is not a card"),
        ("x x | Ah | x", "the river card Ah is on the board already"),
        ("x | 7h | x", "'| 7h': no card is dealt yet, IP may x, b33 (33 %), b75 (75 %)"),
        ("b33 f | 7h", "'| 7h': the hand is over after 'b33 f'"),
        ("b33 f x", "'x': the hand is over after 'b33 f'"),
        ("x x | 7h | x x x", "'x': the hand is over after 'x x | * | x x'"),
    ],
)
def test_bad_lines_name_the_word_and_what_is_offered(
    tree: BettingTree, text: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse_line(tree, text, BOARD)
    assert message in str(caught.value)


def test_a_card_cannot_be_dealt_twice() -> None:
    rules = PostflopRules(Street.FLOP, 100, 500, same_sizes(Street.FLOP, "", ""))
    tree = build_postflop_tree(rules)
    with pytest.raises(InputError, match="the river card 7h is on the board already"):
        parse_line(tree, "x x | 7h | x x | 7h | x", BOARD[:3])


def test_labels_for_people(tree: BettingTree) -> None:
    def label(text: str) -> str:
        return action_label(tree, parse_line(tree, text).node)

    assert label("") == "root"
    assert label("x") == "check"
    assert label("b33") == "bet 33 (33 %)"
    assert label("b33 r133") == "raise to 133 (60 %)"
    assert label("b33 f") == "fold"
    assert label("b33 c") == "call"
    assert label("x x | 7h") == "deal"
    assert label("b75 r225 a") == "all-in 500 (50 %)"
