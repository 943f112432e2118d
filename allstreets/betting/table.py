"""The two players, the streets and amounts of chips, as numbers with names.

People count in any unit, so that pots of 5.5 are common. Betting is worked out in *grains*, whole
numbers of the smallest part of a chip, in which two amounts are equal or they are not: a grain is
a chip where all amounts are whole and whole bets lie within 1 % of their sizes, and otherwise a
hundredth of one. What comes out is in chips again.
"""

from collections.abc import Sequence
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

from allstreets.base import InputError

CHIPS_PER_BB = 100  # in the whole game; a spot may count otherwise
CHIPS_PER_POT = 1000  # where flops are solved by stack-to-pot ratio
LARGEST_CHIPS = 10**9
DECIMALS = 2
GRAINS = 10**DECIMALS  # of a chip, where amounts are not whole


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
    """The streets; PREFLOP is one of them, so that all trees of the game count alike."""

    PREFLOP = 0
    FLOP = 1
    TURN = 2
    RIVER = 3

    @property
    def left(self) -> int:
        """The number of streets that remain, this one included: 3 on the flop, 1 on the river."""
        return Street.RIVER - self + 1

    @property
    def text(self) -> str:
        """The name as people write it: "flop"."""
        return self.name.lower()


POSTFLOP = (Street.FLOP, Street.TURN, Street.RIVER)


def street_of_board(board: Sequence[int]) -> Street:
    """The street of a board of 3, 4 or 5 cards.

    >>> street_of_board([0, 5, 10]).text
    'flop'
    """
    if len(board) not in (3, 4, 5):
        raise InputError(
            f"a spot needs a board of 3 (flop), 4 (turn) or 5 (river) cards, not {len(board)}"
        )
    return Street(len(board) - 2)


def amount_text(chips: float, scale: int) -> str:
    """Chips in a unit of `scale` chips, exactly, without trailing zeros."""
    text = f"{Decimal(str(chips)) / scale:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def bb_text(chips: float) -> str:
    """Chips of the whole game as a number of big blinds.

    >>> bb_text(250), bb_text(1563), bb_text(2000), bb_text(47.5), bb_text(-5)
    ('2.5', '15.63', '20', '0.475', '-0.05')
    """
    return amount_text(chips, CHIPS_PER_BB)


def exact(name: str, value: object) -> Fraction:
    """A number as it is printed: 0.1 is a tenth, not the binary fraction next to it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return Fraction(str(value))
        except ValueError:
            pass  # nan, inf
    raise InputError(f"{name} {value!r} is not a number")


def exact_chips(amount: float) -> Fraction:
    """An amount of a tree as it is printed, to be compared with what people write."""
    return Fraction(amount) if isinstance(amount, int) else Fraction(str(amount))


def grains_for(*amounts: float | None) -> int:
    """The number of grains in a chip where these amounts occur; None: not given.

    >>> grains_for(100, 500.0), grains_for(5.5, 97)
    (1, 100)
    """
    given = (Fraction(str(amount)) for amount in amounts if amount is not None)
    return 1 if all(amount.denominator == 1 for amount in given) else GRAINS


def in_grains(chips: float, grains: int) -> int:
    """An amount that has been checked, in grains."""
    return int(Fraction(str(chips)) * grains)


def in_chips(count: int, grains: int) -> float:
    """Grains as chips: a whole number where it is one.

    >>> in_chips(550, 100), in_chips(500, 100), in_chips(7, 1)
    (5.5, 5, 7)
    """
    whole, rest = divmod(count, grains)
    return count / grains if rest else whole


def neat(chips: float) -> float:
    """A sum of amounts without the noise of binary fractions; a whole number where it is one.

    >>> neat(5.5 + 1.82 + 1.82), neat(100.0)
    (9.14, 100)
    """
    rounded = round(chips, DECIMALS)
    return int(rounded) if rounded == int(rounded) else rounded


def check_chips(name: str, value: object, smallest: float) -> None:
    """Refuse anything that is not an amount of chips, or has more decimals than a grain."""
    amount = exact(name, value)
    if not smallest <= amount <= LARGEST_CHIPS:
        raise InputError(f"{name} {value} is not between {smallest:g} and {LARGEST_CHIPS}")
    if (amount * GRAINS).denominator != 1:
        raise InputError(
            f"{name} {value}: amounts have {DECIMALS} decimals at most, so count in a smaller unit "
            "(100 chips per big blind, say)"
        )
