"""The HTTP interface: action strings read and written alike, and hands played over loopback."""

from fractions import Fraction
from random import Random

import pytest
from builders.live_tables import TableOfOurs, action_text, play_on, served
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.interop import LiveHand, Move, SlumbotTable, TableResult, TableRules
from allstreets.interop.slumbot import read_action, read_answer

RULES = TableRules()
ANSWER = {
    "token": "t",
    "action": "b200c/kk/b400",
    "client_pos": 1,
    "hole_cards": ["Ac", "9d"],
    "board": ["8c", "8d", "5c", "6s"],
}


@given(st.integers(0, 10**6), st.integers(0, 14))
def test_what_is_written_is_read(seed: int, actions: int) -> None:
    ledger = play_on(RULES.ledger(), Random(seed), actions)
    assert read_action(action_text(ledger), RULES) == ledger
    if ledger.to_act is None:
        assert read_action(action_text(ledger) + "/", RULES) == ledger  # streets without betting


def test_an_answer_by_hand() -> None:
    """Bets are totals of the street: 200 each before the flop, then 400 into 400."""
    hand = read_answer(ANSWER, "hand 1", RULES)
    assert hand.is_mine
    ledger = hand.ledger
    assert sum(ledger.stacks) - sum(ledger.left(player) for player in Player) == 800
    assert ledger.bets == (Fraction(400), Fraction(0))
    assert ledger.least_raise == 800
    assert action_text(ledger) == ANSWER["action"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"action": "b200c/kk/b50000"}, "not a hand"),
        ({"action": "kk"}, "not a hand"),
        ({"action": "b200c/kk/b400?"}, "not an action"),
        ({"action": "b200c/"}, "betting is on the flop"),
        ({"action": 5}, "not a text"),
        ({"client_pos": 2}, "neither 0 nor 1"),
        ({"hole_cards": ["Ac"]}, "two cards"),
        ({"hole_cards": ["8c", "9d"]}, "dealt twice"),
        ({"board": ["8c", "8d"]}, "a board has"),
        ({"board": "8c8d5c6s"}, "not a list"),
    ],
)
def test_other_answers_are_refused(change: dict[str, object], why: str) -> None:
    with pytest.raises(InputError, match=why):
        read_answer({**ANSWER, **change}, "hand 1", RULES)


def test_hands_over_http() -> None:
    """Both play at random; the reported winnings are those the table paid."""
    chance, results, table = Random(5), list[TableResult](), TableOfOurs(RULES, 6)

    def decide(hand: LiveHand) -> Move:
        turn, before = hand.ledger.to_act, len(hand.ledger.actions)
        assert turn is not None
        assert turn[1] == hand.player
        copy = play_on(read_action(action_text(hand.ledger), RULES), chance, 1)
        action = copy.actions[before]
        return Move(action.kind, action.to)

    with served(table) as url:
        SlumbotTable(url, RULES).play(30, decide, results.append)
    assert [result.won for result in results] == table.winnings
    assert len(results) == 30
    assert {int(result.hand.player) for result in results} == {0, 1}
    assert "token" not in table.requests[0]
    assert table.requests[1]["token"] == "t1"


def unasked(_: LiveHand) -> Move:
    raise AssertionError("a decision that nobody should be asked for")


def test_what_the_table_refuses() -> None:
    table = TableOfOurs(RULES, 7)
    with served(table) as url, pytest.raises(InputError, match="refuses: no such endpoint"):
        SlumbotTable(f"{url}/elsewhere", RULES).play(1, unasked, print)
    with pytest.raises(InputError, match="not a table's address"):
        SlumbotTable("localhost:80", RULES)
