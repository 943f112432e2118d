"""Who plays and when: the two players and the streets, as numbers with names; chips as text."""

from collections.abc import Sequence
from decimal import Decimal
from enum import IntEnum

from allstreets.base import InputError

CHIPS_PER_BB = 100  # in the whole game; a spot may count otherwise
CHIPS_PER_POT = 1000  # where flops are solved by stack-to-pot ratio


class Player(IntEnum):
    """The two players. OOP is the big blind and acts first on every street but the first."""

    OOP = 0
    IP = 1

    @property
    def opponent(self) -> "Player":
        """The other player."""
        return Player(1 - self)

    @property
    def seat(self) -> str:
        """The player's seat before the flop: "BB" or "SB"."""
        return "BB" if self == Player.OOP else "SB"


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


POSTFLOP = (Street.FLOP, Street.TURN, Street.RIVER)


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


def amount_text(chips: float, scale: int) -> str:
    """Chips in a unit of `scale` chips, exactly, without zeros that say nothing."""
    text = f"{Decimal(str(chips)) / scale:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def bb_text(chips: float) -> str:
    """Chips of the whole game as a number of big blinds.

    >>> bb_text(250), bb_text(1563), bb_text(2000), bb_text(47.5), bb_text(-5)
    ('2.5', '15.63', '20', '0.475', '-0.05')
    """
    return amount_text(chips, CHIPS_PER_BB)
