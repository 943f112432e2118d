"""Training whole games from the page."""

from fastapi import APIRouter

from allstreets.explorer.models.games import GameEstimate, SampleGame
from allstreets.explorer.models.solves import GameForm, Solve
from allstreets.explorer.routes.answers import BUSY, REFUSALS
from allstreets.explorer.routes.solves import TheSolves
from allstreets.explorer.solves.games import estimate_game
from allstreets.explorer.solves.games import sample_games as all_samples

router = APIRouter(prefix="/api/games", tags=["games"], responses=REFUSALS)


@router.get("/samples")
def sample_games() -> list[SampleGame]:
    """Training files to begin with."""
    return all_samples()


@router.post("/estimate")
def estimate(form: GameForm) -> GameEstimate:
    """What training a game takes, or what is wrong with its file."""
    return estimate_game(form)


@router.post("", status_code=201, responses=BUSY)
def train(form: GameForm, solves: TheSolves) -> Solve:
    """Train a whole game, now or when its turn comes."""
    return solves.train(form)
