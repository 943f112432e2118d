"""Reviews of played hands."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request

from allstreets.explorer.models.reviews import ReplayHand, ReviewCard, ReviewDetail, ReviewForm
from allstreets.explorer.models.solves import Solve
from allstreets.explorer.reviews import Reviews
from allstreets.explorer.routes.answers import BUSY, REFUSALS
from allstreets.explorer.routes.solutions import TheLibrary
from allstreets.explorer.routes.solves import TheSolves
from allstreets.explorer.solves.reviews import read_review

router = APIRouter(prefix="/api/reviews", tags=["reviews"], responses=REFUSALS)


def reviews_of(request: Request) -> Reviews:
    """The reviews of this server."""
    found: Reviews = request.app.state.reviews
    return found


TheReviews = Annotated[Reviews, Depends(reviews_of)]
ReviewId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f]+$")]
HandKey = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f]+$")]


@router.get("")
def all_reviews(reviews: TheReviews) -> list[ReviewCard]:
    """All reviews in the opened folders, the newest first."""
    return reviews.cards()


@router.post("", status_code=201, responses=BUSY)
def begin(form: ReviewForm, library: TheLibrary, solves: TheSolves) -> Solve:
    """Review played hands, now or when their turn comes."""
    return solves.review(read_review(form, library), form.text)


@router.get("/{review}")
def review_detail(review: ReviewId, reviews: TheReviews) -> ReviewDetail:
    """A review: what was lost, and every decision."""
    return reviews.detail(review)


@router.get("/{review}/hands/{hand}")
def replay(review: ReviewId, hand: HandKey, reviews: TheReviews) -> ReplayHand:
    """A hand, to replay it."""
    return reviews.hand(review, hand)
