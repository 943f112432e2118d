"""Lines through the whole game: the notation, and the messages when it is wrong."""

import pytest
from builders.whole_solution import whole_game

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    NodeKind,
    PreflopRules,
    Street,
    action_label,
    action_word,
    find_decision,
    line_text,
    parse_line,
    same_sizes,
    split_line,
    whole_line,
)
from allstreets.cards.flop_sets import parse_flop_set
from allstreets.games.whole_game import WholeGame

GAME = whole_game(bets="50%,100%")
LIMPED = GAME.pots[0].tree


@pytest.mark.parametrize(
    ("line", "flop", "before", "canonical", "after"),
    [
        ("", None, "", None, None),
        ("r2.5 c", None, "r2.5 c", None, None),
        ("r2.5 c", "AhKd7s", "r2.5 c", "AsKh7d", None),
        ("r2.5 c | x b50%", "AhKd7s", "r2.5 c", "AsKh7d", "x b50%"),
        ("r2.5 c | AhKd7s | x b50%", None, "r2.5 c", "AsKh7d", "x b50%"),
        ("r2.5 c|ahkd7s|x b50%", None, "r2.5 c", "AsKh7d", "x b50%"),
        ("r2.5 c | Ah Kd 7s |", None, "r2.5 c", "AsKh7d", ""),
        ("r2.5 c | AhKd7s", None, "r2.5 c", "AsKh7d", ""),
        ("r2.5 c | AcKd7h | x", "AhKd7s", "r2.5 c", "AsKh7d", "x"),
        ("c x | x x | * | x", "AhKd7s", "c x", "AsKh7d", "x x | * | x"),
        ("c x | x b50%", None, "c x", None, "x b50%"),
        ("spr3.5 | AhKd7s | x", None, "spr3.5", "AsKh7d", "x"),
        ("AhKd7s | x", None, "", "AsKh7d", "x"),
        ("| AhKd7s | x", None, "", "AsKh7d", "x"),
    ],
)
def test_lines_are_taken_apart(
    line: str, flop: str | None, before: str, canonical: str | None, after: str | None
) -> None:
    found = split_line(line, str.strip, flop)
    assert found.before == found.root == before
    assert (found.flop.flop.text if found.flop else None) == canonical
    assert (found.after.strip() if found.after is not None else None) == after


def test_two_flops_must_be_the_same() -> None:
    with pytest.raises(InputError, match="its flop differs from AhKd7s; leave one of them out"):
        split_line("c x | AhKd8s | x", str.strip, "AhKd7s")


@pytest.mark.parametrize(
    ("line", "street", "player", "canonical"),
    [
        ("", Street.FLOP, "BB", ""),
        ("x b50%", Street.FLOP, "BB", "x b50%"),
        ("x b1", Street.FLOP, "BB", "x b50%"),
        ("x b1bb", Street.FLOP, "BB", "x b50%"),
        ("X B100%", Street.FLOP, "BB", "x b100%"),
        ("b2 r5", Street.FLOP, "BB", "b100% r50%"),
        ("x x", Street.TURN, "BB", "x x |"),
        ("x x | x", Street.TURN, "SB", "x x | x"),
        ("x x | * | x", Street.TURN, "SB", "x x | x"),
        ("x x x b50% c", Street.RIVER, "BB", "x x | x b50% c |"),
        ("x x || x", Street.TURN, "SB", "x x | x"),
    ],
)
def test_decisions_after_the_flop(line: str, street: Street, player: str, canonical: str) -> None:
    node = find_decision(LIMPED, line, BIG_BLINDS)
    assert Street(int(LIMPED.street[node])) == street
    assert LIMPED.player_at(node).seat == player
    assert line_text(LIMPED, node, (), BIG_BLINDS) == canonical
    assert find_decision(LIMPED, canonical, BIG_BLINDS) == node


def test_every_decision_has_a_line_that_leads_to_it() -> None:
    for pot in GAME.pots:
        for node in range(pot.tree.node_count):
            if pot.tree.kind[node] == NodeKind.DECISION:
                assert (
                    find_decision(pot.tree, line_text(pot.tree, node, (), BIG_BLINDS), BIG_BLINDS)
                    == node
                )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b75%", r"'b75%' is not offered: on the flop BB may x, b50% \(1 bb\), b100% \(2 bb\)"),
        ("b1.5", "'b1.5' is not offered"),
        ("b1.001", "'b1.001' is not offered"),
        ("x c", "'c' is not offered: on the flop SB may x, b50%"),
        ("hello", "'hello' is not an action: on the flop BB may x, b50%"),
        ("r1", "'r1': there is no bet yet, write b1: on the flop BB may x, b50%"),
        ("x x | 7h | x", r"'7h': turn and river are averaged over: write \* for the card"),
        ("b1 f", "no player acts there any more"),
        ("b1 f x", "'x': the hand is over after 'b50% f'"),
        ("x x x x x x", "no player acts there any more"),
    ],
)
def test_what_is_wrong_is_said(line: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        find_decision(LIMPED, line, BIG_BLINDS)
    assert f"line '{line}' after the flop" in str(caught.value)


def test_words_and_labels() -> None:
    words = [action_word(LIMPED, child, BIG_BLINDS) for child in LIMPED.children_of(0).tolist()]
    labels = [action_label(LIMPED, child, BIG_BLINDS) for child in LIMPED.children_of(0).tolist()]
    assert words == ["x", "b50%", "b100%"]
    assert labels == ["check", "bet 1 bb (50 %)", "bet 2 bb (100 %)"]


def test_whole_lines() -> None:
    node = parse_line(GAME.tree, "r2.5 c", notation=BIG_BLINDS).node
    root = line_text(GAME.tree, node, (), BIG_BLINDS)
    assert whole_line(root) == "r2.5 c"
    assert whole_line(root, "AhKd7s") == "r2.5 c | AhKd7s"
    assert whole_line(root, "AhKd7s", "x b50%") == "r2.5 c | AhKd7s | x b50%"


def test_amounts_below_a_chip_are_found_as_they_are_told() -> None:
    """With antes of an eighth of a bb a raised pot is 5.25 bb, and 33 % of it 1.7325 bb."""
    rules = PreflopRules.parse(20, ante=0.125)
    game = WholeGame(rules, same_sizes(Street.FLOP, ["33%"], []), parse_flop_set(["AhKd7s"]))
    tree = next(pot.tree for pot in game.pots if pot.pot.pot == 525)
    bet = parse_line(tree, "b1.7325", notation=BIG_BLINDS).node
    assert bet == parse_line(tree, "b33%", notation=BIG_BLINDS).node
    assert action_label(tree, bet, BIG_BLINDS) == "bet 1.7325 bb (33 %)"
    with pytest.raises(InputError, match=r"'b1\.7326' is not offered"):
        parse_line(tree, "b1.7326", notation=BIG_BLINDS)
