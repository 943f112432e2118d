"""Ranges that are kept under names, or written as other programs have them."""

from typing import Annotated

from pydantic import Field

from allstreets.cards import RangeKind
from allstreets.explorer.models.base import Message, Number
from allstreets.explorer.models.solves import LongText, Request, ShortText

RangeName = Annotated[ShortText, Field(examples=["BB calls 2.5"])]


class KeptRangeForm(Request):
    """A range to be kept under a name."""

    name: RangeName
    text: LongText


class KeptRange(Message):
    """A range that is kept."""

    name: str
    text: str
    combos: Number | None  # None: the text cannot be read


class WrittenRangeForm(Request):
    """A range that is to be written otherwise."""

    text: LongText
    kind: RangeKind
