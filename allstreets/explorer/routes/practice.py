"""Practice against a solution, and the results that are kept."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from allstreets.explorer.models.practice import (
    PracticeAnswerForm,
    PracticeForm,
    PracticeResults,
    PracticeState,
    PracticeTopics,
)
from allstreets.explorer.practising import Practising
from allstreets.explorer.routes.answers import BUSY, CSV, REFUSALS
from allstreets.practice import export_text

router = APIRouter(prefix="/api/practice", tags=["practice"], responses=REFUSALS)


def practising_of(request: Request) -> Practising:
    """The sessions of this server."""
    found: Practising = request.app.state.practising
    return found


ThePractising = Annotated[Practising, Depends(practising_of)]
SessionId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f]+$")]


@router.get("/topics")
def topics(
    solution: Annotated[str, Query(max_length=64)], practising: ThePractising
) -> PracticeTopics:
    """What a solution can be practised on."""
    return practising.topics(solution)


@router.post("/sessions", status_code=201)
def begin(form: PracticeForm, practising: ThePractising) -> PracticeState:
    """Begin to play; the first hand is dealt."""
    return practising.begin(form)


@router.post("/sessions/{session}/answers", responses=BUSY)
def answer(
    session: SessionId, form: PracticeAnswerForm, practising: ThePractising
) -> PracticeState:
    """Make the decision that is asked."""
    return practising.answer(session, form)


@router.post("/sessions/{session}/hands", responses=BUSY)
def deal(session: SessionId, practising: ThePractising) -> PracticeState:
    """Deal the next hand, when one is over."""
    return practising.deal(session)


@router.get("/results")
def results(practising: ThePractising) -> PracticeResults:
    """Everything that was kept, in figures."""
    return practising.results()


@router.delete("/results", status_code=204, response_class=Response)
def delete_results(practising: ThePractising) -> None:
    """Delete everything that was kept."""
    practising.kept().delete()


@router.get("/results.csv", response_class=Response, responses=CSV)
def results_csv(practising: ThePractising) -> Response:
    """All decisions that were kept, as a table."""
    return Response(export_text(practising.kept().answers(), "csv"), media_type="text/csv")
