"""Making a solution simple, and measuring the cost, as a job: for spots and whole games."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from allstreets.analysis import (
    Simplification,
    Simplified,
    simple_game,
    simplify_game,
    simplify_spot,
)
from allstreets.base import InputError, Place, duration, thread_count
from allstreets.betting import Player, Street
from allstreets.games import estimate_whole_game
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Observer, Plan, Tally, time_left
from allstreets.solutions import MadeSimple, Solution, SpotSolution, WholeSolution
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
    solver_identity,
    writing_unified,
)

PLAYERS = {"oop": Player.OOP, "bb": Player.OOP, "ip": Player.IP, "sb": Player.IP}

SECONDS_PER_BYTE = {False: 4.4e-8, True: 3.7e-7}  # of the stored strategies; True: on real boards

NO_STRATEGIES = (
    "this solution has no strategies after the flop, only values of models.\n"
    "Simplify a spot or a whole game: allstreets solve, or train with job: unified_cfr"
)


@dataclass(frozen=True, eq=False)
class SimplifyJob:
    """A solution whose strategies are simplified to measure the cost."""

    solution: Solution
    rule: Simplification
    players: tuple[Player, ...] = tuple(Player)
    threads: int | None = None
    output: Path | None = None  # a new folder for the simple strategies
    name: str | None = None  # their name there

    @property
    def is_spot(self) -> bool:
        """Whether it starts after the flop is dealt."""
        return Street.PREFLOP not in self.solution.streets

    @property
    def trials(self) -> int:
        """The evaluations of each flop: unchanged, with each street simple, and with all."""
        return len(self.solution.streets) + 2

    def plan(self) -> Plan:
        """The flops to evaluate, and the time; a spot takes a moment."""
        if self.is_spot:
            return Plan(())
        solution = self._game()
        game, rate = solution.game, SECONDS_PER_BYTE[solution.cards.stores_cards]
        if not game.pots:
            return Plan(())
        need = estimate_whole_game(game, solution.cards)
        seconds = rate * need.memory_bytes
        line = (
            f"{need.flops:,} flops, each evaluated {self.trials} times: about "
            f"{duration(max(seconds, 1))}, mostly of one thread"
        )
        return Plan((line,), need.resident_bytes, seconds)

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> "SimplifyOutcome":
        """Simplify the solution; save it if that was requested."""
        price = self._simple_spot() if self.is_spot else self._simple_game(callbacks)
        return SimplifyOutcome(price)

    def _game(self) -> WholeSolution:
        game = cast(WholeSolution, self.solution)
        if game.unit.name == "pot":
            raise _no_game("models of flops")
        if not game.is_game:
            raise InputError(NO_STRATEGIES)
        return game

    def _simple_spot(self) -> Simplified:
        spot, target = cast(SpotSolution, self.solution), self.output
        solver = _solver(spot, self.threads)
        if target is None:
            return simplify_spot(solver, self.rule, self.players)
        require_free(target, solver_identity(solver))  # before any work is done
        with claim(target):
            price = simplify_spot(solver, self.rule, self.players)
            folder = spot.folder
            name = None if folder is None else read_spot_manifest(folder)["name"]
            made = price.made_from(_text(folder), name)
            simple = cast(SpotSolution, price.solution)
            simple.simplified = made
            save_spot(simple, target, name=self.name or _name(made, folder), simplified=made)
        return price

    def _simple_game(self, callbacks: Callbacks) -> Simplified:
        """The simple strategies are written flop by flop, and opened."""
        game, threads = self._game(), thread_count(self.threads)
        flops = [flop.text for flop in game.game.flops.flops]
        tally = Tally("flops", len(flops), 0, callbacks.progress, figures=time_left)
        tally.tell(0)

        def observe(done: int, _: int) -> None:
            tally.tell(done)

        if self.output is None:
            return simplify_game(game, self.rule, self.players, threads, observe)
        with writing_unified(self.output, flops) as writer:
            price, stored = simple_game(game, self.rule, self.players, threads, observe, writer.add)
            made = price.made_from(_text(game.folder), game.facts.name)
            name = self.name or _name(made, game.folder)
            facts = replace(stored.facts, name=name, description=None, simplified=made)
            writer.finish(replace(stored, facts=facts))
        return replace(price, solution=load_unified(self.output))


@dataclass(frozen=True)
class SimplifyOutcome:
    """The price of simple strategies."""

    price: Simplified
    interrupted: bool = False
    problem: str | None = None

    def lines(self) -> list[str]:
        """Describe the simplification and its exploitability."""
        return str(self.price).splitlines()

    def to_json(self) -> dict[str, Any]:
        """The price in figures."""
        return self.price.to_json()


def plan_simplify(
    solution: Solution | Place | str,
    rule: Simplification,
    player: Player | str | None = None,
    **options: Any,
) -> SimplifyJob:
    """The job that makes a solution simple, or the one in a folder; `options` are its fields."""
    if not isinstance(solution, Solution):
        folder = mirrored(solution)
        if folder_kind(folder) == "spots":
            raise _no_game("a set of spots")
        solution = cast(Solution, load(folder))
    return SimplifyJob(solution, rule, _players(player), **options)


def simplify(
    solution: Solution | Place | str,
    *,
    grid: float | None = None,
    sizes: int | None = None,
    drop: float | None = None,
    player: Player | str | None = None,
    output: Path | str | None = None,
    name: str | None = None,
    threads: int | None = None,
    observers: Sequence[Observer] = (),
) -> Simplified:
    """Measure a best response's gain against a solution whose strategies are made simple.

    `grid` 0.25 rounds frequencies to 0, 25, 50, 75 and 100 %, `sizes` 1 keeps one size at each
    decision, `drop` 0.05 drops actions below 5 %; they may be combined. `player` "oop" or "ip"
    ("bb" or "sb") simplifies one player, by default both. The solution, a result or its folder, is
    not changed; `output` is a new folder for the simple strategies, and `name` their name there.
    Observers are called with a `Progress` for every flop of a whole game.
    """
    rule = Simplification(grid, sizes, drop)
    target = None if output is None else Path(output)
    job = plan_simplify(solution, rule, player, output=target, name=name, threads=threads)
    return job.run(Callbacks(progress=tuple(observers))).price


def read_share(text: str) -> float:
    """A share of 1: "25%", "25 %", "25" or 0.25; numbers from 1 are per cent.

    >>> read_share("25%"), read_share("25"), read_share("0.25"), read_share("2.5 %")
    (0.25, 0.25, 0.25, 0.025)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", text)
    if match is None:
        raise InputError(f"'{text}' is not a share: write 25% or 0.25")
    number = float(match[1])
    return number / 100 if match[2] or number >= 1 else number


def _players(player: Player | str | None) -> tuple[Player, ...]:
    if player is None:
        return tuple(Player)
    if isinstance(player, Player):
        return (player,)
    if player.lower() not in PLAYERS:
        raise InputError(f"player '{player}' is not known: write oop or ip (bb or sb)")
    return (PLAYERS[player.lower()],)


def _solver(spot: SpotSolution, threads: int | None) -> SpotSolver:
    """A separate solver, on the CPU, with the strategies of a spot."""
    trained = spot.solver
    if trained is None:
        if spot.folder is None:
            raise InputError("this solution has no strategies to simplify: name its folder")
        return open_spot_solver(spot.folder, threads)
    solver = SpotSolver(
        spot.spot,
        trained.schedule,
        threads,
        trained.subgame.precision,
        trained.river_groups,
        tremble=trained.tremble,
    )
    solver.restore(trained.state())
    return solver


def _text(folder: Path | None) -> str | None:
    """The readable name of the solution's folder."""
    return None if folder is None else origin(folder.absolute())


def _name(made: MadeSimple, folder: Path | None) -> str:
    """The name of the simple strategies."""
    name = made.name or (None if folder is None else folder.absolute().name)
    return made.head if name is None else f"{name}, {made.rule}"


def _no_game(what: str) -> InputError:
    return InputError(
        f"simplify takes a spot or a whole game, and this contains {what}.\n"
        "Solve the flop as a spot: allstreets solve, with the ranges that get there"
    )
