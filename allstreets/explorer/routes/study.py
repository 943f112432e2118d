"""Practice against a solution, and the results that are kept."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from allstreets.explorer.models import study as messages
from allstreets.explorer.models.solves import Solve
from allstreets.explorer.practising import Practising
from allstreets.explorer.reviews import Reviews
from allstreets.explorer.routes.answers import (
    APKG,
    BUSY,
    CSV,
    CSV_TYPE,
    REFUSALS,
    ROWS,
    download,
    file_answer,
    part,
)
from allstreets.explorer.routes.solutions import TheLibrary
from allstreets.explorer.routes.solves import TheSolves
from allstreets.explorer.solves.hands import read_review
from allstreets.study import Wanted

practice = APIRouter(prefix="/api/practice", tags=["practice"], responses=REFUSALS)


ThePractising = Annotated[Practising, part("practising")]
Played = Annotated[
    str | None, Query(max_length=64, description="A solution that was played on; none: all of them")
]
Words = Annotated[str, Query(max_length=100, description="With commas; none: all of them")]
SessionId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f]+$")]


@practice.get("/topics")
def topics(
    solution: Annotated[str, Query(max_length=64)], practising: ThePractising
) -> messages.PracticeTopics:
    """What a solution can be practised on."""
    return practising.topics(solution)


@practice.post("/sessions", status_code=201)
def begin(form: messages.PracticeForm, practising: ThePractising) -> messages.PracticeState:
    """Begin to play; the first hand is dealt."""
    return practising.begin(form)


@practice.post("/sessions/{session}/answers", responses=BUSY)
def answer(
    session: SessionId, form: messages.PracticeAnswerForm, practising: ThePractising
) -> messages.PracticeState:
    """Make the decision that is asked."""
    return practising.answer(session, form)


@practice.post("/sessions/{session}/hands", responses=BUSY)
def deal(session: SessionId, practising: ThePractising) -> messages.PracticeState:
    """Deal the next hand, when one is over."""
    return practising.deal(session)


@practice.get("/results")
def results(practising: ThePractising, solution: Played = None) -> messages.PracticeResults:
    """What was kept, in figures."""
    return practising.kept.results(solution)


@practice.delete("/results", status_code=204, response_class=Response)
def delete_results(practising: ThePractising) -> None:
    """Delete everything that was kept."""
    practising.kept.delete()


@practice.get("/results.csv", response_class=Response, responses=CSV)
def results_csv(practising: ThePractising, solution: Played = None) -> Response:
    """The decisions that were kept, as a table."""
    return download(practising.kept.table("csv", solution), CSV_TYPE, "practice", ".csv")


@practice.get("/results.json", response_class=Response, responses=ROWS)
def results_json(practising: ThePractising, solution: Played = None) -> Response:
    """The decisions that were kept, with every option of each."""
    text = practising.kept.table("json", solution)
    return download(text, "application/json", "practice", ".json")


@practice.get(
    "/missed.apkg", response_class=Response, responses=file_answer(APKG, "A file for Anki")
)
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


reviews = APIRouter(prefix="/api/reviews", tags=["reviews"], responses=REFUSALS)


TheReviews = Annotated[Reviews, part("reviews")]
ReviewId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f]+$")]
HandKey = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f]+$")]


@reviews.get("")
def all_reviews(all_of: TheReviews) -> list[messages.ReviewCard]:
    """All reviews in the opened folders, the newest first."""
    return all_of.cards()


@reviews.post("", name="begin", status_code=201, responses=BUSY)
def begin_review(form: messages.ReviewForm, library: TheLibrary, solves: TheSolves) -> Solve:
    """Review played hands, now or when their turn comes."""
    return solves.review(read_review(form, library), form.text)


@reviews.get("/{review}")
def review_detail(review: ReviewId, all_of: TheReviews) -> messages.ReviewDetail:
    """A review: what was lost, and every decision."""
    return all_of.detail(review)


@reviews.get("/{review}/hands/{hand}")
def replay(review: ReviewId, hand: HandKey, all_of: TheReviews) -> messages.ReplayHand:
    """A hand, to replay it."""
    return all_of.hand(review, hand)
