"""Lines as sentences: every line of real trees in every notation, and lines that are damaged."""

from itertools import pairwise

import pytest

from allstreets.betting import (
    PostflopRules,
    PreflopRules,
    Street,
    build_postflop_tree,
    build_preflop_tree,
    line_in_words,
    line_text,
    same_sizes,
)
from allstreets.betting.tree import BettingTree, NodeKind
from allstreets.betting.words import BIG_BLINDS, BLINDS_AND_CARDS, CHIPS, POT_SHARES, Notation
from allstreets.cards import parse_cards

FLOP = build_postflop_tree(
    PostflopRules(Street.FLOP, 1000, 2000, same_sizes(Street.FLOP, "50%,a", "60%"))
)
PREFLOP = build_preflop_tree(PreflopRules.parse(10, [2.5], 3))
KINDS = {
    "FOLD": "folds",
    "CHECK": "checks",
    "BET": "bets",
    "RAISE": "raises",
    "ALL_IN": "goes all-in",
}


def told(tree: BettingTree, node: int, notation: Notation) -> list[str]:
    """The actions on the path to a node, from the tree itself."""
    path = tree.path_to(node)
    texts = []
    for above, below in pairwise(path):
        action = tree.actions[below]
        if action is None:
            continue
        limps = action.kind.name == "CALL" and tree.street[above] == Street.PREFLOP and above == 0
        verb = KINDS.get(action.kind.name, "limps" if limps else "calls")
        texts.append(f"{notation.seats[tree.player_at(above)]} {verb}")
    return texts


@pytest.mark.parametrize(
    ("tree", "notation"),
    [
        (PREFLOP, BIG_BLINDS),
        (FLOP, CHIPS),
        (FLOP, BIG_BLINDS),
        (FLOP, BLINDS_AND_CARDS),
        (FLOP, POT_SHARES),
    ],
)
def test_every_line_of_a_tree(tree: BettingTree, notation: Notation) -> None:
    """Who acts, what he does and how many streets are dealt are what the tree says."""
    cards = parse_cards("5c9d")
    for node in range(tree.node_count):
        line = line_text(tree, node, cards, notation)
        street = Street(tree.first_street)
        sentences = line_in_words(line, notation, street).split("; ")
        actions = [text for one in sentences for text in one.split(": ")[-1].split(", ")]
        expected = told(tree, node, notation)
        said = [text for text in actions if text.split()[0] in notation.seats]
        assert len(said) == len(expected)
        assert all(text.startswith(told) for text, told in zip(said, expected, strict=True))
        dealt = sum(tree.kind[step] == NodeKind.CHANCE for step in tree.path_to(node)[:-1])
        later = [one for one in sentences if one.startswith(("turn", "river", "any"))]
        assert len(later) == dealt
        if notation.names_cards and dealt:
            assert later[0].startswith("turn 5c")


def test_amounts_are_those_of_the_line() -> None:
    assert line_in_words("r2.5 r7 a") == "SB raises to 2.5, BB raises to 7, SB goes all-in"
    assert line_in_words("b33 r120", CHIPS, Street.RIVER) == "OOP bets 33, IP raises to 120"


def test_lines_that_stop_where_a_card_is_dealt() -> None:
    assert line_in_words("c x | Ks7h2d") == "SB limps, BB checks; flop Ks7h2d"
    assert line_in_words("x x | 7h", CHIPS, Street.FLOP) == "OOP checks, IP checks; turn 7h"
    assert line_in_words("") == "first to act"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("zz", "SB zz"),
        ("x | 7h | 7h | 7h | 7h | x", "SB checks; river 7h: BB checks"),
        ("| | | | | |", "flop"),
        ("spr", "SPR "),
        ("r", "SB r"),
    ],
)
def test_damaged_lines_are_told_as_they_are(line: str, words: str) -> None:
    assert line_in_words(line) == words
