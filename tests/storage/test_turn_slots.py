"""The rows of one turn are those that a game with all turns has for it."""

from itertools import accumulate

import numpy as np
import pytest

from allstreets.betting import Player
from allstreets.cards import Range, parse_board, runouts
from allstreets.engines.exact.cards import first_street, next_street
from allstreets.storage.turn_slots import alone, turn_starts


@pytest.mark.parametrize(
    ("flop", "oop", "ip"),
    [
        ("Ks7h2d", "TT+,AQs+", "88-22,AKo"),
        ("KsJs2s", "random", "random"),
        ("7s7h7d", "AKs,QQ", "AcKd,T9s"),
    ],
)
def test_rows_of_a_turn_are_those_among_all_turns(flop: str, oop: str, ip: str) -> None:
    board = parse_board(flop)
    ranges = [Range.parse(text).on(board) for text in (oop, ip)]
    root = runouts(board, [held.weights for held in ranges])
    combos = np.flatnonzero(ranges[0].weights), np.flatnonzero(ranges[1].weights)
    turns = next_street(first_street(root, combos))
    rivers = next_street(turns)
    starts = turn_starts(root, combos)
    assert list(starts) == list(root.representatives)
    firsts = list(
        accumulate((rivers.parents.count(turn) for turn in range(len(starts))), initial=0)
    )
    for number, (card, (none, turn, river)) in enumerate(starts.items()):
        assert none == (0, 0)
        for player in Player:
            assert turn[player] == turns.lists[player].start[number]
            assert river[player] == rivers.lists[player].start[firsts[number]]
        below = next_street(first_street(alone(root, card), combos))
        assert below.boards == [turns.boards[number]]
        for player in Player:
            (mine,), theirs = below.hands[player], turns.hands[player][number]
            np.testing.assert_array_equal(mine.combos, theirs.combos)
            np.testing.assert_allclose(mine.weight, theirs.weight)
