"""Simple strategies: what they cost, and saving them."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from allstreets.explorer.models.simple import SimpleForm, SimplePrice
from allstreets.explorer.models.solution import SolutionCard
from allstreets.explorer.routes.answers import BUSY, REFUSALS
from allstreets.explorer.routes.solutions import SolutionId
from allstreets.explorer.simplifying import Simplifying

router = APIRouter(prefix="/api/solutions", tags=["solutions"], responses=REFUSALS)


def simplifying_of(request: Request) -> Simplifying:
    """The simple strategies of this server."""
    found: Simplifying = request.app.state.simplifying
    return found


TheSimplifying = Annotated[Simplifying, Depends(simplifying_of)]


@router.get("/{solution}/simple", responses=BUSY)
def simple_price(
    solution: SolutionId,
    simplifying: TheSimplifying,
    grid_pct: Annotated[
        int | None, Query(ge=1, le=100, description="Round frequencies to steps that divide 100")
    ] = None,
    sizes: Annotated[int | None, Query(ge=1, le=9, description="Keep so many sizes")] = None,
    drop_pct: Annotated[
        int | None, Query(ge=1, le=50, description="Give up actions below this")
    ] = None,
) -> SimplePrice:
    """What a best response gains when both players' strategies are made simple."""
    form = SimpleForm(grid_pct=grid_pct, sizes=sizes, drop_pct=drop_pct)
    return simplifying.price(solution, form)


@router.post("/{solution}/simple", status_code=201, responses=BUSY)
def save_simple(
    solution: SolutionId, simplifying: TheSimplifying, form: SimpleForm
) -> SolutionCard:
    """Save the simple strategies as a solution of their own, in the folder of solves."""
    return simplifying.save(solution, form)
