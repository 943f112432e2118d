"""Who plays and when: the two players and the streets, as numbers with names."""

from collections.abc import Sequence
from enum import IntEnum

from allstreets.base.errors import InputError


class Player(IntEnum):
    """The two players. After the flop OOP acts first on every street."""

    OOP = 0
    IP = 1

    @property
    def opponent(self) -> "Player":
        """The other player."""
        return Player(1 - self)


OOP = Player.OOP
IP = Player.IP


class Street(IntEnum):
    """The streets; PREFLOP stands here so that all trees of the game count alike."""

    PREFLOP = 0
    FLOP = 1
    TURN = 2
    RIVER = 3

    @property
    def left(self) -> int:
        """How many streets remain, this one included: 3 on the flop, 1 on the river."""
        return Street.RIVER - self + 1

    @property
    def text(self) -> str:
        """The name as people write it: "flop"."""
        return self.name.lower()


def street_of_board(board: Sequence[int]) -> Street:
    """The street that a board of 3, 4 or 5 cards stands on.

    >>> street_of_board([0, 5, 10]).text
    'flop'
    """
    if len(board) not in (3, 4, 5):
        raise InputError(
            f"a spot needs a board of 3 (flop), 4 (turn) or 5 (river) cards, not {len(board)}"
        )
    return Street(len(board) - 2)
