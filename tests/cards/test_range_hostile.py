"""Texts made to stop a reader of ranges: each is refused quickly, in one line.

Sizes are such that a reader whose time grows with their square would never come back.
"""

import re

import pytest

from allstreets.base import InputError
from allstreets.cards import Range, range_reading

LONG = 400_000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" " * LONG, "the range is empty"),
        ("\n" * LONG, "the range is empty"),
        ("9" * LONG + "x", "is not a hand or a combo"),
        ("9" * LONG, "1 number"),
        ("AA:" + "9" * LONG, "is not between 0 and 1"),
        ("AA:1e999999999", "is not a weight"),
        ("[" + " " * LONG, "has no meaning here"),
        ("[5" + " " * LONG + "x", "has no meaning here"),
        ("5" + " " * LONG + "x", "is not a hand or a combo"),
        ("AA" + " " * LONG + "x", "is not a hand or a combo"),
        ("AA" + " -" * LONG, "is not a hand or a combo"),
        ("AA,[50]" * LONG, "more than 50 groups within each other"),
        ("(" * LONG, "has no meaning here"),
        ("{" + '"AA":' * LONG, "not valid JSON"),
        ('{"AA":' + "[" * LONG, "not valid JSON"),
        ('{"AA":' + "9" * LONG + "}", "not valid JSON"),
        ("hand,weight\nAA," + "9" * LONG, "line 2: not a row of a table (field larger"),
        ("hand,weight\nAA,x\x1b[2J", r"'x\x1b[2J' is not a weight"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_range(text: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        Range.parse(text)
    message = str(caught.value)
    assert why in message
    assert len(message) < 700
    assert "\n" not in message


def test_tables_whose_lines_end_in_a_lone_cr() -> None:
    table = Range.parse("hand,weight\rAA,1\rKK,0.5")
    assert table == Range.parse("AA,KK:0.5")


@pytest.mark.parametrize(
    ("pattern", "begin"),
    [
        (range_reading.SPACED_SIGN, "AA"),
        (range_reading.PART, "["),
        (range_reading.PART, "[5"),
        (range_reading.PART, "5"),
        (range_reading.TOKEN, ""),
        (range_reading.HAND, "A"),
        (range_reading.COMBO, "A"),
        (range_reading.WORD, ""),
        (range_reading.PAIR_OF_DIGITS, ""),
    ],
    ids=str,
)
def test_a_pattern_takes_a_time_that_grows_with_the_text(
    pattern: re.Pattern[str], begin: str
) -> None:
    for piece in (" ", "1", "[", "(", "5 ", " -", "[ ", "[5", "5%", "A"):
        sum(1 for _ in pattern.finditer(begin + piece * 100_000 + "\0"))


@pytest.mark.parametrize("pattern", [range_reading.SIGNED, range_reading.NUMBER_LIST])
def test_a_pattern_of_whole_words(pattern: re.Pattern[str]) -> None:
    for begin in ("", "[", "1.", "1e"):
        for piece in ("1", " ", ".", "1."):
            assert not pattern.fullmatch(begin + piece * 100_000 + "x")
