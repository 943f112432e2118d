"""Making a solution simple, and saying what that costs: one door for spots and whole games."""

import re
from pathlib import Path

from allstreets.base import InputError, Place, thread_count
from allstreets.betting import Player
from allstreets.solvers import (
    FlopsResult,
    Observe,
    PreflopResult,
    Simplification,
    Simplified,
    SpotResult,
    SpotSolver,
    UnifiedResult,
    simplify_game,
    simplify_spot,
)
from allstreets.storage import (
    folder_kind,
    load,
    mirrored,
    open_spot_solver,
    require_free,
    save_spot,
    spot_identity,
)

PLAYERS = {"oop": Player.OOP, "bb": Player.OOP, "ip": Player.IP, "sb": Player.IP}


def simplify(
    solution: SpotResult | UnifiedResult | Place | str,
    *,
    grid: float | None = None,
    sizes: int | None = None,
    drop: float | None = None,
    player: Player | str | None = None,
    output: Path | str | None = None,
    threads: int | None = None,
    observe: Observe | None = None,
) -> Simplified:
    """What a best response gains from a solution whose strategies are made simple.

    `grid` 0.25 rounds frequencies to 0, 25, 50, 75 and 100 %, `sizes` 1 keeps one size at each
    decision, `drop` 0.05 gives up actions below 5 %; they may be combined. `player` "oop" or "ip"
    ("bb" or "sb") makes one player simple, by default both. The solution, a result or its
    folder, stays as it is; `output` is a folder for the simple strategies of a spot. `observe` is
    called with (flops done, of how many) in whole games.
    """
    rule, players = Simplification(grid, sizes, drop), _players(player)
    if isinstance(solution, str | Place):
        folder = mirrored(solution)
        found = folder if folder_kind(folder) == "spot" else load(folder)
    else:
        found = solution
    if isinstance(found, SpotResult | Path):
        solver = _solver(found, threads)
        target = None if output is None else _free(Path(output), solver)
        price = simplify_spot(solver, rule, players)
        if target is not None and price.solution is not None:
            name, description = _names(found, price)
            save_spot(price.solution, target, name=name, description=description)
        return price
    if not isinstance(found, UnifiedResult):
        raise _no_strategies(found)
    if output is not None:
        raise InputError(
            "only the simple strategies of a spot can be saved, and this is a whole game.\n"
            "Leave output out, or simplify a flop of it that allstreets solve --from has solved"
        )
    return simplify_game(found, rule, players, thread_count(threads), observe)


def read_share(text: str) -> float:
    """A share of 1: "25%", "25 %", "25" or 0.25; from 1 on numbers are per cent.

    >>> read_share("25%"), read_share("25"), read_share("0.25"), read_share("2.5 %")
    (0.25, 0.25, 0.25, 0.025)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", text)
    if found is None:
        raise InputError(f"'{text}' is no share: write 25% or 0.25")
    number = float(found[1])
    return number / 100 if found[2] or number >= 1 else number


def _players(player: Player | str | None) -> tuple[Player, ...]:
    if player is None:
        return tuple(Player)
    if isinstance(player, Player):
        return (player,)
    if player.lower() not in PLAYERS:
        raise InputError(f"player '{player}' is not known: write oop or ip (bb or sb)")
    return (PLAYERS[player.lower()],)


def _solver(spot: SpotResult | Path, threads: int | None) -> SpotSolver:
    """A solver of its own, on the CPU, with the strategies of a spot."""
    if isinstance(spot, Path):
        return open_spot_solver(spot, threads)
    trained = spot.solver
    if trained is None:
        if spot.folder is None:
            raise InputError("this solution holds no strategies to simplify: name its folder")
        return open_spot_solver(spot.folder, threads)
    precision = trained.subgame.precision
    solver = SpotSolver(spot.spot, trained.schedule, threads, precision, trained.river_groups)
    solver.restore(trained.state())
    return solver


def _free(folder: Path, solver: SpotSolver) -> Path:
    """The folder for the simple strategies, before any work is done."""
    precision = solver.subgame.precision
    require_free(
        folder, spot_identity(solver.spot, solver.schedule, precision, solver.river_groups)
    )
    return folder


def _names(spot: SpotResult | Path, price: Simplified) -> tuple[str, str]:
    """What the saved spot is called, and what it was made of."""
    folder = spot if isinstance(spot, Path) else spot.folder
    who = " and ".join(price.seats[player] for player in price.players)
    return (
        f"{price.rule}" if folder is None else f"{folder.name}, {price.rule}",
        f"{who} simple: {price.rule}. Exploitable for {price.after:.3f} % of the pot, before for "
        f"{price.before:.3f} %.",
    )


def _no_strategies(solution: object) -> InputError:
    if isinstance(solution, PreflopResult):
        return InputError(
            "this solution has no strategies after the flop, only values of models.\n"
            "Simplify a spot or a whole game: allstreets solve, or train with job: unified_cfr"
        )
    what = "models of flops" if isinstance(solution, FlopsResult) else "something else"
    return InputError(
        f"simplify takes a spot or a whole game, and this holds {what}.\n"
        "Solve the flop as a spot: allstreets solve, with the ranges that get there"
    )
