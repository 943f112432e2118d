"""Amounts of hand histories, exact and of bounded length.

A text decides how long its numbers are: `1e200000000` is eleven letters, and a fraction of two
hundred million digits. So a number is looked at before it is made.
"""

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from allstreets.base import shortened
from allstreets.hands.ledger import HandError

MOST_LETTERS = 60
MOST_DIGITS = 15  # before the point
MOST_DECIMALS = 20
KINDS = {bool: "true or false", str: "text", list: "a list", dict: "a table"}


def read_amount(text: str) -> Fraction:
    """An amount as it is written, so that 0.1 is a tenth.

    >>> read_amount("1,250.50")
    Fraction(2501, 2)
    """
    number = text.replace(",", "")
    if len(number) > MOST_LETTERS:
        raise HandError(f"{shortened(text)} is too long for an amount")
    try:
        exact = Decimal(number)
    except InvalidOperation:
        raise HandError(f"{shortened(text)} is not an amount") from None
    if not exact.is_finite():
        raise HandError(f"{shortened(text)} is not an amount")
    if exact.adjusted() >= MOST_DIGITS or int(exact.as_tuple().exponent) < -MOST_DECIMALS:
        raise HandError(f"{shortened(text)} is out of range for an amount")
    return Fraction(exact)


def amount_of(value: object) -> Fraction:
    """An amount that a parser has read already; true and false are none."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 10**MOST_DIGITS:
            raise HandError("an amount is out of range")
        return Fraction(value)
    raise HandError(f"{KINDS.get(type(value), 'something else')} stands where an amount belongs")
