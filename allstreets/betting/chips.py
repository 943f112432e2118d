"""Amounts of chips, whole or with decimals.

People count in any unit, so that pots of 5.5 are common. Betting is worked out in *grains*, whole
numbers of the smallest part of a chip, in which two amounts are equal or they are not: a grain is
a chip where all amounts are whole, and otherwise a hundredth of one. What comes out is in chips
again.
"""

from fractions import Fraction

from allstreets.base import InputError

LARGEST_CHIPS = 10**9
DECIMALS = 2
GRAINS = 10**DECIMALS  # of a chip, where amounts are not whole


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
    """How many grains a chip has where these amounts occur; None: not given.

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
    """Refuse what is not an amount of chips, or has more decimals than a grain."""
    amount = exact(name, value)
    if not smallest <= amount <= LARGEST_CHIPS:
        raise InputError(f"{name} {value} does not lie between {smallest:g} and {LARGEST_CHIPS}")
    if (amount * GRAINS).denominator != 1:
        raise InputError(
            f"{name} {value}: amounts have {DECIMALS} decimals at most, so count in a smaller unit "
            "(100 chips per big blind, say)"
        )
