"""Small whole games, solved once, for tests that store and show them."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from harness.made_once import made_once

from allstreets.base import read_checked_arrays, write_checked_arrays
from allstreets.betting import PreflopRules, Street, same_sizes
from allstreets.cards.flop_sets import parse_flop_set
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.card_model import CLASSES, EXACT, CardModel, MemoryMode
from allstreets.games.whole_game import WholeGame
from allstreets.solutions.whole_game import WholeSolution
from allstreets.solvers.leaves import VisitPlan
from allstreets.solvers.precision import QuantisedSolution, quantise_solution
from allstreets.solvers.whole_game import WholeGameFigures, WholeGameSolver
from allstreets.storage import save_unified

FLOP, SAME = "Qs7h4d", "Qc7d4h"
"""A flop of `classes()` in two spellings."""

BUCKETS = (5, 12, 9)
CONFIG = {"stack_depth": 20, "memory": "resident"}
STATE = "state.safetensors"


def whole_game(
    flops: Any = "spread_3",
    stack: float = 20,
    bets: str = "100%",
    raise_sizes: tuple[float, ...] = (2.5,),
    **rules: Any,
) -> WholeGame:
    """A game with one bet size and one raise a street."""
    return WholeGame(
        PreflopRules.parse(stack, list(raise_sizes), 4, **rules),
        same_sizes(Street.FLOP, bets, bets),
        parse_flop_set(flops),
        max_raises=1,
    )


def solver_of(
    game: WholeGame,
    iterations: int,
    model: CardModel = CLASSES,
    memory: MemoryMode = "resident",
    batches: VisitPlan | None = None,
) -> WholeGameSolver:
    """A trained solver."""
    games = game.build(game.engine(model, memory))
    solver = WholeGameSolver(game, games, parse_schedule("tuned"), batches)
    if iterations:
        solver.train_batch(iterations)
    return solver


def trained_once(solver: WholeGameSolver, iterations: int) -> WholeGameSolver:
    """A solver after its first iterations, which one process trains for all."""
    told = repr((sorted(solver.identity.items()), iterations))

    def train(folder: Path) -> None:
        solver.train_batch(iterations)
        folder.mkdir()
        write_checked_arrays(folder / STATE, solver.state())

    folder = made_once(f"trained {hashlib.sha256(told.encode()).hexdigest()[:16]}", train)
    if solver.iterations != iterations:
        solver.restore(read_checked_arrays(folder / STATE)[0])
    return solver


@cache
def classes() -> WholeGameSolver:
    """Three flops, seven pots."""
    return solver_of(whole_game(), 30)


@cache
def buckets() -> WholeGameSolver:
    """Two flops with buckets; the second flop has fewer of them on the river."""
    game = whole_game(["Ks7h2d", "AsAhAd"], 6, "50%", ())
    return solver_of(game, 20, CardModel("buckets", BUCKETS))


@cache
def combos() -> WholeGameSolver:
    """A flop with real combos; the one pot that sees it is all-in with its first bet."""
    game = whole_game(["7s7h7d"], 3, "100%", ())
    return trained_once(solver_of(game, 0, EXACT), 6)


@cache
def raked() -> WholeGameSolver:
    """A flop, with antes and rake: results do not sum to zero."""
    game = whole_game(["Ks7h2d"], 6, "50%", (), ante=0.1, rake=0.05, rake_cap=0.3)
    return solver_of(game, 20)


@cache
def forgotten() -> WholeGameSolver:
    """A game that keeps values only."""
    game = whole_game(["Ks7h2d", "9s8s7h"], 6, "50%", ())
    return solver_of(game, 8, memory="per_batch", batches=VisitPlan(1, 2))


@cache
def trips() -> WholeGameSolver:
    """One pot; flops of three sevens or deuces have few runouts, so that combos are quick."""
    return solver_of(whole_game(["7s7h7d", "2s2h2d", "Ks8h3d"], 3, "100%", ()), 40)


@cache
def trips_result() -> WholeSolution:
    """`trips()` without files."""
    return WholeSolution.of(trips(), name="trips")


@cache
def quantised() -> QuantisedSolution:
    """Of `classes()`."""
    return quantise_solution(classes())


def figures() -> WholeGameFigures:
    """The figures of `classes()` as it is stored."""
    return quantised().figures


@cache
def result() -> WholeSolution:
    """`classes()` without files."""
    return WholeSolution.of(classes(), quantised(), memory="resident")


@cache
def combo_result() -> WholeSolution:
    """`combos()` without files."""
    return WholeSolution.of(combos())


def save_classes(folder: Path, **others: Any) -> Path:
    """A bundle of `classes()`."""
    rows = [{"iteration": 30, "exploitability": figures().exploitability}]
    save_unified(
        classes(), folder, config=CONFIG, quantised=quantised(), metrics=rows, seconds=2.5, **others
    )
    return folder


def played(solution: WholeSolution) -> WholeGameSolver:
    """A solver whose average strategies are those of a solution of classes or buckets."""
    game = solution.game
    games = game.build(game.engine(solution.cards))
    solver = WholeGameSolver(game, games, parse_schedule("tuned"))
    for node, strategy in solution.before.strategies.items():
        solver.preflop.sums[node][...] = strategy
    for place in range(len(game.flops.flops)):
        for number in range(len(game.pots)):
            view = solution.stored.view(game.pots[number].pot.node, game.flops.flops[place])
            for node in game.pots[number].tree.decisions():
                games.set_average(number, place, node, view.strategies.at(node))
    return solver


def same(one: Any, other: Any) -> bool:
    """Whether two arrays are equal, what does not exist included."""
    return bool(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True))
