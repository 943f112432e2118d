"""Practice against a solution, and the results that are kept."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from allstreets.explorer.downloads import CSV_TYPE, download
from allstreets.explorer.models.practice import (
    PracticeAnswerForm,
    PracticeForm,
    PracticeResults,
    PracticeState,
    PracticeTopics,
)
from allstreets.explorer.practising import Practising
from allstreets.explorer.routes.answers import APKG, BUSY, CSV, REFUSALS, ROWS, file_answer
from allstreets.study import Wanted

router = APIRouter(prefix="/api/practice", tags=["practice"], responses=REFUSALS)


def practising_of(request: Request) -> Practising:
    """The sessions of this server."""
    found: Practising = request.app.state.practising
    return found


ThePractising = Annotated[Practising, Depends(practising_of)]
Played = Annotated[
    str | None, Query(max_length=64, description="A solution that was played on; none: all of them")
]
Words = Annotated[str, Query(max_length=100, description="With commas; none: all of them")]
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
def results(practising: ThePractising, solution: Played = None) -> PracticeResults:
    """What was kept, in figures."""
    return practising.kept.results(solution)


@router.delete("/results", status_code=204, response_class=Response)
def delete_results(practising: ThePractising) -> None:
    """Delete everything that was kept."""
    practising.kept.delete()


@router.get("/results.csv", response_class=Response, responses=CSV)
def results_csv(practising: ThePractising, solution: Played = None) -> Response:
    """The decisions that were kept, as a table."""
    return download(practising.kept.table("csv", solution), CSV_TYPE, "practice", ".csv")


@router.get("/results.json", response_class=Response, responses=ROWS)
def results_json(practising: ThePractising, solution: Played = None) -> Response:
    """The decisions that were kept, with every option of each."""
    text = practising.kept.table("json", solution)
    return download(text, "application/json", "practice", ".json")


@router.get("/missed.apkg", response_class=Response, responses=file_answer(APKG, "A file for Anki"))
def missed_apkg(
    practising: ThePractising,
    solution: Played = None,
    streets: Words = "",
    pots: Words = "",
    suits: Words = "",
    pairings: Words = "",
    high_cards: Words = "",
) -> Response:
    """The decisions that were missed, as cards for Anki."""
    given = [[words] if words else [] for words in (streets, pots, suits, pairings, high_cards)]
    wanted = Wanted.parse(given[0], given[1], "", *given[2:])
    return download(practising.kept.anki(wanted, solution), APKG, "missed", ".apkg")
