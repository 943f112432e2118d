"""Solving spots from the page."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse

from allstreets.cards import Range
from allstreets.explorer.models import solves as messages
from allstreets.explorer.models.place import RangeText
from allstreets.explorer.models.solution import Trashed
from allstreets.explorer.ranges import KeptRanges, range_grid
from allstreets.explorer.routes.answers import BUSY, EVENTS, REFUSALS, part
from allstreets.explorer.solves.examples import examples as all_examples
from allstreets.explorer.solves.games import estimate_game
from allstreets.explorer.solves.games import sample_games as all_samples
from allstreets.explorer.solves.manager import Solves
from allstreets.explorer.solves.spots import device_choices
from allstreets.explorer.solves.spots import estimate as estimate_spot

router = APIRouter(prefix="/api", tags=["solves"], responses=REFUSALS)


TheSolves = Annotated[Solves, part("solves")]
SolveId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-z-]+$")]


@router.get("/examples")
def examples() -> list[messages.Example]:
    """Spots that are ready to solve."""
    return all_examples()


@router.get("/devices")
def devices() -> list[messages.DeviceChoice]:
    """What spots can be solved on, the processors first."""
    return [*device_choices()]


@router.post("/solves/estimate")
def estimate(form: messages.SpotForm) -> messages.SpotEstimate:
    """What a spot takes to solve, or what is wrong with it."""
    return estimate_spot(form)


@router.get("/solves")
def solves(solves: TheSolves) -> list[messages.Solve]:
    """All solves, the newest first."""
    return solves.list()


@router.post("/solves", status_code=201, responses=BUSY)
def start(form: messages.SpotForm, solves: TheSolves) -> messages.Solve:
    """Begin to solve a spot."""
    return solves.start(form)


@router.get("/solves/{solve}")
def solve_detail(solve: SolveId, solves: TheSolves) -> messages.SolveDetail:
    """Where a solve stands, with its curve."""
    return solves.detail(solve)


@router.post("/solves/{solve}/pause", responses=BUSY)
def pause(solve: SolveId, solves: TheSolves) -> messages.Solve:
    """Pause a solve; it keeps its memory and can go on from there."""
    return solves.pause(solve)


@router.post("/solves/{solve}/resume", responses=BUSY)
def resume(solve: SolveId, solves: TheSolves) -> messages.Solve:
    """Let a solve go on: one that was paused, stopped, or cut off by the end of a server."""
    return solves.resume(solve)


@router.post("/solves/{solve}/stop", responses=BUSY)
def stop(solve: SolveId, solves: TheSolves) -> messages.Solve:
    """Stop a solve and save what is solved."""
    return solves.stop(solve)


@router.delete("/solves/{solve}", responses=BUSY)
def delete(solve: SolveId, solves: TheSolves) -> Trashed:
    """Move a solve that is not running to the trash, with its solution."""
    return solves.delete(solve)


@router.get("/solves/{solve}/events", response_class=StreamingResponse, responses=EVENTS)
async def events(solve: SolveId, solves: TheSolves) -> StreamingResponse:
    """Events as a solve goes on; the stream ends with the solve."""
    return StreamingResponse(
        solves.events(solve), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


SCHEMAS = (messages.SolveEvent,)  # that no route returns and the page must know all the same


games = APIRouter(prefix="/api/games", tags=["games"], responses=REFUSALS)


@games.get("/samples")
def sample_games() -> list[messages.SampleGame]:
    """Training files to begin with."""
    return all_samples()


@games.post("/estimate", name="estimate")
def estimate_training(form: messages.GameForm) -> messages.GameEstimate:
    """What training a game takes, or what is wrong with its file."""
    return estimate_game(form)


@games.post("", status_code=201, responses=BUSY)
def train(form: messages.GameForm, solves: TheSolves) -> messages.Solve:
    """Train a whole game, now or when its turn comes."""
    return solves.train(form)


ranges = APIRouter(prefix="/api", tags=["ranges"], responses=REFUSALS)


TheKeptRanges = Annotated[KeptRanges, part("kept_ranges")]


@ranges.post("/range")
def read_range(form: messages.RangeForm) -> messages.RangeGrid:
    """A range of any kind as a grid, with changes made to it."""
    return range_grid(form)


@ranges.post("/range/text")
def write_range(form: messages.WrittenRangeForm) -> RangeText:
    """A range of any kind as another kind has it."""
    given = Range.parse(form.text)
    return RangeText(text=given.text(form.kind), combos=given.combos)


@ranges.get("/ranges")
def kept_ranges(kept: TheKeptRanges) -> list[messages.KeptRange]:
    """The ranges that are kept, by name."""
    return kept.list()


@ranges.post("/ranges", status_code=201)
def keep_range(form: messages.KeptRangeForm, kept: TheKeptRanges) -> messages.KeptRange:
    """Keep a range under a name; one of that name is replaced."""
    return kept.keep(form)


@ranges.delete("/ranges", status_code=204, response_class=Response)
def forget_range(name: Annotated[str, Query(max_length=200)], kept: TheKeptRanges) -> None:
    """Forget a range that is kept."""
    kept.remove(name)
