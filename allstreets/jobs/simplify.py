"""Making a solution simple, and saying what that costs: one door for spots and whole games."""

import re
from dataclasses import replace
from pathlib import Path

from allstreets.analysis import (
    Observe,
    Simplification,
    Simplified,
    simple_game,
    simplify_game,
    simplify_spot,
)
from allstreets.base import InputError, Place, thread_count
from allstreets.betting import Player
from allstreets.solutions import MadeSimple, SpotSolution, WholeSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import (
    claim,
    folder_kind,
    load,
    load_unified,
    mirrored,
    open_spot_solver,
    origin,
    read_spot_manifest,
    require_free,
    save_spot,
    spot_identity,
    writing_unified,
)

PLAYERS = {"oop": Player.OOP, "bb": Player.OOP, "ip": Player.IP, "sb": Player.IP}


NO_STRATEGIES = (
    "this solution has no strategies after the flop, only values of models.\n"
    "Simplify a spot or a whole game: allstreets solve, or train with job: unified_cfr"
)


def simplify(
    solution: SpotSolution | WholeSolution | Place | str,
    *,
    grid: float | None = None,
    sizes: int | None = None,
    drop: float | None = None,
    player: Player | str | None = None,
    output: Path | str | None = None,
    name: str | None = None,
    threads: int | None = None,
    observe: Observe | None = None,
) -> Simplified:
    """What a best response gains from a solution whose strategies are made simple.

    `grid` 0.25 rounds frequencies to 0, 25, 50, 75 and 100 %, `sizes` 1 keeps one size at each
    decision, `drop` 0.05 gives up actions below 5 %; they may be combined. `player` "oop" or "ip"
    ("bb" or "sb") makes one player simple, by default both. The solution, a result or its
    folder, stays as it is; `output` is a new folder for the simple strategies, and `name` what they
    are called there. `observe` is called with (flops done, of how many) in whole games.
    """
    rule, players = Simplification(grid, sizes, drop), _players(player)
    if isinstance(solution, str | Place):
        folder = mirrored(solution)
        found = folder if folder_kind(folder) == "spot" else load(folder)
    else:
        found = solution
    target = None if output is None else Path(output)
    if isinstance(found, SpotSolution | Path):
        return _simple_spot(found, rule, players, threads, target, name)
    if not isinstance(found, WholeSolution):
        raise _no_game("a set of spots")
    if not found.is_game:
        raise _no_game("models of flops") if found.unit.name == "pot" else InputError(NO_STRATEGIES)
    if target is None:
        return simplify_game(found, rule, players, thread_count(threads), observe)
    return _saved_game(found, rule, players, thread_count(threads), observe, target, name)


def _simple_spot(
    spot: SpotSolution | Path,
    rule: Simplification,
    players: tuple[Player, ...],
    threads: int | None,
    target: Path | None,
    name: str | None,
) -> Simplified:
    """The simple strategies of a spot, saved where that is asked for."""
    solver = _solver(spot, threads)
    if target is None:
        return simplify_spot(solver, rule, players)
    _require_free(target, solver)
    with claim(target):
        price = simplify_spot(solver, rule, players)
        folder = spot if isinstance(spot, Path) else spot.folder
        made = price.made_from(
            _text(folder), None if folder is None else read_spot_manifest(folder)["name"]
        )
        assert isinstance(price.solution, SpotSolution)
        price.solution.simplified = made
        save_spot(price.solution, target, name=name or _name(made, folder), simplified=made)
    return price


def _saved_game(
    result: WholeSolution,
    rule: Simplification,
    players: tuple[Player, ...],
    threads: int,
    observe: Observe | None,
    target: Path,
    name: str | None,
) -> Simplified:
    """The simple strategies of a whole game, written flop by flop, and opened."""
    flops = [flop.text for flop in result.game.flops.flops]
    with writing_unified(target, flops) as writer:
        price, stored = simple_game(result, rule, players, threads, observe, writer.add)
        folder = result.folder
        made = price.made_from(_text(folder), result.facts.name)
        facts = replace(
            stored.facts, name=name or _name(made, folder), description=None, simplified=made
        )
        writer.finish(replace(stored, facts=facts))
    return replace(price, solution=load_unified(target))


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


def _solver(spot: SpotSolution | Path, threads: int | None) -> SpotSolver:
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


def _require_free(folder: Path, solver: SpotSolver) -> None:
    """Refuse a folder that holds something, before any work is done."""
    precision = solver.subgame.precision
    require_free(
        folder, spot_identity(solver.spot, solver.schedule, precision, solver.river_groups)
    )


def _text(folder: Path | None) -> str | None:
    """What people call the folder of the solution."""
    return None if folder is None else origin(folder.absolute())


def _name(made: MadeSimple, folder: Path | None) -> str:
    """What simple strategies are called."""
    name = made.name or (None if folder is None else folder.absolute().name)
    return made.head if name is None else f"{name}, {made.rule}"


def _no_game(what: str) -> InputError:
    return InputError(
        f"simplify takes a spot or a whole game, and this holds {what}.\n"
        "Solve the flop as a spot: allstreets solve, with the ranges that get there"
    )
