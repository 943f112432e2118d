"""Ranges by themselves: as a grid, as other programs write them, and kept under names."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from allstreets.cards import Range
from allstreets.explorer.kept_ranges import KeptRanges
from allstreets.explorer.models.place import RangeText
from allstreets.explorer.models.ranges import KeptRange, KeptRangeForm, WrittenRangeForm
from allstreets.explorer.models.solves import RangeForm, RangeGrid
from allstreets.explorer.routes.answers import REFUSALS
from allstreets.explorer.solves.ranges import range_grid

router = APIRouter(prefix="/api", tags=["ranges"], responses=REFUSALS)


def kept_of(request: Request) -> KeptRanges:
    """The ranges that are kept beside this server's solves."""
    kept: KeptRanges = request.app.state.kept_ranges
    return kept


TheKeptRanges = Annotated[KeptRanges, Depends(kept_of)]


@router.post("/range")
def read_range(form: RangeForm) -> RangeGrid:
    """A range of any kind as a grid, with changes made to it."""
    return range_grid(form)


@router.post("/range/text")
def write_range(form: WrittenRangeForm) -> RangeText:
    """A range of any kind as another kind has it."""
    given = Range.parse(form.text)
    return RangeText(text=given.text(form.kind), combos=given.combos)


@router.get("/ranges")
def kept_ranges(kept: TheKeptRanges) -> list[KeptRange]:
    """The ranges that are kept, by name."""
    return kept.list()


@router.post("/ranges", status_code=201)
def keep_range(form: KeptRangeForm, kept: TheKeptRanges) -> KeptRange:
    """Keep a range under a name; one of that name is replaced."""
    return kept.keep(form)


@router.delete("/ranges", status_code=204, response_class=Response)
def forget_range(name: Annotated[str, Query(max_length=200)], kept: TheKeptRanges) -> None:
    """Forget a range that is kept."""
    kept.remove(name)
