"""What a solve is of: a spot, a flop of a whole game, a whole game, or played hands."""

from dataclasses import dataclass

from allstreets.explorer.headlines import MBB, PERCENT
from allstreets.explorer.solves.flops import spot_bytes
from allstreets.explorer.solves.folders import Request
from allstreets.explorer.solves.games import game_bytes, game_outline
from allstreets.explorer.solves.reviews import HANDS, review_outline
from allstreets.explorer.solves.spots import spot_name, spot_title


@dataclass(frozen=True)
class Outline:
    """A solve in a list."""

    name: str
    title: str
    unit: str  # of exploitability
    target: float | None


def outline(request: Request) -> Outline:
    """What a solve is called, and where it ends."""
    if request.game is not None:
        name, title, target = game_outline(request.game, request.locked)
        return Outline(name, title, MBB, target)
    if request.review is not None:
        return Outline(*review_outline(request.review), HANDS, None)
    form = request.spot
    return Outline(spot_name(form), spot_title(form), PERCENT, form.target_pct)


def need_bytes(request: Request, free: int | None) -> int:
    """The memory that it takes; an `InputError` where so much is not `free`."""
    if request.game is not None:
        return game_bytes(request.game, free, request.locked)
    if request.review is not None:
        return 0  # it makes its trees so that they fit into what is free
    return spot_bytes(request, free)
