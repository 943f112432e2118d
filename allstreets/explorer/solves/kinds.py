"""The kinds of solves: a spot (or a flop of a whole game), a whole game, played hands.

Everything else (folders, the queue, processes, reports) is the same for all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from allstreets.explorer.headlines import MBB, PERCENT
from allstreets.explorer.solves.flops import spot_bytes
from allstreets.explorer.solves.folders import Request, SolveFolder
from allstreets.explorer.solves.games import game_bytes, game_outline
from allstreets.explorer.solves.jobs import (
    review_hands,
    solve_in_rounds,
    solve_spot,
    train_game,
)
from allstreets.explorer.solves.reporter import Commands, Ending, Reporter
from allstreets.explorer.solves.spots import spot_name, spot_title

Outline = tuple[str, str, float | None]  # name, title, target


@dataclass(frozen=True)
class Kind:
    """A kind of solve."""

    unit: str  # of exploitability, or of progress
    outline: Callable[[Request], Outline]
    need_bytes: Callable[[Request, int | None], int]
    """The memory that it takes; an `InputError` where so much is not free."""
    run: Callable[[SolveFolder, Request, Commands, Reporter], Ending]
    finished: str  # the message for a finished one; a target can be made smaller
    claims: bool = False  # whether `run` claims the folder itself


def kind_of(request: Request) -> Kind:
    """The kind of a request."""
    if request.locked is not None and request.locked.asked:
        return GAME_IN_ROUNDS if request.game else SPOT_IN_ROUNDS
    return REVIEW if request.review else GAME if request.game else SPOT


def _game_outline(request: Request) -> Outline:
    assert request.game is not None
    return game_outline(request.game, request.locked)


def _game_bytes(request: Request, free: int | None) -> int:
    assert request.game is not None
    return game_bytes(request.game, free, request.locked)


def _review_outline(request: Request) -> Outline:
    source = request.review
    assert source is not None
    names = ", ".join(Path(folder).name for folder in source.folders)
    return source.name, f"{source.hero or 'the players who recorded them'}, graded by {names}", None


SPOT = Kind(
    PERCENT,
    lambda request: (spot_name(request.spot), spot_title(request.spot), request.spot.target_pct),
    spot_bytes,
    solve_spot,
    "",
)
GAME = Kind(
    MBB,
    _game_outline,
    _game_bytes,
    train_game,
    "this game is trained to its end: start one with more epochs",
    claims=True,
)
# Locks of frequencies are solved again until these hold; a round claims its own folder.
SPOT_IN_ROUNDS = replace(SPOT, run=solve_in_rounds, claims=True)
GAME_IN_ROUNDS = replace(GAME, run=solve_in_rounds)
REVIEW = Kind(
    "hands",
    _review_outline,
    lambda *_: 0,  # it makes its trees to fit into free memory
    review_hands,
    "all hands are reviewed: start another review",
)
