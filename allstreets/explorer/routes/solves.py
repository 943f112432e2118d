"""Solves of every kind, ranges, and the files of practice."""

from typing import Annotated

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from allstreets.cards import Range
from allstreets.explorer.models import solves as messages
from allstreets.explorer.models.params import Played, SolveId, Words
from allstreets.explorer.models.place import RangeText
from allstreets.explorer.models.study import ReviewForm
from allstreets.explorer.practising import Practising
from allstreets.explorer.reviews import read_review
from allstreets.explorer.routes import table
from allstreets.explorer.routes.solutions import TheLibrary
from allstreets.explorer.routes.table import BUSY, download, part
from allstreets.explorer.solves.manager import Solves
from allstreets.explorer.solves.spots import device_choices
from allstreets.study import Wanted

router = APIRouter(prefix="/api", responses=table.REFUSALS)
TheSolves = Annotated[Solves, part("solves")]
ThePractising = Annotated[Practising, part("practising")]


@router.get("/devices", tags=["solves"])
def devices() -> list[messages.DeviceChoice]:
    """The devices that spots can be solved on, processors first."""
    return [*device_choices()]


@router.post("/solves", tags=["solves"], status_code=201, responses=BUSY)
def start(form: messages.SpotForm, solves: TheSolves) -> messages.Solve:
    """Start solving a spot."""
    return solves.start(form)


@router.get(
    "/solves/{solve}/events",
    tags=["solves"],
    response_class=StreamingResponse,
    responses=table.EVENTS,
)
async def events(solve: SolveId, solves: TheSolves) -> StreamingResponse:
    """Events during a solve; the stream ends with it."""
    return StreamingResponse(
        solves.events(solve), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


@router.post("/games", tags=["games"], status_code=201, responses=BUSY)
def train(form: messages.GameForm, solves: TheSolves) -> messages.Solve:
    """Train a whole game, now or when its turn comes."""
    return solves.train(form)


@router.post("/reviews", tags=["reviews"], status_code=201, responses=BUSY)
def begin(form: ReviewForm, library: TheLibrary, solves: TheSolves) -> messages.Solve:
    """Review played hands, now or when their turn comes."""
    return solves.review(read_review(form, library), form.text)


@router.post("/range/text", tags=["ranges"])
def write_range(form: messages.WrittenRangeForm) -> RangeText:
    """A range in another format."""
    given = Range.parse(form.text)
    return RangeText(text=given.text(form.kind), combos=given.combos)


@router.get(
    "/practice/results.csv", tags=["practice"], response_class=Response, responses=table.CSV
)
def results_csv(practising: ThePractising, solution: Played = None) -> Response:
    """The stored decisions, as a table."""
    return download(practising.kept.table("csv", solution), table.CSV_TYPE, "practice", ".csv")


@router.get(
    "/practice/results.json", tags=["practice"], response_class=Response, responses=table.ROWS
)
def results_json(practising: ThePractising, solution: Played = None) -> Response:
    """The stored decisions, with every option of each."""
    text = practising.kept.table("json", solution)
    return download(text, "application/json", "practice", ".json")


@router.get(
    "/practice/missed.apkg",
    tags=["practice"],
    response_class=Response,
    responses=table.file_answer(table.APKG, "A file for Anki"),
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
    return download(practising.kept.anki(wanted, solution), table.APKG, "missed", ".apkg")
