"""Two solutions side by side."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response

from allstreets.explorer.comparing import Comparing
from allstreets.explorer.downloads import csv_text
from allstreets.explorer.models.comparisons import Comparison, ComparisonChoices
from allstreets.explorer.routes.answers import CSV, REFUSALS
from allstreets.explorer.routes.solutions import Evs, Line, SolutionId

router = APIRouter(prefix="/api/solutions/{solution}", tags=["solutions"], responses=REFUSALS)


def comparing_of(request: Request) -> Comparing:
    """The comparisons of this server."""
    found: Comparing = request.app.state.comparing
    return found


TheComparing = Annotated[Comparing, Depends(comparing_of)]
OtherId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-z]+$")]


@router.get("/beside")
def comparison_choices(solution: SolutionId, comparing: TheComparing) -> ComparisonChoices:
    """The solutions that this one can be compared with."""
    return comparing.choices(solution)


@router.get("/beside/{other}")
def comparison(
    solution: SolutionId,
    other: OtherId,
    comparing: TheComparing,
    line: Line = "",
    evs: Evs = "here",
) -> Comparison:
    """A place of this solution beside the same place of another one."""
    return comparing.compare(solution, other, line, evs)


@router.get("/beside/{other}/hands.csv", response_class=Response, responses=CSV)
def comparison_csv(
    solution: SolutionId,
    other: OtherId,
    comparing: TheComparing,
    line: Line = "",
    evs: Evs = "here",
) -> Response:
    """The hands for a spreadsheet: _a is the other solution, _b this one."""
    return csv_text(comparing.table(solution, other, line, evs).table())
