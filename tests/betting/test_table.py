"""Players and streets."""

import pytest

from allstreets.base import InputError
from allstreets.betting import IP, OOP, Street, street_of_board


def test_players_are_each_other_s_opponents() -> None:
    assert (OOP, IP) == (0, 1)
    assert OOP.opponent is IP
    assert IP.opponent is OOP


def test_streets_count_down_to_the_river() -> None:
    assert [street.left for street in (Street.FLOP, Street.TURN, Street.RIVER)] == [3, 2, 1]


def test_the_board_gives_the_street() -> None:
    assert [street_of_board(range(cards)) for cards in (3, 4, 5)] == [
        Street.FLOP,
        Street.TURN,
        Street.RIVER,
    ]
    with pytest.raises(InputError, match=r"needs a board of 3 \(flop\), 4 .* not 0"):
        street_of_board([])
