"""Simple strategies, and what they cost."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from allstreets.explorer.models.simple import SimplePrice
from allstreets.explorer.routes.answers import BUSY, REFUSALS
from allstreets.explorer.routes.solutions import SolutionId
from allstreets.explorer.simplifying import Simplifying
from allstreets.solvers import Simplification

router = APIRouter(prefix="/api/solutions", tags=["solutions"], responses=REFUSALS)


def simplifying_of(request: Request) -> Simplifying:
    """The simple strategies of this server."""
    found: Simplifying = request.app.state.simplifying
    return found


@router.get("/{solution}/simple", responses=BUSY)
def simple_price(
    solution: SolutionId,
    simplifying: Annotated[Simplifying, Depends(simplifying_of)],
    grid_pct: Annotated[
        int | None, Query(ge=1, le=100, description="Round frequencies to steps that divide 100")
    ] = None,
    sizes: Annotated[int | None, Query(ge=1, le=9, description="Keep so many sizes")] = None,
    drop_pct: Annotated[
        int | None, Query(ge=1, le=50, description="Give up actions below this")
    ] = None,
) -> SimplePrice:
    """What a best response gains when both players' strategies are made simple."""
    rule = Simplification(
        grid=None if grid_pct is None else grid_pct / 100,
        sizes=sizes,
        drop=None if drop_pct is None else drop_pct / 100,
    )
    return simplifying.price(solution, rule)
